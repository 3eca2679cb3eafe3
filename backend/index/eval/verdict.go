package eval

import "strings"

// verdict is what a person found of an answer that no pair states.
type verdict string

// bothFine is the verdict on an answer which is right beside the one that is stated: the
// same by another name, or the pair means something else.
const bothFine verdict = "naming"

// The columns of a row of verdicts: direction, package, answer (a dash for none),
// relation, confidence, what is stated, the verdict, and the files that state it.
const verdictColumns = 8

// areVerdicts reports whether rows begin with a direction between families.
func areVerdicts(rows []row) bool {
	direction, _, _ := strings.Cut(rows[0].text, "\t")
	return strings.Contains(direction, ">")
}

// judged keeps the verdicts for the pairs that are asked for later.
func (e *Evaluation) judged(rows []row) error {
	for _, r := range rows {
		c := r.columns()
		if len(c) != verdictColumns {
			return refused(r.line, "it has %d columns", len(c))
		}
		packages := c[2]
		if packages == "-" {
			packages = ""
		}
		e.verdicts[answer{c[0], c[1], packages}] = verdict(c[6])
	}
	return nil
}
