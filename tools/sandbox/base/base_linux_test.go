package base

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestRootOfOneThatWasKilled is made anew once nobody writes to it any more: what makes a
// root outlives svc where that alone is killed.
func TestRootOfOneThatWasKilled(t *testing.T) {
	is := is.New(t)
	b := Base{Release: "debian-13", manager: "test"}
	if cache := os.Getenv("SVC_TEST_BASE"); cache != "" {
		_, _, err := b.made(t, cache)
		is.NoErr(err) // it is killed before
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("a step has mounts of its own: that needs root")
	}
	cache := t.TempDir()
	first := exec.Command(os.Args[0], "-test.run=^TestRootOfOneThatWasKilled$")
	first.Env = append(os.Environ(), "SVC_TEST_BASE="+cache)
	is.NoErr(first.Start())
	for begun, end := false, time.Now().Add(time.Minute); !begun; time.Sleep(20 * time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(cache, "*", "etc"))
		is.NoErr(err)
		is.True(time.Now().Before(end))
		begun = len(found) == 1
	}
	is.NoErr(first.Process.Kill())
	_ = first.Wait() // it was killed
	is.NoErr(os.WriteFile(filepath.Join(cache, "again"), nil, 0o600))
	dir, _, err := b.made(t, cache)
	is.NoErr(err)
	time.Sleep(3 * time.Second) // what still ran would have written
	_, err = os.Stat(filepath.Join(dir, "late"))
	is.True(errors.Is(err, fs.ErrNotExist))
}

// made makes a root by a script, which is slow but when there is a file "again".
func (b Base) made(t *testing.T, cache string) (dir, how string, err error) {
	ways[b.manager] = []way{{"sh", []string{"-ec", `mkdir "$1/etc"; [ -e "$1/../again" ] || { sleep 2; mkdir "$1/late"; }`, "sh", "{dir}"}}}
	t.Cleanup(func() { delete(ways, b.manager) })
	return b.Make(t.Context(), cache)
}
