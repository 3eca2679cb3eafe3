// Package release_test makes a release twice, of two clones in folders of their own, and
// installs it: the .deb and the .rpm in a Debian under its own systemd, where the service
// starts, is restarted under load, killed, upgraded, removed and purged; the bundles for
// agents by the clients' own checks. With -all it is made for all platforms, and the image
// is tried with podman.
package release_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

var all = flag.Bool("all", false, "make it for all platforms, and try the image with podman")

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "capsh:libcap2-bin", "npm:npm", "unzip:unzip", "jsonschema:python3-jsonschema")
}

func TestRelease(t *testing.T) {
	r := newRelease(t)
	r.sound()
	t.Run("Debian", r.debian)
	t.Run("agents", r.agents)
	if *all {
		t.Run("podman", r.podman)
	}
}

// release is one that was made, in a folder.
type release struct {
	*e2e.Work
	is  *is.I
	out string
	svc string // the folder of its program
}

// newRelease makes it twice, of the same bytes.
func newRelease(t *testing.T) *release {
	w := e2e.New(t)
	platforms := "linux/amd64"
	if *all {
		platforms = ""
	}
	w.Shell(0, `make() {
			git clone -q ../../.. "$1/clone-$3"
			bash "$1/clone-$3/.ci/release" 1.0.0 "$1/out-$3" "$2"
		}
		make "$@" 1 &
		make "$@" 2
		wait $!
		diff -r "$1/out-1" "$1/out-2"
		mkdir "$1/svc"
		tar -C "$1/svc" -xf "$1/out-1/svc_1.0.0_linux_amd64.tar.gz"`, w.Dir, platforms)
	return &release{w, is.New(t), w.Path("out-1"), w.Path("svc")}
}

// file is the one that a pattern is for.
func (r *release) file(pattern string) string {
	files, err := filepath.Glob(filepath.Join(r.out, pattern))
	r.is.NoErr(err)
	r.is.Equal(len(files), 1)
	return files[0]
}

// read reads a file of JSON.
func (r *release) read(path string, into any) {
	text, err := os.ReadFile(path)
	r.is.NoErr(err)
	r.is.NoErr(json.Unmarshal(text, into))
}

// sound: its sums are right, and of every file; nothing is too large; its records name what
// is in it.
func (r *release) sound() {
	r.Shell(0, `cd "$1" && sha256sum --check --strict --quiet SHA256SUMS && diff <(ls | grep -v SHA256SUMS) <(cut -c67- SHA256SUMS | sort)`, r.out)
	r.atMost(r.file("*amd64.deb"), 30_000_000)
	r.atMost(filepath.Join(r.svc, "svc"), 90_000_000)

	var provenance struct{ Subject []struct{ Name string } }
	r.read(r.file("*.provenance.json"), &provenance)
	r.is.True(len(provenance.Subject) >= 7) // every archive
	for _, s := range provenance.Subject {
		r.is.True(s.Name != "")
	}
	type component struct{ Name string }
	var bill struct {
		BOMFormat  string
		Components []component
	}
	r.read(r.file("*.cdx.json"), &bill)
	r.is.Equal(bill.BOMFormat, "CycloneDX")
	r.is.True(slices.Contains(bill.Components, component{"modernc.org/sqlite"}))

	var version struct {
		Version, Commit string
		IndexDate       string `json:"index_date"`
	}
	r.Run(0, filepath.Join(r.svc, "svc"), "version", "--json").JSON(&version)
	r.is.Equal(version.Version, "1.0.0")
	r.is.Equal(len(version.Commit), 40)
	r.is.Equal(len(version.IndexDate), 10)
}

func (r *release) atMost(path string, bytes int64) {
	info, err := os.Stat(path)
	r.is.NoErr(err)
	r.is.True(info.Size() <= bytes)
}
