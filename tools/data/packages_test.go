package data

import (
	"crypto/md5"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess/host"
)

// wiki is the move of a place in which packages of the source and of the target have
// files, and people too.
type wiki struct {
	t              *testing.T
	is             *is.I
	source, target string
	plan           string
	item           Item
	env            []string
}

// write makes files below the place, a link where the text is one's.
func (w *wiki) write(root string, files map[string]string) {
	for name, text := range files {
		full := filepath.Join(root, "var/lib/wiki", name)
		w.is.NoErr(os.MkdirAll(filepath.Dir(full), 0o755))
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			w.is.NoErr(os.Symlink(to, full))
		} else {
			w.is.NoErr(os.WriteFile(full, []byte(text), 0o644))
		}
	}
}

// ships makes these the files of a package, as they are.
func (w *wiki) ships(manager, root string, files map[string]string) {
	if manager == "rpm" {
		w.shipsByRPM(root, files)
	} else {
		w.shipsByDpkg(root, files)
	}
}

// shipsByRPM builds a package, and installs it.
func (w *wiki) shipsByRPM(root string, files map[string]string) {
	dir := w.t.TempDir()
	w.write(filepath.Join(dir, "made"), files)
	spec := "Name: wiki\nVersion: 1\nRelease: 1\nSummary: wiki\nLicense: none\nBuildArch: noarch\n%description\nwiki\n%install\ncp -a " + dir + "/made/. %{buildroot}\n%files\n/var/lib/wiki\n%ghost /var/lib/wiki/claimed\n"
	w.is.NoErr(os.WriteFile(filepath.Join(dir, "wiki.spec"), []byte(spec), 0o644))
	w.is.NoErr(os.MkdirAll(root, 0o755))
	for _, words := range [][]string{
		{"rpmbuild", "-bb", "--quiet", "--define", "_topdir " + dir, "--define", "__os_install_post %{nil}", "--define", "_invalid_encoding_terminates_build 0", filepath.Join(dir, "wiki.spec")},
		{"rpm", "--root", root, "--dbpath", "/var/lib/rpm", "-i", "--nodeps", "--nosignature", filepath.Join(dir, "RPMS/noarch/wiki-1-1.noarch.rpm")},
	} {
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if err != nil {
			w.t.Fatalf("%s: %s", words[0], out)
		}
	}
}

// shipsByDpkg writes what dpkg keeps of one.
func (w *wiki) shipsByDpkg(root string, files map[string]string) {
	list, sums := "/.\n/var\n/var/lib\n/var/lib/wiki\n", ""
	for name, text := range files {
		list += "/var/lib/wiki/" + name + "\n"
		if !strings.HasPrefix(text, "-> ") && !strings.HasSuffix(name, ".conf") {
			sums += fmt.Sprintf("%x  var/lib/wiki/%s\n", md5.Sum([]byte(text)), name)
		}
	}
	info := filepath.Join(root, "var/lib/dpkg/info/wiki:amd64.")
	w.is.NoErr(os.MkdirAll(filepath.Dir(info), 0o755))
	w.is.NoErr(os.WriteFile(info+"list", []byte(list), 0o644))
	w.is.NoErr(os.WriteFile(info+"md5sums", []byte(sums), 0o644))
	w.write(root, files)
}

// has is all that a root has in the place, a line each.
func (w *wiki) has(root string) map[string]string {
	all := map[string]string{}
	place := filepath.Join(root, "var/lib/wiki")
	w.is.NoErr(filepath.WalkDir(place, func(full string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(full, place+"/")
		if to, err := os.Readlink(full); err == nil {
			all[name] = "-> " + to
			return nil
		}
		b, err := os.ReadFile(full)
		all[name] = string(b)
		return err
	}))
	return all
}

// step runs a script of the plan, and says what it printed.
func (w *wiki) step(script string) string {
	c := exec.Command("bash", filepath.Join(w.plan, script))
	c.Env = append(os.Environ(), w.env...)
	out, err := c.CombinedOutput()
	if err != nil {
		out = append(out, err.Error()...)
	}
	return string(out)
}

func (w *wiki) steps(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if out := w.step(name); strings.Contains(out, "exit status") || strings.Contains(out, "DIFFERS") {
			w.t.Fatalf("%s: %s", name, out)
		}
	}
}

