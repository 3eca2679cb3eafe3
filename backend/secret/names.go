package secret

import "strings"

// names finds the values whose names say that they are secret.
func (l *reader) names() {
	for i := 0; i < len(l.text); {
		if !inWord(l.text[i]) {
			i++
			continue
		}
		j := i
		for j < len(l.text) && inWord(l.text[j]) {
			j++
		}
		l.digest(i, j)
		if i == l.indent {
			l.directive(i, j)
		}
		if of := classify(l.text[i:j]); of != "" {
			l.valueOf(word{i, j, of})
		}
		i = max(j, l.told)
	}
}

func inWord(c byte) bool { return alphanumeric(c) || c == '_' || c == '-' || c == '.' }

// word is a name in a line, and what it tells of its value.
type word struct {
	start, end int
	of         how
}

// valueOf notes the value of a name.
func (l *reader) valueOf(w word) {
	at, quoted := w.end, false
	before := byte(0)
	if w.start > 0 {
		before = l.text[w.start-1]
	}
	if q := l.quote(at); q > 0 && isQuote(before) {
		at, quoted = at+q, true
	}
	if before == '[' && l.text[w.start:w.end] == "secret" && strings.HasPrefix(l.text[w.end:], "]:") {
		return // Masked itself, before what is said of it
	}
	if before == '!' && strings.HasPrefix(l.text[at:], ":") {
		return // a cipher that a list leaves out: !PSK:!RC4
	}
	at += len(l.near(at)) - len(strings.TrimLeft(l.near(at), "])"))
	spaced := at
	at = l.skip(at)
	switch sep := separator(l.text[at:], quoted, before == '<' || quoted); {
	case w.of == "next":
		l.next(w, at)
	case sep > 0 && w.of == "by":
	case sep > 0 && w.of == "header":
		l.header(l.skip(at + sep))
	case sep > 0:
		l.value(w, l.skip(at+sep), quoted, strings.IndexByte(":>", l.text[at+sep-1]) >= 0)
	case !quoted && at > spaced && at < len(l.text):
		l.spaced(w, at)
	}
}

// separators stand between a name and its value.
var separators = []string{":=", "=>", "+=", "?=", "::", "=", ":"}

// separator is the length of what parts a name and its value, or 0.
func separator(rest string, quoted, tag bool) int {
	switch {
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "=~"), strings.HasPrefix(rest, "::") && !strings.HasPrefix(rest, ":: "), strings.HasPrefix(rest, "://"), strings.HasPrefix(rest, ":-"), strings.HasPrefix(rest, ":+"), strings.HasPrefix(rest, ":?"):
		return 0
	case tag && strings.HasPrefix(rest, ">"):
		return 1
	case quoted && strings.HasPrefix(rest, ","): // define('NAME', 'value')
		if more := strings.TrimLeft(rest[1:], " \t"); more != "" && isQuote(more[0]) {
			return 1
		}
		return 0
	case quoted && strings.HasPrefix(rest, "value="): // XML: name="NAME" value="value"
		return len("value=")
	}
	for _, s := range separators {
		if strings.HasPrefix(rest, s) {
			return len(s)
		}
	}
	return 0
}

// value notes the value that begins at a place, after a separator; after a colon
// many words without a digit are prose.
func (l *reader) value(w word, at int, quotedName, colon bool) {
	start, end := l.extent(w, at, quotedName)
	text := l.text[start:end]
	trimmed := strings.TrimRight(text, " \t\r,;")
	if bare := start == at; bare && colon && strings.Count(trimmed, " ") > 2 && !strings.ContainsAny(trimmed, "0123456789") {
		return // prose
	}
	if len(trimmed) >= maxValue || plausible(l.text[w.start:w.end], trimmed, w.of) {
		l.put(start, start+len(trimmed), Password, l.remark && !generated(trimmed))
	}
}

// extent is from where to where a value goes: to its closing quote, to the end of
// the line where it is alone on it, or else to the next space.
func (l *reader) extent(w word, at int, quotedName bool) (start, end int) {
	if q := l.quote(at); q > 0 {
		start = at + q
		return start, start + closing(l.near(start), l.text[at+q-1], q == 2)
	}
	rest := l.near(at)
	if w.start > 0 && isQuote(l.text[w.start-1]) && !quotedName { // "NAME=value"
		if i := strings.IndexByte(rest, l.text[w.start-1]); i >= 0 {
			return at, at + i
		}
	}
	if w.start > 0 && l.text[w.start-1] == '<' {
		return at, at + cut(rest, "<")
	}
	if w.start > 0 && strings.IndexByte("?&", l.text[w.start-1]) >= 0 {
		return at, at + cut(rest, " \t\"'<>`&")
	}
	first := cut(rest, " \t\"'<`")
	if !l.alone(w) || first < len(rest) && l.isCommand(w, rest[first:]) {
		return at, at + first
	}
	for _, mark := range []string{" #", "\t#", " ;", "\t;"} {
		if i := strings.Index(rest, mark); i >= 0 {
			rest = rest[:i]
		}
	}
	return at, at + len(rest)
}

// alone reports whether a line begins with the name, as settings do.
func (l *reader) alone(w word) bool {
	before := strings.TrimLeft(l.text[:min(w.start, 200)], " \t#;/-")
	return before == "" || before == "export " || before == "set "
}

// isCommand reports whether a variable is set for one command: NAME=value program.
func (l *reader) isCommand(w word, rest string) bool {
	name := l.text[w.start:w.end]
	rest = strings.TrimLeft(rest, " \t")
	return strings.ToUpper(name) == name && l.text[w.end] == '=' && rest != "" && (rest[0] == '/' || rest[0] >= 'a' && rest[0] <= 'z' || rest[0] == '"' || strings.Contains(rest, "="))
}

