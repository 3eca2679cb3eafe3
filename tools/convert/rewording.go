package convert

import (
	"strings"

	"svc/backend/lazyregexp"
)

// Rewording is what a line of another family's says on the target.
type Rewording struct {
	Line     *lazyregexp.Regexp
	Now, Why string
}

// Reword writes a line by the first rule that is about it, and reports whether there is
// one. What a rule has no word for is dropped.
func (p *Page) Reword(i int, line string, rules []Rewording) bool {
	for _, rule := range rules {
		if !rule.Line.MatchString(line) {
			continue
		}
		if rule.Now == "" {
			p.Drop(i, rule.Why)
		} else {
			p.Replace(i, rule.Now, rule.Why)
		}
		return true
	}
	return false
}

// Substitute writes of a line what each rule has in the place of a part of it.
func (p *Page) Substitute(i int, rules []Rewording) {
	for _, rule := range rules {
		p.Replace(i, rule.Line.ReplaceAllString(strings.TrimSpace(p.Lines[i]), rule.Now), rule.Why)
	}
}

// Logs are where the lines of families keep the logs of services.
var Logs = HomesOf("logs")

// LogPlaces are where Debian keeps the logs of services.
var LogPlaces = Logs.Debian()
