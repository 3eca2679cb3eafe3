package parity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/sliced"
)

// change is a difference with what it belongs to.
type change struct {
	Check
	pkg string
}

func (c change) gone() bool { return c.Before == "" || c.After == "" }

// What is said of what was added: to a machine since it was looked at, and beside a plan.
const (
	notThere     = "It was not there."
	notAnnounced = "The source does not have it, the plan does not bring it, and no package of the machine accounts for it."
)

func changeOf(i subject, before, after, why string) change {
	return change{Check{Dimension: i.dimension, Subject: i.subject, Result: Differs, Before: before, After: after, Why: why, Evidence: i.evidence}, i.pkg}
}

func orPresent(value string) string { return cmp.Or(value, "present") }

// difference is what two inventories share, and what they do not. What is gone
// from a file that could not be read may be there.
func difference(before, after []subject, unseen map[string]bool) (same []subject, changed []change) {
	now := byKey(after)
	for _, was := range before {
		is, there := now[was.key()]
		delete(now, was.key())
		switch {
		case there && is.value == was.value:
			same = append(same, was)
		case there:
			is.evidence = slices.Concat(is.apart(was), was.apart(is))
			changed = append(changed, changeOf(is, was.value, is.value, "It changed."))
		case was.isIn(unseen):
			c := changeOf(was, orPresent(was.value), "", hiddenWhy)
			c.Result = Unknown
			changed = append(changed, c)
		default:
			changed = append(changed, changeOf(was, orPresent(was.value), "", "It is gone."))
		}
	}
	for _, i := range after {
		if _, added := now[i.key()]; added {
			c := changeOf(i, "", orPresent(i.value), notThere)
			c.Added = true
			changed = append(changed, c)
		}
	}
	return same, changed
}

// apart is where those parts of a thing were read that the other machine's lacks.
func (s subject) apart(other subject) (evidence []assess.Evidence) {
	for _, p := range s.parts {
		if !other.values[p.value] {
			evidence = append(evidence, p.evidence...)
		}
	}
	return evidence
}

// fold tells what follows from another difference with that one.
func fold(changed []change) (kept []change) {
	leads := sliced.Map(changed, leading(changed).lead)
	brings := map[int][]string{}
	for i, lead := range leads {
		if lead >= 0 {
			for leads[lead] >= 0 {
				lead = leads[lead] // an order of dimensions, so this ends
			}
			brings[lead] = append(brings[lead], changed[i].Dimension+" "+changed[i].Subject)
		}
	}
	for i, c := range changed {
		if leads[i] >= 0 {
			continue
		}
		if with := brings[i]; len(with) > 0 {
			c.Why += fmt.Sprintf(" With it: %s.", strings.Join(with, ", "))
		}
		kept = append(kept, c)
	}
	return kept
}

// leaders are the differences that others may follow from, by what those have
// in common with them.
type leaders struct {
	packages, users map[string]int // that came or went, by name
	files, ports    map[string]int // of what is no file itself, and of ports, by evidence
}

func leading(changed []change) leaders {
	by := leaders{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
	for i, c := range slices.Backward(changed) { // the first of several counts
		switch {
		case c.Dimension == Packages && c.gone():
			by.packages[c.Subject] = i
		case c.Dimension == Users && c.gone():
			by.users[c.Subject] = i
		}
		for _, e := range c.Evidence {
			if c.Dimension != Configuration {
				by.files[e.Path] = i
			}
			if c.Dimension == Ports {
				by.ports[e.Path] = i
			}
		}
	}
	return by
}

// lead is the number of the difference that brings another one, or -1.
func (by leaders) lead(c change) int {
	if i, ok := by.packages[c.pkg]; ok && c.pkg != "" && c.Dimension != Packages {
		return i
	}
	name, files := "", map[string]int(nil)
	switch c.Dimension {
	case Groups:
		if c.gone() {
			name = c.Subject
		}
	case Keys:
		name, _, _ = strings.Cut(c.Subject, " ")
	case Users:
		name, _ = strings.CutSuffix(c.Subject, passwordOf)
		if name == c.Subject {
			return -1
		}
	case Configuration:
		files = by.files
	case Sites, Databases:
		files = by.ports
	}
	if i, ok := by.users[name]; ok {
		return i
	}
	for _, e := range c.Evidence {
		if i, ok := files[e.Path]; ok {
			return i
		}
	}
	return -1
}
