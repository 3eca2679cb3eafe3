package hazards

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestCommandsRunAsTheyStand holds each command of the tables: bash can read it, it asks
// nobody, and nothing of it is for a person to fill in.
func TestCommandsRunAsTheyStand(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	asks := regexp.MustCompile(`\b(apt|apt-get|dnf|yum|zypper)\s+(-\S+\s+)*(install|swap|remove|upgrade)\s+([^-]|-[^y])`)
	blank := regexp.MustCompile(`(^|[ /=:])(NAME|FILE|FILES|FOLDER|DIR|HOST|PORT|USER|PASSWORD\w*|[A-Z]+FILE|TARGET)\b`)
	commands := 0
	for _, r := range Curated() {
		if !isCommand(r.Do) {
			continue
		}
		commands++
		m := r.Shows.machine()
		match, _ := r.When.met(m)
		kind, command, _ := strings.Cut(Hit{r, match, m.words(match.Places)}.Remedy(), " ")
		if out, err := exec.CommandContext(t.Context(), bash, "-n", "-c", command).CombinedOutput(); err != nil {
			t.Errorf("%s: bash can't read its command: %s", r.Key, out)
		}
		switch {
		case asks.MatchString(command):
			t.Errorf("%s: its command waits for an answer: %s", r.Key, command)
		case blank.MatchString(command):
			t.Errorf("%s: its command has a blank, which makes it prose: %s", r.Key, command)
		case kind == "$" && strings.Contains(command, "SOURCE_SSH"):
			t.Errorf("%s: what reaches the source is of the data: %s", r.Key, command)
		}
	}
	is.New(t).True(commands > 20)
}

// TestFilesOfACommandAreWords of bash, whatever the machine calls them, and stand where the
// target has them.
func TestFilesOfACommandAreWords(t *testing.T) {
	is := is.New(t)
	ran := filepath.Join(t.TempDir(), "ran")
	names := []string{"/etc/a b", "/etc/$(touch " + ran + ")", "/etc/`touch " + ran + "`", "/etc/'; touch " + ran + "; '", "/etc/\x01\n\u202e" + `\`}
	m := &Machine{Placed: func(file string) string { return strings.Replace(file, "/etc/", "/usr/etc/", 1) }}
	var places []Place
	for _, name := range names {
		places = append(places, Place{name, 1}, Place{name, 2})
	}
	h := Hit{&Row{Do: "$ for f in {files}; do printf '%s\\0' \"$f\"; done"}, Match{}, m.words(places)}
	out, err := exec.CommandContext(t.Context(), "bash", "-c", strings.TrimPrefix(h.Remedy(), "$ ")).Output()
	is.NoErr(err)
	is.Equal(string(out), strings.ReplaceAll(strings.Join(names, "\x00")+"\x00", "/etc/", "/usr/etc/")) // each once
	_, err = os.Stat(ran)
	is.True(os.IsNotExist(err))
}

// TestTooManyFilesAreProse since no command takes them; so is a row that no file met.
func TestTooManyFilesAreProse(t *testing.T) {
	is := is.New(t)
	row := &Row{Do: "$data mend {files}"}
	for _, words := range [][]string{nil, {strings.Repeat("x", maxWords+1)}} {
		said := Hit{row, Match{}, words}.Remedy()
		is.Equal(said, "For the files that this is about: mend FILES")
		is.True(!isCommand(said))
	}
	is.Equal(Hit{row, Match{}, []string{"'/a'", "'/b'"}}.Remedy(), "$data mend '/a' '/b'")
}

// TestCommandsOfFilesShowOne in their examples.
func TestCommandsOfFilesShowOne(t *testing.T) {
	is := is.New(t)
	row := "hazard.x\tel>=9\tpackage(a)\tlow\t-\tt\ttext.\t$ mend {files}\to\ta 1\t-"
	table, err := Parse("x.tsv", row)
	is.NoErr(err)
	is.True(strings.Contains(table.Check().Error(), "by no file"))
}
