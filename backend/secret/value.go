package secret

import (
	"math"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// classify tells by a name what its value is; nothing where the name says
// nothing.
func classify(word string) how {
	word = word[max(0, len(word)-64):]
	whole := strings.TrimRight(word, "0123456789")
	plain := plainName(whole)
	if len(plain) < 2 {
		return ""
	}
	found := how("")
	for _, n := range names()[plain[len(plain)-1]] {
		switch {
		case !strings.HasSuffix(plain, n.text):
		case n.how == "not":
			return ""
		case found == "" && (n.how == "end" || plain == n.text || lastWord(whole) == n.text):
			found = n.how
		}
	}
	return found
}

// plainName is a name without its case and what parts its words.
func plainName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name))
}

// lastWord is the last word of a name, as in db_pass and dbPass, in lower case.
func lastWord(name string) string {
	name = strings.TrimRight(name, "_-.")
	i := len(name)
	for i > 0 && alphanumeric(name[i-1]) {
		i--
		if i > 0 && name[i] >= 'A' && name[i] <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			break
		}
	}
	return strings.ToLower(name[i:])
}

// words are values that say something of a secret, and are none.
var words = []string{
	"yes", "no", "true", "false", "on", "off", "none", "null", "nil", "undef", "undefined", "default", "enabled", "disabled", "never", "always", "auto", "random", "string", "text", "ask", "prompt", "empty", "unset", "not",
	"filtered", "redacted", "masked", "hidden", "removed", "omitted", "sensitive", // what others put in place of one
	"exop", "clear", "crypt", "nds", // pam_password of nslcd.conf(5) and ldap.conf(5)
	"required", "requisite", "sufficient", "optional", "include", "substack", "auth", "account", "session", "chauthtok", // pam.conf(5) and what its modules call their phases
	"files", "compat", "sss", "ldap", "nis", "nisplus", "db", "winbind", "systemd", "cache", "altfiles", "extrausers", // nsswitch.conf(5)
}

var (
	// reference: $NAME, ${NAME}, $(command), %(name)s, %s, {{ name }}, <name>, @NAME@.
	reference = lazyregexp.New(`^(?:\$[A-Za-z_]\w*(?:$|->|\[|::|/)|\$[0-9@*#?](?:$|[^$\w./])|\$[{(]|\x60|\{\{|\{%|%[({]|%[a-zA-Z]$|%[a-zA-Z]:|<[^>]*>$|@\w+@$|&\$|\\\$)`)
	// place: a file, or where a program finds the secret.
	place = lazyregexp.New(`^(?:/(?:etc|var|usr|run|home|root|opt|srv|tmp|dev|proc|sys|mnt|media|lib|data|boot|bin|sbin|path)(?:/|$)|~/|\.\.?/|file:|env:|fd:|unix:|stdin$|\w:\\)`)
	// call: a call of a function, or the member of an object.
	call = lazyregexp.New(`^(?:[&A-Za-z_$][\w.:>-]*\(|self\.|this\.|os\.environ|ENV\[|new )`)
	// port: of /etc/services; community numbers of BGP.
	port = lazyregexp.New(`^[0-9]+(?:[/:](?:tcp|udp|sctp|ddp|dccp|[0-9]+)?$|$)`)
	// release: what APT pins.
	pinned = lazyregexp.New(`^(?:release|origin|version) `)
)

// plausible reports whether the value of a name may be secret.
func plausible(name, value string, of how) bool {
	value = strings.TrimRight(strings.TrimSpace(value), ",;")
	first, _, _ := strings.Cut(value, " ")
	switch {
	case len(value) < 2 || value[0] == '#' || strings.HasPrefix(value, "--") || value == Masked || strings.Trim(value, value[:1]) == "" || !strings.ContainsFunc(value, letterOrDigit),
		strings.EqualFold(value, name), slices.Contains(words, strings.ToLower(strings.Trim(first, "()[]<>*:"))), // (using password: NO)
		reference.MatchString(value), place.MatchString(value), call.MatchString(value), prompt(value):
		return false
	case of == "weak" || of == "next":
		return generated(value)
	case of == "pin":
		return len(value) >= 4 && strings.Trim(value, "0123456789") == ""
	}
	return len(value) > 3 && !strings.ContainsAny(value, "/:") || !port.MatchString(value)
}

func letterOrDigit(r rune) bool { return r >= 0x80 || alphanumeric(byte(r)) }

// prompt reports whether a value is a sentence about a password.
func prompt(value string) bool {
	if pinned.MatchString(value) {
		return true
	}
	if !strings.Contains(value, " ") {
		return false
	}
	for word := range strings.FieldsSeq(value) {
		if how := classify(strings.Trim(word, ".:,;!?()\"'")); how == "end" {
			return true
		}
	}
	return false
}

// generated reports whether a value looks as programs make tokens: long, with
// digits among its letters, and hardly a character twice in a row. A hexadecimal
// number of 16 digits has some 3 bits a character.
func generated(value string) bool {
	if len(value) < 16 || len(value) > 4096 || place.MatchString(value) || strings.Contains(value, "://") {
		return false
	}
	digits := strings.ContainsAny(value, "0123456789")
	letters := strings.ContainsFunc(value, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	return digits && letters && entropy(value) >= 2.9
}

// entropy is Shannon's, in bits a byte.
func entropy(value string) (bits float64) {
	var counts [256]int
	for i := range len(value) {
		counts[value[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
