package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/tools/convert"
	"svc/tools/exposure"
	"svc/tools/migration"
	"svc/tools/page/pagetest"
	"svc/tools/parity"
	"svc/tools/rehearsal"
)

// aMachine is a plan that never changes, with something in most parts of the page.
func aMachine() (*migration.Plan, *assess.Assessment) {
	p := &migration.Plan{Source: "debian-11", Target: "debian-13", Fingerprint: strings.Repeat("0123456789abcdef", 4)}
	for i, relation := range []api.Relation{api.RelationSame, api.RelationSame, api.RelationSame, api.RelationRenamed, api.RelationReplaced, api.RelationIncluded, api.RelationRemoved, api.RelationUnknown} {
		for n := range 12 - i {
			name := fmt.Sprintf("%s-%d", relation, n)
			p.Packages = append(p.Packages, migration.Package{Name: name, Version: "1." + fmt.Sprint(n), Relation: relation, Manual: n == 0, Install: n == 0 && i < 5, Why: "the archive has it", Targets: []migration.Target{{Name: name, Version: "2"}}, Confidence: 1 - float64(i)/10})
		}
	}
	p.Configuration = []migration.Config{
		{From: "/etc/app/app.conf", Action: migration.Manual, Reason: "no sure place on the target"},
		{From: "/etc/ssh/sshd_config", To: "/etc/ssh/sshd_config", Action: migration.Convert, Reason: "options that are gone", Changes: []convert.Change{{Line: 3, Was: "Protocol 2", Now: "# Protocol 2", Why: "there is no other"}}},
		{From: "/etc/motd", To: "/etc/motd", Action: migration.Copy, Reason: "as it is"},
	}
	p.Services = []migration.Service{{Unit: "app.service", To: "app.service", State: "enabled", Apply: true, Reason: "as on the source"}}
	p.Accounts.Users = []assess.User{{Name: "ada", UID: 1000, Groups: []string{"adm", "sudo"}, AuthorizedKeys: []string{"ssh-ed25519"}, Sudo: true}}
	p.Inhibitors = []assess.Finding{{Key: "a.stop", Title: "The target does not start from this disk", Summary: strings.Repeat("The boot loader can not read it. ", 5), Inhibitor: true, Severity: assess.High, Remediations: assess.Hints("Give it another disk.")}}
	a := &assess.Assessment{System: assess.System{Hostname: "web1.example.org", Name: "Debian GNU/Linux 11 (bullseye)", Architecture: "amd64"}}
	for _, severity := range []assess.FindingSeverity{assess.High, assess.Medium, assess.Low, assess.Info} {
		a.Findings = append(a.Findings, assess.Finding{Key: "a." + string(severity), Severity: severity, Title: "Something that is " + string(severity), Summary: strings.Repeat("It is said in a few words. ", 6), Remediations: assess.Hints("Look at it.")})
	}
	return p, a
}

// TestPageOfAMachine is of a plan that never changes: with SVC_PAGES it is written there,
// and what a browser shows of it is held against a picture.
func TestPageOfAMachine(t *testing.T) {
	is := is.New(t)
	p, a := aMachine()
	b := Render(p, a, exposure.Uncompared("debian-11", "debian-13", "no feed"), "svc test")
	is.True(strings.Contains(string(b), "web1.example.org: debian-11 to debian-13"))
	is.NoErr(os.WriteFile(filepath.Join(cmp.Or(os.Getenv("SVC_PAGES"), t.TempDir()), "machine.html"), b, 0o644))
}

func TestThePagesAreNoMachinesOwn(t *testing.T) {
	pagetest.Holds(t, func(c *content) []byte {
		if c.Plan == nil {
			c.Plan = &migration.Plan{}
		}
		if c.Rehearsal != nil {
			for i := range c.Rehearsal.Checks {
				c.Rehearsal.Checks[i].Verdict = rehearsal.Fails
			}
		}
		return c.whole()
	})
	pagetest.Holds(t, func(c *comparison) []byte {
		if c.Report == nil {
			c.Report = &parity.Report{}
		}
		return c.whole()
	})
}
