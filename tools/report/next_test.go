package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/migration"
	"svc/tools/migration/naming"
)

// TestNoCommandOfTheStepsRunsWhatTheMachineSays has bash read the commands of
// NEXT.md for a machine whose names are commands: each stays one word.
func TestNoCommandOfTheStepsRunsWhatTheMachineSays(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	is := is.New(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	var p migration.Plan
	var want []string
	for _, name := range []string{"$(touch RAN)", "`touch RAN`", "'; touch RAN; '", `"; touch RAN; "`, "\\", "x|e touch RAN", "; touch RAN #", "& touch RAN &"} {
		for _, hidden := range []string{"", "\u202e", "\x1b[2J", "\x01", "\n", "\xff"} {
			file := "/etc/" + hidden + strings.ReplaceAll(name, "RAN", ran)
			want = append(want, file)
			p.Configuration = append(p.Configuration,
				migration.Config{From: file, Place: file, Action: migration.LeftOut},
				migration.Config{From: file, Place: file + "/to", Action: migration.LeftOut})
			p.Mentions = append(p.Mentions,
				naming.Mention{Path: file, Line: 3, Name: file, Now: file + "-now"},
				naming.Mention{Path: file, Name: file, Now: file + "-now"})
			p.Accounts.Users = append(p.Accounts.Users, assess.User{Name: hidden + strings.ReplaceAll(name, "RAN", ran)})
		}
	}
	var script strings.Builder
	script.WriteString("SOURCE_SSH=source\n")
	for _, tool := range []string{"rsync", "mkdir", "ssh", "usermod", "chage", "sed", "cp", "systemctl", "ldconfig", "svc", "update-ca-certificates", "update-ca-trust", "ansible-playbook", "bash", "restorecon"} {
		script.WriteString(tool + `() { printf '%s\0' "$@" >>"$SAID"; }` + "\n")
	}
	for _, s := range Steps(&p, &assess.Assessment{}) {
		for _, c := range s.Commands {
			script.WriteString(c + "\n")
		}
	}
	said := filepath.Join(dir, "said")
	run := exec.CommandContext(t.Context(), bash, "-c", script.String())
	run.Env = append(os.Environ(), "SAID="+said, "LC_ALL=C")
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	is.NoErr(err)
	_, err = os.Stat(ran)
	is.True(os.IsNotExist(err))
	b, err := os.ReadFile(said)
	is.NoErr(err)
	for _, file := range want {
		is.True(strings.Contains(string(b), "source:"+file+"\x00")) // rsync brings just this file
	}
}

// A target with OpenRC gets its words, and what it needs first.
func TestStepsOfAlpine(t *testing.T) {
	is := is.New(t)
	text := string(Next(&migration.Plan{Source: "debian-12", Target: "alpine-3.22", Install: []string{"nginx", "$(x)"}}, &assess.Assessment{}, nil))
	is.True(!strings.Contains(text, "systemctl"))
	is.True(!strings.Contains(text, "    ldconfig"))
	for _, said := range []string{"    apk update && apk add python3 bash rsync shadow", "    apk policy nginx '$(x)'", "    reboot", "    rc-status --crashed"} {
		is.True(strings.Contains(text, said))
	}
}

// Many files of a folder that stay for one reason are one line.
func TestFilesThatStayAlikeAreOneLine(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Configuration: []migration.Config{{From: "/etc/a/one", Action: migration.Manual, Reason: "Another."}}}
	for _, name := range strings.Fields("a b c d e f g h i j k") {
		p.Configuration = append(p.Configuration, migration.Config{From: "/etc/a/" + name, Action: migration.Manual, Reason: "Why."})
	}
	s, ok := byHand(p, &assess.Assessment{})
	is.True(ok)
	is.Equal(s.Why, "- /etc/a/one: Another.\n- /etc/a, 11 files: Why.")
}

// A file that its package brings, where that is made anew, is said to be there then.
func TestFilesOfPackagesMadeAnewAreThere(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{
		Source: "debian-11", Target: "debian-13", Packages: []migration.Package{{Name: "own-a", Relation: "unknown", Manual: true}},
		Configuration: []migration.Config{{From: "/etc/a/conf", Package: "own-a", Action: migration.Manual, Reason: "A is not there."}, {From: "/etc/b", Package: "b", Action: migration.Manual, Reason: "Why."}},
	}
	s, ok := byHand(p, &assess.Assessment{})
	is.True(ok)
	is.Equal(s.Why, "- /etc/a/conf: A is not there. Where the package was made anew, it is there already.\n- /etc/b: Why.")
}
