package software

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
)

// TestEnvironmentsOfSites finds also those that stand a folder deeper, beside other
// applications of a customer's.
func TestEnvironmentsOfSites(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	want := []string{"/opt/a/b/venv", "/srv/venv", "/srv/apps/a/venv", "/var/www/vhosts/a/venv"}
	for _, at := range want {
		is.NoErr(os.MkdirAll(filepath.Join(root, at), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, at, "pyvenv.cfg"), []byte("home = /usr/bin\nversion = 3.9.2\n"), 0o644))
	}
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	m := &assess.Machine{Context: t.Context(), FS: h.FS(), Host: h, Reading: assess.Reading{A: &assess.Assessment{}}}
	venvs(m)
	var got []string
	for _, s := range m.A.Software {
		is.Equal(s.Version, "3.9.2")
		got = append(got, s.Path)
	}
	is.Equal(got, want)
}
