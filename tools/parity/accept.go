package parity

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/backend/sliced"
)

// Acceptances are differences that a person looked at and accepted.
type Acceptances []acceptance

type acceptance struct {
	dimension, subject, why string
	line                    int
}

// maxAcceptances bounds the lines of a file of acceptances.
const maxAcceptances = 10_000

// ParseAcceptances reads a file with a line for each accepted difference: the
// dimension, the subject (with * for any text up to a slash) and, after a #, why
// it is accepted, which must be said. Empty lines and lines that begin with # are
// for people.
func ParseAcceptances(text string) (Acceptances, error) {
	all := Acceptances{}
	for i, line := range strings.Split(text, "\n") {
		rule, why, reasoned := strings.Cut(strings.TrimSpace(line), "#")
		if rule == "" {
			continue
		}
		dimension, subject, ok := strings.Cut(strings.TrimSpace(rule), " ")
		subject = strings.TrimSpace(subject)
		_, err := path.Match(subject, "")
		switch {
		case !ok || subject == "":
			return nil, fmt.Errorf("line %d: a dimension and a subject are needed, such as: services cron.service # replaced by timers", i+1)
		case !slices.Contains(dimensions, dimension):
			return nil, fmt.Errorf("line %d: %.40q is no dimension; they are %s", i+1, dimension, strings.Join(dimensions, ", "))
		case err != nil:
			return nil, fmt.Errorf("line %d: the subject %.80q is no pattern", i+1, subject)
		case !reasoned || strings.TrimSpace(why) == "":
			return nil, fmt.Errorf("line %d: say after a # why the difference is accepted", i+1)
		case len(all) == maxAcceptances:
			return nil, fmt.Errorf("line %d: more than %d differences are accepted", i+1, maxAcceptances)
		}
		all = append(all, acceptance{dimension, subject, strings.TrimSpace(why), i + 1})
	}
	return all, nil
}

// apply accepts what differs, and names the acceptances that nothing needed.
func (all Acceptances) apply(checks []Check) []string {
	used := map[acceptance]bool{}
	for i := range checks {
		c := &checks[i]
		if a, ok := sliced.Find(all, func(a acceptance) bool { return a.covers(c) }); ok {
			used[a] = true
			c.Result, c.Why = Accepted, c.Why+" Accepted: "+a.why
		}
	}
	return append([]string{}, sliced.FilterMap(all, func(a acceptance) (string, bool) {
		return fmt.Sprintf("line %d: %s %s", a.line, a.dimension, a.subject), !used[a]
	})...)
}

// covers reports whether it accepts what a check found to differ.
func (a acceptance) covers(c *Check) bool {
	matched, err := path.Match(a.subject, c.Subject)
	return c.Result == Differs && a.dimension == c.Dimension && (err == nil && matched || a.subject == c.Subject)
}
