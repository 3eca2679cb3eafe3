package data

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/host"
)

// TestContentIsWhatTheScriptsCount holds a count of names of any bytes against
// that of the function by which a plan's scripts count.
func TestContentIsWhatTheScriptsCount(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	place := filepath.Join(root, "srv/shop")
	for _, name := range []string{"plain", "-rf", "a b/x", "new\nline", "\xff\xfe", "deep/er/file", "left/out", "back\\slash", "*"} {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(place, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(place, name), []byte(name+name), 0o644))
	}
	is.NoErr(os.Symlink("/etc/shadow", filepath.Join(place, "link")))
	is.NoErr(os.Link(filepath.Join(place, "plain"), filepath.Join(place, "again")))
	is.NoErr(exec.Command("mkfifo", filepath.Join(place, "pipe")).Run())
	item := Item{Path: "/srv/shop", Excludes: []string{"left"}, Script: "places/0001-web-shop.sh"}
	few := []string{"plain", "-rf", "new\nline", "\xff\xfe", "link", "*"}
	files := Item{Path: "/srv/shop", Names: few, RawNames: raw(few), Script: "places/0002-web-shop.sh"}
	state := filepath.Join(root, moveState)
	is.NoErr(os.MkdirAll(state, 0o755))
	for _, i := range []Item{item, files} {
		script := exec.Command("bash", "-c", `. ./lib.sh; . /dev/stdin; manifest "$1" | sort`, "-", place)
		script.Dir, script.Stdin = "scripts", strings.NewReader(placeScript(&i))
		manifest, err := script.Output()
		is.NoErr(err)
		is.NoErr(os.WriteFile(filepath.Join(state, strings.TrimSuffix(filepath.Base(i.Script), ".sh")+".before"), manifest, 0o644))
	}

	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	want, file, err := Counted(h.FS(), item)
	is.NoErr(err)
	is.Equal(file, "/var/lib/svc/data-move/0001-web-shop.before")
	nowhere := Item{Path: "/nowhere"}
	has, errs, err := Measure(t.Context(), h, []Item{item, nowhere, files}, true)
	is.NoErr(err)
	is.NoErr(errs[0])
	is.Equal(has[0], want)
	is.Equal(want.Others, int64(1))
	is.True(errors.Is(errs[1], fs.ErrNotExist))
	want, _, err = Counted(h.FS(), files)
	is.NoErr(err)
	is.NoErr(errs[2])
	is.Equal(has[2], want)
	is.Equal([]int64{want.Files, want.Folders, want.Links}, []int64{5, 0, 1})
	want = has[0]

	is.NoErr(os.WriteFile(filepath.Join(place, "plain"), []byte("PLAINplain"), 0o644))
	has, _, err = Measure(t.Context(), h, []Item{item}, true)
	is.NoErr(err)
	is.Equal(has[0].Bytes, want.Bytes)
	is.True(has[0].SHA256 != want.SHA256)
}

func FuzzParseManifest(f *testing.F) {
	f.Add("type f 12\nbytes all 300\ncontents sha256 ab\nuser 0 3\n")
	f.Add("type f -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseManifest(text); err == nil && (c.Files < 0 || c.Folders < 0 || c.Links < 0 || c.Bytes < 0) {
			t.Errorf("%+v", c)
		}
	})
}
