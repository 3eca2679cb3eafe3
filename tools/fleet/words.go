package fleet

import (
	"fmt"
	"strings"
)

// Why says in a few words why a machine has its verdict.
func (m *Machine) Why() string {
	var words []string
	switch {
	case m.Error != "":
		return m.Error
	case len(m.Inhibitors) > 0:
		for _, f := range m.Inhibitors {
			words = append(words, f.Title)
		}
	default:
		for _, part := range []struct {
			n    int
			what string
		}{{m.Questions, "question"}, {m.Manual, "file for a person"}, {m.ToDo() - m.Questions - m.Manual, "finding"}} {
			if part.n > 0 {
				words = append(words, fmt.Sprintf("%d %s", part.n, pluralOf(part.what, part.n)))
			}
		}
		words = append(words, m.Databases...)
	}
	if m.CloneOf != "" {
		words = append(words, "fingerprint of "+m.CloneOf)
	}
	return strings.Join(words, ", ")
}

// pluralOf is a noun for a number of things; "file for a person" is "files for a person".
func pluralOf(noun string, n int) string {
	if n == 1 {
		return noun
	}
	head, rest, more := strings.Cut(noun, " ")
	if more {
		return head + "s " + rest
	}
	return head + "s"
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