// spaced notes a value that only a space parts from its name: all that a line
// says, or in quotes, or after a user's name.
func (l *reader) spaced(w word, at int) {
	if l.text[w.start:at] == "" || w.start > 0 && l.text[w.start-1] == '-' {
		return
	}
	if q := l.quote(at); q > 0 {
		if w.of == "by" && !l.identified(w.start) || w.of == "weak" || w.of == "end" && isProse(l.text[w.start:w.end]) && !l.begins(w) {
			return
		}
		start := at + q
		end := start + closing(l.near(start), l.text[at+q-1], q == 2)
		if plausible(l.text[w.start:w.end], l.text[start:end], w.of) {
			l.put(start, end, Password, l.remark)
		}
		return
	}
	if w.of != "end" {
		return
	}
	end := at + cut(l.near(at), " \t;}")
	rest := strings.TrimLeft(l.near(end), " \t;}\r")
	before := strings.Fields(l.text[max(0, w.start-200):w.start])
	n := len(before)
	announced := n > 1 && (before[n-2] == "login" || before[n-2] == "user" || before[n-2] == "username" || before[n-2] == "account") ||
		n == 1 && (before[0] == "SetEnv" || before[0] == "set" || before[0] == "option" || before[0] == "fastcgi_param" || before[0] == "uwsgi_param")
	if !l.remark && (announced || l.begins(w) && (rest == "" || rest[0] == '#')) && plausible(l.text[w.start:w.end], l.text[at:end], w.of) {
		l.put(at, end, Password, false)
	}
}

// isProse reports whether a name is also a word of prose, after which quotes mean
// nothing: "to pass "-v" on".
func isProse(name string) bool {
	return name == "pass" || name == "secret" || name == "token" || name == "community"
}

// begins reports whether a statement begins with the name.
func (l *reader) begins(w word) bool {
	before := strings.TrimRight(l.text[max(0, w.start-200):w.start], " \t")
	return before == "" || strings.IndexByte("{;", before[len(before)-1]) >= 0
}

// identified reports whether the words IDENTIFIED of SQL stands before a place.
func (l *reader) identified(at int) bool {
	before := strings.TrimRight(l.text[max(0, at-64):at], " \t")
	return len(before) >= 10 && strings.EqualFold(before[len(before)-10:], "identified")
}

// header notes what a header for authorization says, but for its scheme.
func (l *reader) header(at int) {
	if q := l.quote(at); q > 0 {
		at += q
	}
	end := at + cut(l.near(at), "\"'`\\")
	if i := strings.IndexByte(l.text[at:end], ' '); i > 0 && strings.Trim(l.text[at:at+i], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") == "" {
		at = l.skip(at + i)
	}
	if at < end && plausible("", l.text[at:end], "end") {
		l.put(at, end, Token, l.remark && !generated(l.text[at:end]))
	}
}

// next notes the word that follows, where a program made it.
func (l *reader) next(w word, at int) {
	end := at + cut(l.near(at), " \t\"'`,;)")
	if plausible(l.text[w.start:w.end], l.text[at:end], w.of) {
		l.put(at, end, Token, false)
	}
}

// directive notes the words of a line that are secret by the line's first word,
// or by its first two.
func (l *reader) directive(start, end int) {
	if !begins()[l.text[start:end]] {
		return
	}
	args := arguments(l.text[end:])
	places := directives()[l.text[start:end]]
	if len(places) == 0 && len(args) > 0 {
		places = directives()[l.text[start:end]+" "+args[0].text]
	}
	for _, at := range places {
		if at.word > len(args) {
			continue
		}
		a := args[at.word-1]
		if at.paired {
			_, after, _ := strings.Cut(a.text, ":")
			a.start, a.text = a.end-len(after), after
		}
		if plausible("", a.text, "end") {
			l.put(end+a.start, end+a.end, Password, l.remark)
		}
	}
}

// digest notes a word that is a digest by what stands around it: md5… of
// PostgreSQL in quotes, *… of MySQL, the fields of smbpasswd and htdigest.
func (l *reader) digest(start, end int) {
	text := l.text[start:end]
	if len(text) >= 35 && strings.HasPrefix(text, "AA") && start > 8 && l.text[start-1] == ':' && strings.Trim(l.text[start-9:start-1], "0123456789") == "" {
		l.put(start, end, Token, false) // of a bot of Telegram: 123456789:AA…
		return
	}
	if len(text) < 32 || len(text) > 40 || strings.Trim(text[max(0, len(text)-32):], "0123456789abcdefABCDEF") != "" {
		return
	}
	before, after := byte(' '), byte('\n')
	if start > 0 {
		before = l.text[start-1]
	}
	if end < len(l.text) {
		after = l.text[end]
	}
	fields := before == ':' && strings.Count(l.text[max(0, start-200):start], ":") >= 2
	switch {
	case len(text) == 35 && strings.HasPrefix(text, "md5") && isQuote(before),
		len(text) == 40 && before == '*' && strings.ToUpper(text) == text,
		len(text) == 32 && fields && (after == '\n' || after == '\r' || strings.HasPrefix(l.text[end:], ":[") || strings.HasPrefix(l.text[end:], ":") && strings.Contains(l.text[end:min(end+64, len(l.text))], ":[")):
		if strings.Trim(text, text[:1]) != "" {
			l.put(start, end, Digest, false)
		}
	}
}
