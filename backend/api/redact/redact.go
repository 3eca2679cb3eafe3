// Package redact strips from text what names a machine, a network or a person,
// and what is secret: hostnames, domains, IP addresses, e-mail addresses, URLs,
// paths, names of users, identifiers of hardware and installations, passwords,
// tokens and keys. The client does it before anything is sent, and the server
// again before anything is stored.
//
// A name goes by its form (10.0.0.1, web01, /srv/x), by where it stands (the
// second word of a line of syslog, what follows "ssh", what answers "hostname";
// table rules, and below), because it is a stranger among known words (strangers),
// because the caller knows it (Vocabulary), or because it was found so elsewhere in the same text.
package redact

import (
	"slices"
	"strings"

	"svc/backend/secret"
)

// passes bounds how often a line is read. What stays beside a placeholder may
// read as another name the next time; lines of people need two or three passes.
const passes = 8

// Vocabulary is what a caller knows of names that a text may have.
type Vocabulary struct {
	Hosts []string // names of machines, whatever else they mean
	Users []string // accounts; one that is a word of every text too says nothing
}

// Text is that of an empty vocabulary, with the names of hosts that are given.
func Text(s string, hosts ...string) (string, map[string]int) {
	return Vocabulary{Hosts: hosts}.Text(s)
}

// Text gives s with every such name replaced by its kind in brackets, and how
// often each kind stands in the result. Doing it again changes nothing. A
// hostname that looks like any other word, and stands where any other word may
// stand, is found only where the vocabulary has it.
func (v Vocabulary) Text(s string) (string, map[string]int) {
	known := map[string]string{}
	for _, name := range v.Users {
		learn(known, name, user)
	}
	for _, name := range v.Hosts {
		if !isOrdinary(name) {
			known[strings.ToLower(name)] = host
		}
	}
	counts := map[string]int{}
	s = withoutSecrets(s, known)
	for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
		counts[m[1]]++
	}
	return s, counts
}

// withoutSecrets strips URLs, which hold passwords, then secrets, whose names may
// be among what else goes, then what the line above tells, then the rest; until nothing changes.
func withoutSecrets(s string, known map[string]string) string {
	for range passes {
		again := stable(alike(below(secret.Mask(forms[0].apply(s, known)), known), known), known)
		if again == s {
			return s
		}
		s = again
	}
	return put(hidden)
}

// stable reads the lines of a text until nothing in them changes. A line made so
// that it never settles is withheld, and so is a text of such lines.
func stable(s string, known map[string]string) string {
	lines := strings.Split(s, "\n")
	changed := slices.Repeat([]bool{true}, len(lines))
	for n := range passes {
		for i, line := range lines {
			if changed[i] { // or else the rules find nothing new
				lines[i] = chosen(strangers(inPlaces(line, known), known), known)
				changed[i] = lines[i] != line
			}
		}
		for i, line := range lines {
			scan := scanner{names: known}
			lines[i] = scan.text(line)
			changed[i] = changed[i] || lines[i] != line
			if changed[i] && n == passes-2 {
				lines[i] = put(hidden)
			}
		}
		if !slices.Contains(changed, true) {
			return strings.Join(lines, "\n")
		}
	}
	return put(hidden)
}
