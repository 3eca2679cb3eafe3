package advisory

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// site serves one archive of advisories, as a store of objects does.
type site struct {
	*httptest.Server
	content []byte
	etag    string
	header  map[string]string
	// breakOff is after how many bytes the next answer ends too soon.
	breakOff int
	// status is the answer where it is not the archive.
	status int
	// asked are the requests: their method, range and condition.
	asked []string
}

func newSite(t *testing.T, files map[string]string) *site {
	s := &site{content: zipped(files), etag: `"1"`}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-None-Match")))
	if s.status != 0 {
		w.WriteHeader(s.status)
		return
	}
	w.Header().Set("ETag", s.etag)
	for name, value := range s.header {
		w.Header().Set(name, value)
	}
	if n := s.breakOff; n > 0 {
		s.breakOff = 0
		w.Header().Set("Content-Length", fmt.Sprint(len(s.content)))
		_, _ = w.Write(s.content[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	http.ServeContent(w, r, "all.zip", time.Time{}, bytes.NewReader(s.content))
}

// builder builds the same feed again and again.
type builder struct {
	t   *testing.T
	out string
}

func (b builder) build(ctx context.Context, source string) (*Report, error) {
	return Build(ctx, Sources{OSV: []string{source}, Out: b.out, Now: time.Now()})
}

// kept is the feed's version, so that a test sees whether it is another.
func (b builder) kept() string {
	stats, err := ReadStats(b.out)
	is.New(b.t).NoErr(err)
	return stats.Version
}

func newBuilder(t *testing.T) builder { return builder{t, filepath.Join(t.TempDir(), "feed")} }

var archive = map[string]string{"a.json": good, "b.json": advisoryOf("CVE-2026-2", "2.4.8-1")}

func TestADownloadIsNotRepeatedWithoutNeed(t *testing.T) {
	is := is.New(t)
	s, b := newSite(t, archive), newBuilder(t)
	_, err := b.build(t.Context(), s.URL)
	is.NoErr(err)
	first := b.kept()
	_, err = b.build(t.Context(), s.URL)
	is.NoErr(err)
	is.Equal(s.asked, []string{"", `"1"`}) // the second was answered 304
	is.Equal(b.kept(), first)

	s.content, s.etag = zipped(map[string]string{"a.json": good}), `"2"`
	_, err = b.build(t.Context(), s.URL)
	is.NoErr(err)
	is.True(b.kept() != first)
}

func TestADownloadGoesOnWhereItBroke(t *testing.T) {
	is := is.New(t)
	s, b := newSite(t, archive), newBuilder(t)
	s.breakOff = 100
	r, err := b.build(t.Context(), s.URL)
	is.NoErr(err)
	is.Equal(r.Read, 2)
	is.Equal(s.asked, []string{"", "bytes=100-"})
}

// TestAnotherFileIsNotPutTogetherWithThePart has the file change between the
// part and the rest.
func TestAnotherFileIsNotPutTogetherWithThePart(t *testing.T) {
	is := is.New(t)
	s, b := newSite(t, archive), newBuilder(t)
	s.breakOff = 100
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := b.build(ctx, s.URL)
	is.True(err != nil)
	s.content, s.etag = zipped(map[string]string{"c.json": good}), `"2"`
	r, err := b.build(t.Context(), s.URL)
	is.NoErr(err)
	is.Equal(r.Read, 1)
}

func TestABrokenDownloadLeavesTheFeed(t *testing.T) {
	is := is.New(t)
	s, b := newSite(t, archive), newBuilder(t)
	_, err := b.build(t.Context(), s.URL)
	is.NoErr(err)
	first := b.kept()
	other := zipped(map[string]string{"a.json": good})
	sum, wrong := md5.Sum(other), md5.Sum([]byte("other"))
	for what, set := range map[string]func(){
		"broken off":  func() { s.breakOff = 50 },
		"not found":   func() { s.status = http.StatusNotFound },
		"forbidden":   func() { s.status = http.StatusForbidden },
		"unavailable": func() { s.status = http.StatusServiceUnavailable },
		"another digest": func() {
			s.header = map[string]string{"X-Goog-Hash": "md5=" + base64.StdEncoding.EncodeToString(wrong[:])}
		},
		"no archive":           func() { s.content = []byte("<html>welcome to the hotel's network</html>") },
		"a part of an archive": func() { s.content = other[:len(other)-10] },
	} {
		s.status, s.header, s.breakOff, s.content, s.etag = 0, nil, 0, other, `"`+what+`"`
		set()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := b.build(ctx, s.URL)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "is as it was") || b.kept() != first {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.status, s.content, s.etag = 0, other, `"good"`
	s.header = map[string]string{"X-Goog-Hash": "crc32c=AAAAAA==,md5=" + base64.StdEncoding.EncodeToString(sum[:])}
	_, err = b.build(t.Context(), s.URL)
	is.NoErr(err)
	is.True(b.kept() != first)
}

func TestTheDigestThatTheUserGives(t *testing.T) {
	is := is.New(t)
	s, b := newSite(t, archive), newBuilder(t)
	_, err := b.build(t.Context(), s.URL+"#sha256="+strings.Repeat("0", 64))
	is.True(err != nil && strings.Contains(err.Error(), "its SHA-256 is"))
	_, err = os.Stat(b.out)
	is.True(os.IsNotExist(err))
	_, err = b.build(t.Context(), fmt.Sprintf("%s#sha256=%x", s.URL, sha256.Sum256(s.content)))
	is.NoErr(err)
	is.Equal(len(s.asked), 2) // neither was repeated
}

func TestOnlySafeAddresses(t *testing.T) {
	for _, address := range []string{"http://osv.example.org/all.zip", "ftp://osv.example.org/all.zip", "https://%zz"} {
		_, err := newBuilder(t).build(t.Context(), address)
		is.New(t).True(err != nil)
	}
}

// TestADamagedCopyIsFetchedAgain has the file that was kept change on the disk.
func TestADamagedCopyIsFetchedAgain(t *testing.T) {
	is := is.New(t)
	s, b := newSite(t, archive), newBuilder(t)
	_, err := b.build(t.Context(), s.URL)
	is.NoErr(err)
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(b.out), ".advisories", "*", "file"))
	is.NoErr(err)
	is.NoErr(os.WriteFile(kept[0], []byte("damaged"), 0o644))
	_, err = b.build(t.Context(), s.URL)
	is.NoErr(err)
	is.Equal(s.asked, []string{"", ""})
}
