//go:build linux

package rehearse

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestFilesOfTheSourceAreReadWithoutItsPrograms: what stands for ssh reads below the source's
// folder, and runs nothing of it.
func TestFilesOfTheSourceAreReadWithoutItsPrograms(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	made := strings.NewReplacer(sourcePlace, dir+"/source", "/run/svc", dir+"/run").Replace(sourceShell)
	is.NoErr(exec.Command("sh", "-c", made).Run())
	unit := filepath.Join(dir, "source/etc/a b.service")
	is.NoErr(os.MkdirAll(filepath.Dir(unit), 0o755))
	is.NoErr(os.WriteFile(unit, []byte("[Unit]\n"), 0o644))
	said, err := exec.Command(dir+"/run/ssh", "root@source", "cat", `'/etc/a b.service'`).CombinedOutput()
	is.NoErr(err)
	is.Equal(string(said), "[Unit]\n")
	said, err = exec.Command(dir+"/run/ssh", "root@source", "id").CombinedOutput()
	is.True(err != nil)
	is.Equal(string(said), "a rehearsal does not run id of the source\n")
	if _, err := exec.LookPath("rsync"); err != nil {
		t.Skip("there is no rsync")
	}
	rsync := exec.Command("rsync", "-a", "-e", dir+"/run/ssh", `root@source:/etc/a b.service`, dir+"/copied")
	said, err = rsync.CombinedOutput()
	is.Equal(string(said), "")
	is.NoErr(err)
	_, err = os.Stat(dir + "/copied")
	is.NoErr(err)
}

// TestWhatStaysStoppedIsKnown, and why each part of a task failed.
func TestWhatStaysStoppedIsKnown(t *testing.T) {
	is := is.New(t)
	is.Equal(stopped([]string{"== starting a.service", "These stay stopped until their places are whole: redis-server.service queue@1.service."}), []string{"redis-server", "queue@1"})
	said := `{"plays":[{"tasks":[{"task":{"name":"Make users"},"hosts":{"target":{"failed":true,"msg":"One or more items failed","results":[{"failed":false,"msg":""},{"failed":true,"msg":"usermod: user x is used by process 7"}]}}}]}],"stats":{"target":{"failures":1}}}`
	is.Equal(played([]byte(said), nil).Failures, []string{`Make users: "One or more items failed" "usermod: user x is used by process 7"`})
}
