package index_test

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
)

// suite is where an apt archive has what it says of a release, listing its packages.
const (
	suite   = "apt/dists/bookworm"
	listing = suite + "/main/binary-amd64/Packages"
)

// aptArchive makes one of four packages, signed.
func (b builder) aptArchive(t *testing.T) {
	var list strings.Builder
	for _, name := range []string{"acme-core", "acme-tools", "nginx", "openssl"} {
		list.WriteString("Package: " + name + "\nVersion: 1.0-1\nArchitecture: amd64\nSection: net\nDescription: " + name + "\n\n")
	}
	b.Files(b.Dir, map[string]string{listing: list.String(), suite + "/main/Contents-amd64": "etc/acme.conf net/acme-core\n"})
	b.Run(0, "xz", "-k", b.Path(listing))
	b.Run(0, "gzip", "-k", b.Path(suite+"/main/Contents-amd64"))
	b.release(t)
}

// release makes the Release file of what there is, and signs it.
func (b builder) release(t *testing.T) {
	is := is.New(t)
	for _, name := range []string{"Release", "InRelease", "Release.gpg"} {
		is.NoErr(os.RemoveAll(b.Path(suite, name)))
	}
	said := b.Run(0, "apt-ftparchive", "-o", "APT::FTPArchive::Release::Codename=bookworm", "-o", "APT::FTPArchive::Release::Components=main", "release", b.Path(suite))
	file := b.Path(suite, "Release")
	is.NoErr(os.WriteFile(file, []byte(said.Out), 0o644))
	b.sign("--output", b.Path(suite, "InRelease"), "--clearsign", file)
	b.sign("--output", file+".gpg", "--detach-sign", "--armor", file)
}

// forget has the next build download all again.
func (b builder) forget(t *testing.T) { is.New(t).NoErr(os.RemoveAll(b.Path(".archives"))) }

func TestApt(t *testing.T) {
	is := is.New(t)
	b := newBuilder(t)
	archive, stranger := b.keys(t)
	b.aptArchive(t)
	url := b.serve(t) + "/apt"
	signed := []string{"--apt", url, "--release", "debian-12", "--keyring", archive}
	b.builds(t, "by HTTP, signed inside", signed...)
	b.holds(t, "the index has its packages", "debian-12", 4)
	b.forget(t)
	is.NoErr(os.Rename(b.Path(suite, "InRelease"), b.Path("InRelease")))
	b.builds(t, "with Release.gpg", signed...)
	b.builds(t, "in a folder", "--apt", b.Path("apt"), "--keyring", archive)
	is.NoErr(os.Remove(b.Path(suite, "Release.gpg")))
	b.refuses(t, "without a signature", "Release.gpg", signed...)
	text, err := os.ReadFile(b.Path("InRelease"))
	is.NoErr(err)
	b.Files(b.Path(suite), map[string]string{"InRelease": strings.Replace(string(text), "Codename: bookworm", "Codename: trixie", 1)})
	b.refuses(t, "a Release file that was changed", "checking signature", signed...)
	b.release(t)
	b.Shell(0, `printf 'Package: evil\nVersion: 1\n\n' | xz >"$1.xz"`, b.Path(listing))
	b.forget(t)
	b.refuses(t, "a listing that is not the one signed", "SHA-256", signed...)
	b.refuses(t, "signed by another key", "checking signature", "--apt", url, "--release", "debian-12", "--keyring", stranger)
	b.refuses(t, "a suite that is not there", "no such file", "--apt", url, "--release", "debian-13", "--keyring", archive)
}

func TestAptLists(t *testing.T) {
	b := newBuilder(t)
	b.keys(t)
	b.aptArchive(t)
	for _, packing := range []struct{ by, ending string }{{"lz4", "lz4"}, {"zstd", "zst"}, {"bzip2", "bz2"}, {"gzip", "gz"}} {
		folder := b.Path("lists", packing.by)
		is.New(t).NoErr(os.MkdirAll(folder+"/debian-12/main", 0o755))
		b.Shell(0, `"$1" -c <"$2" >"$3"`, packing.by, b.Path(listing), folder+"/debian-12/main/Packages."+packing.ending)
		b.builds(t, "in "+packing.by, "--apt", folder)
	}
	is.New(t).NoErr(os.Truncate(b.Path("lists/gzip/debian-12/main/Packages.gz"), 100))
	b.refuses(t, "one that is cut off", "it ends too early", "--apt", b.Path("lists/gzip"))
}

// breaking serves a folder; of a large file it sends 100 kB of what is asked for, and
// breaks off. While it holds, it waits before that, and tells.
type breaking struct {
	dir     string
	resumed atomic.Bool // somebody went on where it broke off
	hold    atomic.Bool
	held    chan struct{}
}

func (s *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(r.URL.Path)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("ETag", `"1"`)
	http.ServeContent(&part{ResponseWriter: w, r: r, server: s, left: 100_000}, r, r.URL.Path, time.Time{}, f)
}

// part is an answer of which so many bytes come.
type part struct {
	http.ResponseWriter
	r      *http.Request
	server *breaking
	left   int
}

func (p *part) WriteHeader(status int) {
	if status == http.StatusPartialContent {
		p.server.resumed.Store(true)
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *part) Write(b []byte) (int, error) {
	n, err := p.ResponseWriter.Write(b[:min(len(b), p.left)])
	p.left -= n
	if err != nil || n == len(b) {
		return n, err
	}
	_ = http.NewResponseController(p.ResponseWriter).Flush() // it breaks off as well
	if p.server.hold.Load() {
		p.server.held <- struct{}{}
		<-p.r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

func TestDownloads(t *testing.T) {
	b := newBuilder(t)
	archive, _ := b.keys(t)
	b.aptArchive(t)
	b.builds(t, "from a folder", "--apt", b.Path("apt"), "--keyring", archive)
	noise := make([]byte, 300_000)
	_, _ = rand.Read(noise) // it never fails
	add(t, b.Path(listing), "Package: acme-large\nVersion: 1\nArchitecture: amd64\nDescription: "+base64.StdEncoding.EncodeToString(noise)+"\n")
	b.Run(0, "xz", "-kf", b.Path(listing))
	b.release(t)
	breaks := &breaking{dir: b.Dir, held: make(chan struct{})}
	server := httptest.NewServer(breaks)
	t.Cleanup(server.Close)
	signed := []string{"--apt", server.URL + "/apt", "--release", "debian-12", "--keyring", archive}
	t.Run("a build that is killed in its download leaves the index as it was", func(t *testing.T) {
		breaks.hold.Store(true)
		b.killed(t, b.Command(b.command(signed)...), breaks.held)
		breaks.hold.Store(false)
	})
	b.builds(t, "one that breaks off again and again", signed...)
	t.Run("it went on where it broke off", func(t *testing.T) { is.New(t).True(breaks.resumed.Load()) })
	b.holds(t, "and is whole", "debian-12", 5)
}

// killed kills a build when it downloads.
func (b builder) killed(t *testing.T, build *exec.Cmd, downloads <-chan struct{}) {
	is := is.New(t)
	before, err := os.ReadFile(b.index)
	is.NoErr(err)
	is.NoErr(build.Start())
	select {
	case <-downloads:
	case <-time.After(5 * time.Minute):
		t.Error("it downloads nothing")
	}
	is.NoErr(build.Process.Kill())
	_ = build.Wait() // it was killed
	after, err := os.ReadFile(b.index)
	is.NoErr(err)
	is.True(string(before) == string(after))
}
