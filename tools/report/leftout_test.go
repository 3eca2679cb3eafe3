package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/migration"
)

// TestStepsNameWhatWasLeftOut: what an assessment had no room for is a step of its own,
// and none of a machine that was read whole.
func TestStepsNameWhatWasLeftOut(t *testing.T) {
	is := is.New(t)
	p, a := &migration.Plan{Target: "debian-13"}, &assess.Assessment{Release: "debian-11"}
	named := func(s Step) bool { return strings.Contains(s.Why, "75697 of configuration") }
	is.True(!slices.ContainsFunc(Steps(p, a), named))
	a.Findings = []assess.Finding{{Key: "assessment.cut", Severity: assess.High, Inhibitor: true, Summary: "Left out: 75697 of configuration."}}
	is.True(slices.ContainsFunc(Steps(p, a), named))
}
