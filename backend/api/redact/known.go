package redact

import (
	"strings"
	"unicode"

	"svc/backend/lazyregexp"
)

// The kinds of what is stripped.
const (
	host   = "host"
	domain = "domain"
	ip     = "ip"
	email  = "email"
	url    = "url"
	path   = "path"
	hidden = "secret"
	id     = "id"
	user   = "user"
)

// put is what stands in a text in place of a name of a kind.
func put(kind string) string { return "[" + kind + "]" }

var placeholder = lazyregexp.New(`\[(host|domain|ip|email|url|path|secret|id|user)\]`)

// inPlaceholder says that s[start:end] is the word of a placeholder.
func inPlaceholder(s string, start, end int) bool {
	return start > 0 && end < len(s) && s[start-1] == '[' && s[end] == ']' && placeholder.MatchString(s[start-1:end+1])
}

// learn remembers a name, unless it may as well be another word.
func learn(known map[string]string, name, kind string) {
	if len(name) > 2 && !isWord(name) && !isAccount(name) {
		known[strings.ToLower(name)] = kind
		if like := shape(name); kind == host && like != "" {
			known[like] = kind
		}
	}
}

// shape is what the names of a row of machines share: web#-# of web01-a and
// web2-b; "" where a name is of no row.
func shape(name string) string {
	if !rowed.MatchString(name) {
		return ""
	}
	return rowed.ReplaceAllString(strings.ToLower(name), "$1#")
}

// rowed: a number, or one letter at the end.
var rowed = lazyregexp.New(`()[0-9]+|(-)[A-Za-z]$`)

func hasLetters(w string) bool { return strings.ContainsFunc(w, unicode.IsLetter) }

// name is one of a machine or an account. It has two characters or more, since what stands
// in its place must not make a text much longer.
const name = `[\pL\pN_](?:[\pL\pN_.-]*[\pL\pN_$])+`
