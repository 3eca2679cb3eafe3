package ledger

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

// TestOptionsOfOwnFileSystems: what a person added to a line of fstab is added to the
// target's line of the same place and type; what installers write is not.
func TestOptionsOfOwnFileSystems(t *testing.T) {
	is := is.New(t)
	all := options(nil, &assess.Assessment{Mounts: []assess.Mount{
		{Path: "/", Type: "ext4", Options: []string{"errors=remount-ro", "usrquota", "commit=30", "x-systemd.growfs"}},
		{Path: "/boot", Type: "ext4", Options: []string{"defaults"}},
		{Path: "/a b", Type: "ext4", Options: []string{"noatime"}}, // no line of awk finds it
		{Path: "/share", Type: "nfs", Options: []string{"noatime"}},
	}})
	is.Equal(len(all), 1)
	is.Equal(all[0].What, "fstab mounts it as ext4 with usrquota,commit=30, which somebody wrote there")
	dir := t.TempDir()
	file := filepath.Join(dir, "fstab")
	is.NoErr(os.WriteFile(file, []byte("# / ext4\nUUID=1  /  ext4 errors=remount-ro,usrquota 0 1\nUUID=2 / xfs defaults 0 1\nUUID=3 /srv ext4 defaults 0 2\n"), 0o644))
	for range 2 {
		out, err := exec.Command("bash", "-c", strings.ReplaceAll(all[0].Command, "/etc/fstab", file)).CombinedOutput()
		is.Equal(string(out), "")
		is.NoErr(err)
	}
	b, err := os.ReadFile(file)
	is.NoErr(err)
	is.Equal(string(b), "# / ext4\nUUID=1 / ext4 errors=remount-ro,usrquota,commit=30 0 1\nUUID=2 / xfs defaults 0 1\nUUID=3 /srv ext4 defaults 0 2\n")
}

// TestLinesOfAnEditedUnit: the drop-in has what the source's unit says otherwise, a list of
// commands whole, and none whose program the target has not.
func TestLinesOfAnEditedUnit(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		is.NoErr(os.WriteFile(file, []byte(text), 0o755))
		return file
	}
	tool := write("tool", "")
	unit := "[Unit]\nDescription=%s\nAfter=network.target\n[Service]\nExecStartPre=" + tool + "\n%sExecStart=" + tool + " 1 \\\n  2\n[Install]\nWantedBy=%s.target\n"
	target := write("target", fmt.Sprintf(unit, "new", "PrivateTmp=true\n", "multi-user"))
	source := write("source", fmt.Sprintf(unit, "old", "# mine\nExecStartPre=-"+tool+" x\nExecStop="+tool+".away\nOOMScoreAdjust=-500\nPrivateTmp=true\n", "graphical"))
	out, err := exec.Command("awk", "-v", "left="+leftOfUnit, otherLines, target, source).CombinedOutput()
	is.NoErr(err)
	is.Equal(string(out), "[Service]\nExecStartPre=\nExecStartPre="+tool+"\nExecStartPre=-"+tool+" x\nOOMScoreAdjust=-500\n")
	out, err = exec.Command("awk", "-v", "left="+leftAcross, otherLines, target, source).CombinedOutput()
	is.NoErr(err)
	is.Equal(string(out), "[Service]\nOOMScoreAdjust=-500\n") // another family's unit runs what its package has
	out, err = exec.Command("awk", "-v", "left="+leftOfUnit, otherLines, target, target).CombinedOutput()
	is.NoErr(err)
	is.Equal(string(out), "")
}
