// Package conf reads the forms of configuration into lines with their numbers, once for
// who reads a machine, who converts its files and who upgrades its databases: INI, as
// NetworkManager and systemd have it, the NAME=value of sysconfig, the words of ifupdown,
// the directives of Apache, and what PostgreSQL, MySQL and Redis are told. What a line
// means, and which are refused, is theirs.
package conf

import (
	"iter"
	"strings"
)

// Line is a line that says something.
type Line struct {
	N       int    // from 1
	Section string // the heading above it, as it is spelt; of a heading, its own
	Heading bool
	Key     string // what is before the first equals sign, as it stands: shells take no space behind it
	Value   string // what is behind it, without space around it
	Set     bool   // there is an equals sign
}

// active are the lines of a text that say something, without the space around them:
// neither empty ones nor those that begin with one of the signs of comments.
func active(text, comments string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			line = strings.TrimSpace(line)
			if line != "" && strings.IndexByte(comments, line[0]) < 0 && !yield(n, line) {
				return
			}
		}
	}
}

// INI are "key=value" lines below [section] headings.
func INI(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		section := ""
		for n, line := range active(text, "#;") {
			heading := line[0] == '['
			if heading {
				section = strings.Trim(line, "[]")
				line = ""
			}
			key, value, set := strings.Cut(line, "=")
			if !yield(Line{n, section, heading, key, strings.TrimSpace(value), set}) {
				return
			}
		}
	}
}

// Assignments are the NAME=value lines of what a shell reads; values keep their quotes.
func Assignments(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for n, line := range active(text, "#") {
			key, value, set := strings.Cut(line, "=")
			if !yield(Line{N: n, Key: key, Value: strings.TrimSpace(value), Set: set}) {
				return
			}
		}
	}
}

// Words are the words of each line, such as the stanzas of /etc/network/interfaces have.
func Words(text string) iter.Seq2[int, []string] {
	return func(yield func(int, []string) bool) {
		for n, line := range active(text, "#") {
			if !yield(n, strings.Fields(line)) {
				return
			}
		}
	}
}