// newWiki has what each package has there, and what people made of it: of names that
// a pattern would take for others, too.
func newWiki(t *testing.T, source, target string) *wiki {
	if os.Geteuid() != 0 {
		t.Skip("the scripts keep owners: that needs root")
	}
	for _, program := range []string{"rsync", "flock"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no " + program)
		}
	}
	dir := t.TempDir()
	w := &wiki{t: t, is: is.New(t), source: dir + "/source", target: dir + "/target", plan: dir + "/plan"}
	w.env = []string{"SOURCE_ROOT=" + w.source, "TARGET_ROOT=" + w.target}
	w.ships(source, w.source, map[string]string{
		"extensions/Renameuser": "-> ../old/Renameuser", "both": "old", "edited": "old", "set.conf": "old", "led": "-> old",
		"a*[b]": "old", "\xff odd": "old", "]$(exit 3)`id`\"' \\": "old", "@": "old", "gone": "old", "overlay": "old",
	})
	w.ships(target, w.target, map[string]string{
		"extensions/Renameuser": "-> new/Renameuser", "extensions/New": "-> new/New", "both": "newer", "edited": "newer", "set.conf": "newer", "led": "-> new",
		"a*[b]": "newer", "\xff odd": "newer", "]$(exit 3)`id`\"' \\": "newer", "@": "newer", "gone": "newer", "deep/er/new": "newer", "deep/new": "newer", "overlay": "newer", "moved/new": "newer", "own": "newer",
	})
	install := time.Now().Add(-time.Hour)
	for _, name := range []string{"extensions/Renameuser", "led"} { // a package's links are as old as the package
		w.is.NoErr(exec.Command("touch", "-h", "-d", "2001-02-03", filepath.Join(w.source, "var/lib/wiki", name)).Run())
	}
	if source == "dpkg" {
		w.is.NoErr(os.Chtimes(filepath.Join(w.source, "var/lib/dpkg/info/wiki:amd64.list"), install, install))
	}
	for _, name := range []string{"gone", "led", "overlay"} {
		w.is.NoErr(os.Remove(filepath.Join(w.source, "var/lib/wiki", name)))
	}
	w.write(w.source, map[string]string{
		"edited": "by a person", "led": "-> by/a/person", "overlay": "-> by/a/person", "axb": "by a person", "extensions/Own": "by a person",
		"own": "by an engine", "moved": "-> /srv/elsewhere",
	})
	w.write(w.target, map[string]string{"stale": "of the target", "claimed": "of the target", "extensions/stale": "of the target"})
	for _, root := range []string{w.source, w.target} {
		w.is.NoErr(os.MkdirAll(root+"/etc", 0o755))
		for _, name := range []string{"passwd", "group"} {
			w.is.NoErr(os.WriteFile(filepath.Join(root, "etc", name), []byte("root:x:0:0::/root:/bin/sh\n"), 0o644))
		}
	}
	p := planned(t, true, Place{Path: "/var/lib/wiki", Kind: Service, What: "wiki"})
	w.item = item(t, p, "/var/lib/wiki")
	files, err := Render(p)
	w.is.NoErr(err)
	for name, b := range files {
		w.is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(w.plan, name)), 0o755))
		w.is.NoErr(os.WriteFile(filepath.Join(w.plan, name), b, 0o644))
	}
	return w
}

// moved is what the target has to have.
var moved = map[string]string{
	"extensions/Renameuser": "-> new/Renameuser", "extensions/New": "-> new/New", "both": "newer", "a*[b]": "newer", "\xff odd": "newer", "]$(exit 3)`id`\"' \\": "newer", "@": "newer", "gone": "newer",
	"deep/er/new": "newer", "deep/new": "newer", // the target's packages'
	"edited": "by a person", "set.conf": "old", "led": "-> by/a/person", "overlay": "-> by/a/person", "axb": "by a person", "extensions/Own": "by a person",
	"own": "by an engine", "moved": "-> /srv/elsewhere", // the source's
}

