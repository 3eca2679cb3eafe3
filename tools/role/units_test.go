package role

import (
	"os/exec"
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
