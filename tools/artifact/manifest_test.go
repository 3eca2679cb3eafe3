package artifact

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api/attest"
)

func seal(t *testing.T, files Files, secret string) (Digests, Files) {
	t.Helper()
	sealed, added, err := files.Digests().Sealed([]byte(secret))
	is.New(t).NoErr(err)
	return sealed, added
}

// TestTheManifestIsOneOfSHA256Sum: people prove the files without svc.
func TestTheManifestIsOneOfSHA256Sum(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip(err)
	}
	is := is.New(t)
	out := filepath.Join(t.TempDir(), "out")
	commit(t, stage(t, out, plan))
	check := func() error {
		c := exec.Command("sha256sum", "--check", "--strict", "--quiet", attest.Manifest)
		c.Dir = out
		return c.Run()
	}
	is.NoErr(check())
	is.NoErr(os.WriteFile(filepath.Join(out, "plan.json"), []byte("{}"), 0o644))
	is.True(check() != nil)
}

// TestTheSaltHidesTheFiles: who knows all files but not the user's key can't tell
// their manifest; who has the key gets it again.
func TestTheSaltHidesTheFiles(t *testing.T) {
	is := is.New(t)
	mine, files := seal(t, plan, "mine")
	again, same := seal(t, plan, "mine")
	theirs, _ := seal(t, plan, "theirs")
	is.Equal(mine, again)
	is.Equal(files, same)
	is.True(mine[attest.Manifest] != theirs[attest.Manifest])
	other, _ := seal(t, Files{"plan.json": []byte("{}")}, "mine")
	is.True(mine[Salt] != other[Salt]) // no salt serves twice
}

func TestManifestsThatAreRefused(t *testing.T) {
	digest := Digest(nil)
	for name, manifest := range map[string]string{
		"no digest": "x  plan.json\n", "binary": digest + " *plan.json\n", "escaped": "\\" + digest + "  a\\nb\n",
		"outside": digest + "  ../x\n", "absolute": digest + "  /etc/x\n", "twice": digest + "  x\n" + digest + "  x\n", "long": digest + "  " + strings.Repeat("x", 1<<17),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseManifest([]byte(manifest))
			is.New(t).True(err != nil)
		})
	}
	_, _, err := Files{"a\nb": nil}.Digests().Sealed(nil)
	is.New(t).True(err != nil)
}

func TestManifestsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Digests(rapid.MapOf(rapid.StringMatching(`[a-z._-]{1,9}x(/[a-z]{1,3}){0,3}`), rapid.StringMatching(`[0-9a-f]{64}`)).Draw(t, "digests"))
		got, err := ParseManifest(d.lines())
		if err != nil || len(got) != len(d) || string(got.lines()) != string(d.lines()) {
			t.Fatalf("%v: %v", got, err)
		}
	})
}

func TestCompareFindsWhatWasAddedChangedAndTaken(t *testing.T) {
	is := is.New(t)
	out := filepath.Join(t.TempDir(), "out")
	commit(t, stage(t, out, Files{"plan.json": nil, "role/a": nil, "role/b": nil, "role/c": nil, "role/d": nil}))
	root, err := signedRoot(out)
	is.NoErr(err)
	d, err := ReadManifest(out, root)
	is.NoErr(err)
	at := func(name string) string { return filepath.Join(out, filepath.FromSlash(name)) }
	is.NoErr(os.WriteFile(at("role/a"), []byte("x"), 0o644))
	is.NoErr(os.Remove(at("role/b")))
	is.NoErr(os.Remove(at("role/c")))
	is.NoErr(os.Symlink("d", at("role/c"))) // the same content, but another file
	is.NoErr(os.MkdirAll(at("group_vars/all"), 0o755))
	is.NoErr(os.WriteFile(at("group_vars/all/x.yml"), nil, 0o644))
	is.NoErr(os.Symlink("/", at("library")))
	states, err := d.Compare(out, Attestation)
	is.NoErr(err)
	is.Equal(states, []FileState{
		{"group_vars/all/x.yml", Added},
		{"library", Added},
		{Salt, Same},
		{"plan.json", Same},
		{"role/a", Changed},
		{"role/b", Missing},
		{"role/c", Changed},
		{"role/d", Same},
	})
}

// FuzzManifest checks that what is read is what would be written.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(Digest(nil) + "  role/tasks/main.yml\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseManifest(b)
		if err != nil {
			return
		}
		if again, err := ParseManifest(d.lines()); err != nil || len(again) != len(d) {
			t.Fatalf("%q: %v", b, err)
		}
	})
}