func TestFilesOfTheTargetsPackagesStay(t *testing.T) {
	w := newWiki(t, "dpkg", "dpkg")
	stood := w.has(w.target)
	w.steps("10-check.sh", "20-first-copy.sh", "30-before.sh", "40-copy.sh", "50-after.sh")
	w.is.Equal(w.has(w.target), moved)
	w.agrees()
	w.steps("40-copy.sh", "50-after.sh")
	w.is.Equal(w.has(w.target), moved) // a second copy changes nothing

	w.write(w.source, map[string]string{"both": "edited later"})
	w.steps("30-before.sh", "40-copy.sh", "50-after.sh")
	w.is.Equal(w.has(w.target)["both"], "edited later")
	w.write(w.target, map[string]string{"extensions/Own": "changed"})
	w.is.True(strings.Contains(w.step("50-after.sh"), "DIFFERS")) // what moved is compared
	w.steps("90-roll-back.sh")
	w.is.Equal(w.has(w.target), stood)
	w.steps("90-roll-back.sh")
	w.is.Equal(w.has(w.target), stood)
}

// TestEmptyFoldersOfTheTargetsPackagesStay: what a newer version writes to, and the source's
// has not (DokuWiki's data/log).
func TestEmptyFoldersOfTheTargetsPackagesStay(t *testing.T) {
	w := newWiki(t, "dpkg", "dpkg")
	list := filepath.Join(w.target, "var/lib/dpkg/info/wiki:amd64.list")
	said, err := os.ReadFile(list)
	w.is.NoErr(err)
	for _, name := range []string{"data", "data/log", "data/both", "whole", "whole/log"} {
		w.is.NoErr(os.MkdirAll(filepath.Join(w.target, "var/lib/wiki", name), 0o755))
		said = fmt.Appendf(said, "/var/lib/wiki/%s\n", name)
	}
	w.is.NoErr(os.WriteFile(list, said, 0o644))
	w.is.NoErr(os.MkdirAll(filepath.Join(w.target, "var/lib/wiki/stale-folder"), 0o755)) // of no package
	w.write(w.source, map[string]string{"data/page": "of people", "data/both/page": "of people"})
	w.steps("10-check.sh", "20-first-copy.sh", "30-before.sh", "40-copy.sh", "50-after.sh")
	for name, stays := range map[string]bool{"data/log": true, "whole/log": true, "data/both/page": true, "stale-folder": false} {
		_, err := os.Stat(filepath.Join(w.target, "var/lib/wiki", name))
		w.is.Equal(err == nil, stays)
	}
	w.agrees()
	w.steps("90-roll-back.sh")
}

// TestAFolderOfWhatIsMadeAnewStays: the target's service made it (Debian's Postfix, of its
// root's etc), and the source has no such folder.
func TestAFolderOfWhatIsMadeAnewStays(t *testing.T) {
	w := newWiki(t, "dpkg", "dpkg")
	places, err := filepath.Glob(w.plan + "/places/*.sh")
	w.is.NoErr(err)
	text, err := os.ReadFile(places[0])
	w.is.NoErr(err)
	anew := strings.Replace(string(text), "EXCLUDES=()", "EXCLUDES=('chroot/etc/hosts' 'both-have/hosts')", 1)
	w.is.True(anew != string(text))
	w.is.NoErr(os.WriteFile(places[0], []byte(anew), 0o644))
	w.item.Excludes = []string{"chroot/etc/hosts", "both-have/hosts"}
	w.write(w.target, map[string]string{"chroot/etc/hosts": "made anew", "chroot/etc/more": "made anew", "both-have/hosts": "made anew", "both-have/stale": "of the target"})
	w.write(w.source, map[string]string{"both-have/page": "of people"})
	w.steps("10-check.sh", "20-first-copy.sh", "30-before.sh", "40-copy.sh", "50-after.sh")
	has := w.has(w.target)
	w.is.Equal([]string{has["chroot/etc/hosts"], has["chroot/etc/more"], has["both-have/hosts"], has["both-have/stale"], has["both-have/page"]}, []string{"made anew", "made anew", "made anew", "", "of people"})
	w.agrees()
}

