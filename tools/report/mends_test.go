package report

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/migration"
)

// TestCommandsOfKnownTroubles stand in the step before the data, each once, apart from what
// a person decides; those that change a file of the role's are due again after it.
func TestCommandsOfKnownTroubles(t *testing.T) {
	is := is.New(t)
	early := func(text string) []assess.Remediation {
		return []assess.Remediation{{Type: "command", Text: text, BeforeData: true}}
	}
	p := &migration.Plan{
		Target:        "debian-13",
		Configuration: []migration.Config{{From: "/etc/a.conf", To: "/etc/a.conf", Action: migration.Copy}, {From: "/etc/key", Place: "/etc/key", Action: migration.LeftOut}},
		Findings: []assess.Finding{
			{Key: "hazard.a", Severity: assess.High, Inhibitor: true, Title: "A is old", Summary: "It is gone. It stops the move, as a service of the machine would not start.", Remediations: early("mend a"), Evidence: []assess.Evidence{{Path: "/etc/a.conf", Line: 2}}},
			{Key: "hazard.b", Severity: assess.Low, Title: "B is apart", Summary: "It is a package.", Remediations: early("install b")},
			{Key: "hazard.c", Severity: assess.High, Title: "B is apart", Summary: "It is another's.", Remediations: early("install b")},
			{Key: "hazard.d", Severity: assess.High, Title: "D is for a person", Summary: "It has two ways.", Remediations: assess.Hints("Choose one.")},
			{Key: "hazard.e", Severity: assess.High, Title: "E has data", Summary: "They are old.", Remediations: []assess.Remediation{assess.Remedy("$data raise e")}, Evidence: []assess.Evidence{{Path: "/etc/key"}}},
		},
	}
	s, ok := known(p, &assess.Assessment{})
	is.True(ok)
	is.Equal(s.Commands, []string{"mend a", "install b"})
	mended, decided, _ := strings.Cut(s.Why, "for a person to decide.\n\n")
	is.True(strings.Contains(mended, "- A is old (/etc/a.conf, line 2): It is gone. Until it is mended, a service of the machine would not start. Its command is here.\n"))
	is.Equal(decided, "- D is for a person: It has two ways. Choose one.")
	s, ok = onceMore(p, nil)
	is.True(ok)
	is.Equal(s.Commands, []string{"mend a"}) // the role does not have the key
	m, ok := Of(p, "raise e")
	is.True(ok && m.Title == "E has data")
	_, ok = Of(p, "mend a")
	is.True(!ok) // that was before
	is.Equal(titles(p)[1:4], []string{"Bring the secrets", "Mend what is known to fail", "Move the data"})
}

// TestOnceMore has commands run again that name what the role writes, wherever the trouble was found.
func TestOnceMore(t *testing.T) {
	is := is.New(t)
	command := func(text string) assess.Finding {
		return assess.Finding{Key: "hazard." + text, Title: text, Evidence: []assess.Evidence{{Path: "/usr/local/share/ca.crt"}}, Remediations: []assess.Remediation{{Type: "command", Text: text, AfterData: true}}}
	}
	p := &migration.Plan{
		Configuration: []migration.Config{{From: "/etc/own/ca.crt", To: "/etc/own/ca.crt", Action: migration.Copy}, {From: "/etc/left", Action: migration.LeftOut}},
		Findings:      []assess.Finding{command("grep -rl x /etc | sed -i y"), command("sed -i y '/etc/own/ca.crt'"), command("sed -i y /etc/left"), command("echo >/etc/own/other"), command("rsync a /")},
	}
	is.Equal(commandsOf(OnceMore(p)), []string{"grep -rl x /etc | sed -i y", "sed -i y '/etc/own/ca.crt'"})
}
