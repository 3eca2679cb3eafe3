package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/migration"
)

// TestPlacesThatAreNotNamedAreCounted: who mends what a page names has to know of the rest.
func TestPlacesThatAreNotNamedAreCounted(t *testing.T) {
	is := is.New(t)
	f := assess.Finding{Title: "T", Summary: "S"}
	for n := range maxTold {
		f.Evidence = append(f.Evidence, assess.Evidence{Path: fmt.Sprintf("/srv/%d", n), Line: 1})
	}
	is.True(strings.HasSuffix(told(f), "(/srv/11, line 1): S"))
	f.Evidence = append(f.Evidence, assess.Evidence{Path: "/srv/a"}, assess.Evidence{Path: "/srv/b"})
	is.True(strings.HasSuffix(told(f), "(/srv/11, line 1) (and 2 more, in report.html): S"))
}

// TestAPackageIsInstalledOnce, though several findings want it.
func TestAPackageIsInstalledOnce(t *testing.T) {
	is := is.New(t)
	brings := func(title string) assess.Finding {
		return assess.Finding{Key: "hazard.a", Title: title, Severity: assess.Medium, Remediations: []assess.Remediation{{Type: "command", Text: "apt-get install -y a", AfterData: true}}}
	}
	p := &migration.Plan{Findings: []assess.Finding{brings("cgi"), brings("cgitb")}}
	s, _ := afterData(p, &assess.Assessment{})
	is.Equal(strings.Count(strings.Join(s.Commands, "\n"), "apt-get install"), 1)
	is.True(strings.Contains(s.Why, "cgi:") && strings.Contains(s.Why, "cgitb:"))
}
