package secret

import (
	"path"
	"strings"
)

// maxQuotes bounds how deep commands stand in quotes of others, as of sh -c.
const maxQuotes = 3

// commands finds the secrets among the options of commands.
func (l *reader) commands() { l.commandsIn(0, len(l.text), maxQuotes) }

// commandsIn reads a part of the line, and what in it stands in quotes.
func (l *reader) commandsIn(start, end, deep int) {
	if text := l.text[start:end]; deep == 0 || !strings.Contains(text, " -") && !strings.Contains(text, "chpasswd") {
		return
	}
	args := arguments(l.text[start:end])
	for i := range args {
		args[i].start += start
		args[i].end += start
	}
	options, given := []option(nil), 0
	for i, a := range args {
		if a.ends {
			options = nil
			continue
		}
		l.commandsIn(a.start, a.end, deep-1)
		if more, ok := programs()[path.Base(a.text)]; ok {
			options = more
			continue
		}
		if a.text == "chpasswd" || strings.HasSuffix(a.text, "/chpasswd") {
			l.chpasswd(args[given:i])
			given = i
		}
		if strings.HasPrefix(a.text, "-") {
			l.option(a, args[i+1:], options)
		}
	}
}

// option notes the secret of one option: by its own name, or by its program.
func (l *reader) option(a argument, rest []argument, options []option) {
	next := argument{}
	if len(rest) > 0 && !rest[0].ends && !strings.HasPrefix(rest[0].text, "-") {
		next = rest[0]
	}
	if name := strings.TrimLeft(a.text, "-"); len(name) > 3 && !strings.ContainsAny(name, "=:") && classify(name) == "end" && next.start == l.skip(min(a.end, len(l.text))+quotesAfter(l.text, a.end, next)) {
		l.secretArgument(name, next.start, next.end)
	}
	for _, o := range options {
		joined := strings.HasPrefix(a.text, o.flag) && len(a.text) > len(o.flag) && o.flag != "-" && (len(o.flag) == 2 || a.text[len(o.flag)] == '=')
		switch {
		case joined && (o.how == "joined" || o.how == "either" || o.how == "pair"):
			l.pair(o, a.start+len(o.flag), a.end)
		case a.text == o.flag && o.how != "joined":
			l.pair(o, next.start, next.end)
		}
	}
}

// quotesAfter is 1 where the next argument stands in quotes.
func quotesAfter(text string, at int, next argument) int {
	if next.start > at && isQuote(text[next.start-1]) {
		return next.start - at
	}
	return 0
}

// pair notes a secret, or what of a pair is one.
func (l *reader) pair(o option, start, end int) {
	if start < end && isQuote(l.text[start]) {
		start++
		end -= min(1, end-start)
	}
	if o.how == "pair" {
		i := strings.Index(l.text[start:end], o.parted)
		if i < 0 {
			return
		}
		if user := l.text[start : start+i]; user == "file" || user == "env" || user == "fd" {
			return
		}
		start += i + len(o.parted)
	}
	l.secretArgument("", start, end)
}

func (l *reader) secretArgument(name string, start, end int) {
	if start < end && plausible(name, l.text[start:end], "end") {
		l.put(start, end, Password, l.remark)
	}
}

// chpasswd notes what is given to chpasswd on the same line: user:password.
func (l *reader) chpasswd(args []argument) {
	for _, a := range args {
		if _, after, ok := strings.Cut(a.text, ":"); ok {
			l.secretArgument("", a.end-len(after), a.end)
		}
	}
}
