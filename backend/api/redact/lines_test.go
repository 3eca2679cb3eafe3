package redact

import (
	"regexp"
	"strings"
	"testing"

	"svc/backend/tsv"

	"github.com/matryer/is"
)

// Each row of the table has three cells, of which the second says what rule knows, and a
// pattern that compiles, names what it finds, and has a piece of text in all that it matches.
func TestLinesTable(t *testing.T) {
	is := is.New(t)
	rows := 0
	for cells := range tsv.Rows(linesTSV, 3) {
		rows++
		is.True(cells[0] != "")
		checkHow(t, cells[1], cells)
	}
	is.Equal(len(lineRules()), rows)
	for _, r := range lineRules() {
		if kinds := strings.Join(r.at.SubexpNames(), ""); kinds == "" {
			t.Errorf("a pattern finds nothing: it needs %q", r.needs)
		}
		if len(r.needs) == 0 || r.needs[0] == "" {
			t.Errorf("a pattern is tried on every line: it finds %q", r.at.SubexpNames())
		}
		r.at.MatchString("") // or else it panics
	}
}

func checkHow(t *testing.T, how string, row []string) {
	for word := range strings.FieldsSeq(how) {
		if !strings.Contains(" - sure weak prose faint command ", " "+word+" ") {
			t.Errorf("%q is no way to stand in a line: %q", word, row)
		}
	}
}

// Each rule knows how a name stands there, names what it finds, and has nothing in braces
// that stands for no piece.
func TestRulesTable(t *testing.T) {
	for cells := range tsv.Rows(rulesTSV, 3) {
		checkHow(t, cells[0], cells)
	}
	for _, r := range rules() {
		if kinds := strings.Join(r.at.SubexpNames(), ""); kinds == "" || len(r.needs) == 0 {
			t.Errorf("a rule finds nothing: it needs %q", r.needs)
		}
		r.at.MatchString("") // or else it panics
	}
	for cells := range tsv.Rows(rulesTSV, 3) {
		if left := regexp.MustCompile(`\{[a-z ]+\}`).FindString(inBraces.Replace(cells[2])); left != "" {
			t.Errorf("%s stands for nothing: %q", left, cells[2])
		}
	}
}

// What a pattern needs is in whatever it matches.
func TestNeeds(t *testing.T) {
	is := is.New(t)
	is.Equal(needs(`\b[Jj]ournal of (?P<host>x+) begins?`), []string{"ournal of "})
	is.Equal(needs(`(?i:OWNER TO|revoke) x*`), []string{"owner to", "revoke"})
	is.Equal(needs(`a?b*|c`), []string{""})
	is.Equal(needs(`(?:ab?|cd)+ef`), []string{"ef"})
}

// One word of each usual place goes, and no more of the line.
func TestUsualPlaces(t *testing.T) {
	for in, want := range map[string]string{
		"-- Journal of amber begins at Mon 2024-01-01 --":                 "-- Journal of [host] begins at Mon 2024-01-01 --",
		"docker:x:998:amara,bowen":                                        "docker:x:998:[user],[user]",
		"useradd -m -G docker amara":                                      "useradd -m -G docker [user]",
		"md0 name=amber:0":                                                "md0 name=[host]:0",
		"drbd r0 amber: PingAck did not arrive":                           "drbd r0 [host]: PingAck did not arrive",
		"notice: Node amber state is now lost":                            "notice: Node [host] state is now lost",
		"Online: [ amber basil ]":                                         "Online: [ [host] [host] ]",
		"SUSEConnect -r 3D9A1F7C20":                                       "SUSEConnect -r [secret]",
		"pcs host auth amber basil -u amara -p k1ngfisher":                "pcs host auth [host] [host] -u [user] -p [secret]",
		"sudo: unable to resolve host: Name or service not known":         "sudo: unable to resolve host: Name or service not known",
		"GRUB loading. Welcome to GRUB!":                                  "GRUB loading. Welcome to GRUB!",
		"Wie setze ich SELinux auf permissive, und ist es danach nötig?":  "Wie setze ich SELinux auf permissive, und ist es danach nötig?",
		"Fehler: der angegebene Cluster existiert nicht":                  "Fehler: der angegebene Cluster existiert nicht",
		"ssh -o StrictHostKeyChecking=no -p 2222 amara@amber 'uname -a'":  "ssh -o StrictHostKeyChecking=no -p 2222 [user]@[host] 'uname -a'",
		"speech-dispatcher:x:114:29:Speech Dispatcher,,,:/run/x:/bin/no":  "speech-dispatcher:x:114:29:Speech Dispatcher,,,:[path]",
		"id: cannot find name for user ID 1007":                           "id: cannot find name for user ID 1007",
		"fatal: [amber]: FAILED! => {}, and systemd: docker: not running": "fatal: [[host]]: FAILED! => {}, and systemd: docker: not running",
	} {
		if got, _ := Text(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}
