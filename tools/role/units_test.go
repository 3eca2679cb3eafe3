package role

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestUnitsThatAreStartedAgainAndAgain: in the moment between its start and its end, such
// a unit is as one that runs.
func TestUnitsThatAreStartedAgainAndAgain(t *testing.T) {
	is := is.New(t)
	if exec.Command("python3", "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here")
	}
	ask := exec.Command("python3", "-B", "-c", `import sys; sys.path.insert(0, sys.argv[1]); import svc_units as s
print([s.moves({"ActiveState": active, "SubState": sub, "ActiveEnterTimestampMonotonic": since}, 100) for active, sub, since in [
    ("active", "running", "99950000"), ("active", "running", "97000000"), ("activating", "auto-restart", "99000000"), ("activating", "start", "0"), ("failed", "failed", "99000000")]])`,
		"static/systemd/role/library")
	out, err := ask.CombinedOutput()
	t.Logf("%s", out)
	is.NoErr(err)
	is.Equal(strings.TrimSpace(string(out)), "[True, False, False, True, False]")
}

// TestMasksHoldWithoutTheirUnits: what brings such a unit later does not start it. Of a unit
// that is not there nothing else is set.
func TestMasksHoldWithoutTheirUnits(t *testing.T) {
	is := is.New(t)
	if exec.Command("python3", "-c", "import ansible").Run() != nil || exec.Command("systemctl", "--version").Run() != nil {
		t.Skip("Ansible or systemd is not here")
	}
	root := t.TempDir()
	ask := exec.Command("python3", "-B", "-c", `import subprocess, sys; sys.path.insert(0, sys.argv[1]); import svc_units as s
class Root:
    check_mode = False
    params = {"units": [{"name": n + ".service", "was": n + ".service", "state": state, "own": False} for n, state in [("away", "masked"), ("off", "disabled"), ("on", "enabled")]]}
    def run_command(self, argv):
        done = subprocess.run(argv[:1] + ["--root=" + sys.argv[2]] + argv[1:], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr
for _ in range(2):
    units = s.Units(Root()); units.machine.runs = False; units.set_all(); print(units.changed, units.notes)`,
		"static/systemd/role/library", root)
	out, err := ask.CombinedOutput()
	t.Logf("%s", out)
	is.NoErr(err)
	is.Equal(strings.TrimSpace(string(out)), "['away.service: masked'] ['on.service is not here, so it could not be enabled']\n[] ['on.service is not here, so it could not be enabled']")
	to, err := os.Readlink(filepath.Join(root, "etc/systemd/system/away.service"))
	is.NoErr(err)
	is.Equal(to, "/dev/null")
}
