package main

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/cmd/svc/exit"
)

// exports is a server of one ecosystem as OSV has it; cut says after how many bytes
// its next answer breaks off, 0 for none.
type exports struct {
	path string
	zip  []byte
	cut  int
	from []string // the ranges asked for
}

func (e *exports) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != e.path {
		http.NotFound(w, r)
		return
	}
	e.from = append(e.from, r.Header.Get("Range"))
	w.Header().Set("ETag", `"one"`)
	if n := e.cut; n > 0 {
		e.cut = 0
		w.Header().Set("Content-Length", strconv.Itoa(len(e.zip)))
		_, _ = w.Write(e.zip[:n])
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(e.zip))
}

// zipped is a zip of one advisory.
func zipped(is *is.I, text string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create("DSA-1-1.json")
	is.NoErr(err)
	_, err = f.Write([]byte(text))
	is.NoErr(err)
	is.NoErr(z.Close())
	return b.Bytes()
}

const openssl = `{"id":"DSA-1-1","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"Debian:11","name":"openssl"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}]}]}`

func TestAdvisoriesUpdate(t *testing.T) {
	is := is.New(t)
	site := &exports{path: "/Debian/all.zip", zip: zipped(is, openssl), cut: 60}
	server := httptest.NewServer(site)
	defer server.Close()
	home := t.TempDir()
	feed := filepath.Join(home, ".local/share/svc/advisories.feed")
	root := "../../fixtures/hosts/debian-11-web"
	svc := func(args ...string) (int, string) {
		var out bytes.Buffer
		env := func(name string) string { return map[string]string{"HOME": home}[name] }
		return run(t.Context(), args, env, strings.NewReader(""), &out, &out), out.String()
	}
	code, said := svc("advisories", "update", "--mirror", server.URL)
	is.Equal(code, exit.Usage)
	is.True(strings.Contains(said, "no machine was assessed"))

	code, said = svc("cve-scan", "--root", root)
	is.Equal(code, exit.NotCompared)
	is.True(strings.Contains(said, "svc advisories update"))

	code, said = svc("advisories", "update", "--mirror", server.URL) // of debian-11, which was scanned
	is.Equal(code, exit.Done)
	is.True(strings.Contains(said, "debian-11"))
	is.True(strings.Contains(said, "days ago"))
	is.Equal(site.from, []string{"", "bytes=60-"}) // resumed
	code, said = svc("cve-scan", "--root", root)
	is.Equal(code, exit.Done)
	is.True(strings.Contains(said, "DSA-1-1"))

	before, err := os.ReadFile(feed)
	is.NoErr(err)
	code, said = svc("advisories", "update", "--release", "bookworm", "--mirror", server.URL+"/none")
	is.Equal(code, exit.Failed)
	is.True(strings.Contains(said, "is as it was"))
	after, err := os.ReadFile(feed)
	is.NoErr(err)
	is.True(bytes.Equal(before, after))

	code, said = svc("advisories", "update", "--release", "amzn-2")
	is.Equal(code, exit.Failed)
	is.True(strings.Contains(said, "OSV publishes no advisories of amzn-2"))
	file := filepath.Join(home, "one.json")
	is.NoErr(os.WriteFile(file, []byte(openssl), 0o600))
	code, _ = svc("advisories", "update", "--source", file)
	is.Equal(code, exit.Done)
}