// agrees holds the count of a verification against that of the quiet source.
func (w *wiki) agrees() {
	h, err := host.OpenRoot(w.target)
	w.is.NoErr(err)
	defer h.Close()
	want, _, err := Counted(h.FS(), w.item)
	w.is.NoErr(err)
	has, errs, err := Measure(w.t.Context(), h, []Item{w.item}, true)
	w.is.NoErr(err)
	w.is.NoErr(errs[0])
	w.is.Equal(has[0], want)
}

// TestFilesOfRPMPackagesStay, between releases of the families that have it and from and to
// those that have dpkg. It knows of configuration, too, what its package had there, and a
// file that a package only claims is its service's.
func TestFilesOfRPMPackagesStay(t *testing.T) {
	if _, err := exec.LookPath("rpmbuild"); err != nil {
		t.Skip("there is no rpmbuild")
	}
	for _, c := range [][2]string{{"rpm", "rpm"}, {"rpm", "dpkg"}, {"dpkg", "rpm"}} {
		t.Run(c[0]+" to "+c[1], func(t *testing.T) {
			w := newWiki(t, c[0], c[1])
			w.steps("10-check.sh", "20-first-copy.sh", "30-before.sh", "40-copy.sh", "50-after.sh")
			want := maps.Clone(moved)
			if c[0] == "rpm" {
				want["set.conf"] = "newer"
			}
			w.is.Equal(w.has(w.target), want)
			w.agrees()
		})
	}
}

func TestFilesOfPackagesStayWithASourceBySSH(t *testing.T) {
	w := newWiki(t, "dpkg", "dpkg")
	bin := filepath.Join(filepath.Dir(w.plan), "bin")
	w.is.NoErr(os.Mkdir(bin, 0o755))
	// It runs here what it is to run on the source.
	w.is.NoErr(os.WriteFile(bin+"/ssh", []byte("#!/bin/bash\nwhile [ \"$1\" != source ]; do shift; done\nshift\nexec bash -c \"$*\"\n"), 0o755))
	w.env = append(w.env, "SOURCE_SSH=source", "PATH="+bin+":"+os.Getenv("PATH"))
	w.steps("10-check.sh", "30-before.sh", "40-copy.sh", "50-after.sh")
	w.is.Equal(w.has(w.target), moved)
}

// TestAPlaceWithoutPackagesMovesWhole: nothing is left out where no package has a file.
func TestAPlaceWithoutPackagesMovesWhole(t *testing.T) {
	w := newWiki(t, "dpkg", "dpkg")
	w.is.NoErr(os.RemoveAll(filepath.Join(w.target, "var/lib/dpkg")))
	w.steps("10-check.sh", "30-before.sh", "40-copy.sh", "50-after.sh")
	w.is.Equal(w.has(w.target), w.has(w.source))
}

// place gives the plan a place more: the settings of its own with other words.
func (w *wiki) place(name string, words ...string) {
	all, err := filepath.Glob(w.plan + "/places/*-wiki.sh")
	w.is.NoErr(err)
	text, err := os.ReadFile(all[0])
	w.is.NoErr(err)
	said := strings.NewReplacer(words...).Replace(string(text))
	w.is.True(said != string(text))
	w.is.NoErr(os.WriteFile(filepath.Join(w.plan, "places", name), []byte(said), 0o644))
}

// TestAPlaceThatFailsEndsNothingButItself: the others are whole, and are told from it.
func TestAPlaceThatFailsEndsNothingButItself(t *testing.T) {
	w := newWiki(t, "dpkg", "dpkg")
	w.place("0000-first.sh", "/var/lib/wiki", "/var/lib/first")
	w.is.NoErr(os.MkdirAll(w.source+"/var/lib/first/data", 0o755))
	w.steps("10-check.sh", "30-before.sh")
	w.is.NoErr(os.WriteFile(w.target+"/var/lib/first", []byte("no folder"), 0o644))
	out := w.step("40-copy.sh")
	w.is.True(strings.Contains(out, "exit status 1"))
	w.is.True(strings.Contains(out, "1 places differ, as said above: 0000-first."))
	w.is.Equal(w.has(w.target), moved)
	w.is.NoErr(os.Remove(w.target + "/var/lib/first"))
	w.steps("40-copy.sh", "50-after.sh")
	_, err := os.Stat(w.target + "/var/lib/first/data")
	w.is.NoErr(err)
}
