package fleet

import (
	"fmt"
	"strings"

	"svc/assess"
	"svc/backend/sliced"
)

// Why says in a few words why a machine has its verdict.
func (m *Machine) Why() string {
	var words []string
	switch {
	case m.Error != "":
		return m.Error
	case len(m.Inhibitors) > 0:
		words = append(words, sliced.Map(m.Inhibitors, func(f Finding) string { return f.Title })...)
	default:
		findings := m.ToDo() - m.Questions - m.Manual
		for _, part := range []struct {
			n    int
			what string
		}{{m.Questions, assess.Plural(m.Questions, "question")}, {m.Manual, assess.Plural(m.Manual, "file") + " for a person"}, {findings, assess.Plural(findings, "finding")}} {
			if part.n > 0 {
				words = append(words, part.what)
			}
		}
		words = append(words, m.Databases...)
	}
	if m.CloneOf != "" {
		words = append(words, "fingerprint of "+m.CloneOf)
	}
	return strings.Join(words, ", ")
}

// Line is the cost in a sentence.
func (c Cost) Line() string {
	line := fmt.Sprintf("Seats needed: %d", c.SeatsNeeded)
	if c.CapacityLeft != nil {
		line += fmt.Sprintf(", %d left", *c.CapacityLeft)
	}
	if c.Price > 0 {
		line += fmt.Sprintf("; the others cost %d USD a year at the On-Demand rate", c.Price)
	}
	return line + ". A readiness claims none."
}
