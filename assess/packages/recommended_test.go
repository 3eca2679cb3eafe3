package packages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/deb822"
)

// A machine of which most recommendations are not met was installed without them; one
// is met by each of its names, and by what a package provides. What a base system's own
// packages recommend does not count, and a few tell nothing.
func TestRecommendedPackages(t *testing.T) {
	for name, c := range map[string]struct {
		met, lacking int
		priority     string
		leftOut      bool
	}{
		"most lack":          {9, 11, "optional", true},
		"half are there":     {10, 10, "optional", false},
		"too few to tell":    {0, 19, "optional", false},
		"of the base system": {0, 40, "important", false},
		"nothing lacks":      {30, 0, "optional", false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			facts, unmet := recommended(t, recommending(c.met, c.lacking, c.priority))
			is.Equal(len(facts), map[bool]int{true: 1, false: 0}[c.leftOut])
			is.True(!c.leftOut || facts[0].Key == assess.RecommendedPackages)
			is.Equal(len(unmet), map[string]int{"optional": 2 * c.lacking}[c.priority])
			is.True(len(unmet) == 0 || unmet[0] == "lacking-0")
		})
	}
}

// recommending is a status file in which a package's recommendations are met, by turns
// by the second of two names and by what a package provides, or lack.
func recommending(met, lacking int, priority string) string {
	var asked []string
	for i := range met {
		asked = append(asked, []string{"nothing (>= 2) | there:any", "provided"}[i%2])
	}
	for i := range lacking {
		asked = append(asked, fmt.Sprintf("lacking-%d (>= 1) | or-lacking-%[1]d:any", i))
	}
	const paragraph = "Package: %s\nStatus: install ok installed\nPriority: %s\nVersion: 1\nArchitecture: amd64\n%s\n\n"
	return fmt.Sprintf(paragraph, "asks", priority, "Recommends: "+strings.Join(asked, ", ")) +
		fmt.Sprintf(paragraph, "there", "optional", "Provides: provided (= 1), other")
}

// recommended is what a status file gives of what packages recommend: facts, and what
// lacks.
func recommended(t *testing.T, status string) (facts []assess.Fact, unmet []string) {
	is := is.New(t)
	m := &assess.Machine{Reading: assess.Reading{A: &assess.Assessment{}}}
	m.Book = assess.Book{Named: map[string]bool{}, Needed: map[string]bool{}, Conffiles: map[string]assess.Conffile{}}
	r, recommended := deb822.NewReader(strings.NewReader(status)), &recommendations{there: map[string]bool{}}
	for range 2 {
		p, err := r.Next()
		is.NoErr(err)
		is.NoErr(addPackage(m, p, nil, recommended))
	}
	recommended.take(m)
	return m.Facts("packages"), m.A.Unmet
}
