package download

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
)

// site serves one file that changes, and breaks off where told to.
type site struct {
	text   []byte
	etag   string
	cut    atomic.Int64 // bytes after which the next answer ends; 0 for none
	asked  atomic.Int64
	ranges atomic.Int64
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	if r.URL.Path != "/file" {
		http.NotFound(w, r)
		return
	}
	if r.Header.Get("Range") != "" {
		s.ranges.Add(1)
	}
	w.Header().Set("ETag", s.etag)
	if n := s.cut.Swap(0); n > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(s.text)))
		_, _ = w.Write(s.text[:n])
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.text))
}

func serve(t *testing.T) (*site, Request) {
	t.Helper()
	s := &site{text: bytes.Repeat([]byte("0123456789"), 10_000), etag: `"one"`}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, Request{URL: server.URL + "/file", Dir: t.TempDir()}
}

func TestADownloadGoesOnWhereItBrokeOff(t *testing.T) {
	is := is.New(t)
	s, r := serve(t)
	s.cut.Store(60_000)
	var last, total int
	r.Progress = func(_ string, done, of int) { last, total = done, of }
	path, err := Fetch(t.Context(), r)
	is.NoErr(err)
	got, err := os.ReadFile(path)
	is.NoErr(err)
	is.True(bytes.Equal(got, s.text))
	is.Equal(s.ranges.Load(), int64(1)) // the second request asked for the rest
	is.Equal(last, len(s.text))
	is.Equal(total, len(s.text))
}

func TestAFileIsFetchedAgainOnlyWhenItChanged(t *testing.T) {
	is := is.New(t)
	s, r := serve(t)
	path, err := Fetch(t.Context(), r)
	is.NoErr(err)
	before, err := os.Stat(path)
	is.NoErr(err)
	_, err = Fetch(t.Context(), r)
	is.NoErr(err)
	after, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(before.ModTime(), after.ModTime()) // not written again
	s.text, s.etag = []byte("new"), `"two"`
	_, err = Fetch(t.Context(), r)
	is.NoErr(err)
	got, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(got), "new")
}

func TestAFileOfAnotherDigestIsRefusedAndTheOldOneStays(t *testing.T) {
	is := is.New(t)
	s, r := serve(t)
	sum := sha256.Sum256(s.text)
	r.SHA256 = hex.EncodeToString(sum[:])
	path, err := Fetch(t.Context(), r)
	is.NoErr(err)
	asked := s.asked.Load()
	_, err = Fetch(t.Context(), r)
	is.NoErr(err)
	is.Equal(s.asked.Load(), asked) // the digest says that it is the same
	s.text, s.etag = []byte("tampered"), `"two"`
	r.SHA256 = strings.Repeat("0", 64)
	_, err = Fetch(t.Context(), r)
	is.True(err != nil)
	got, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(len(got), 100_000)
}

func TestWhatIsNotThereIsMissing(t *testing.T) {
	is := is.New(t)
	_, r := serve(t)
	r.URL += "/no"
	_, err := Fetch(t.Context(), r)
	is.True(Missing(err))
	r.URL = "http://192.0.2.1/file"
	_, err = Fetch(t.Context(), r)
	is.True(err != nil && !Missing(err)) // plain http is refused before anything is asked
}
