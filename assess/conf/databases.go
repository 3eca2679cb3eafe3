package conf

import (
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// PostgreSQL are the settings of a postgresql.conf. A name is in lower case, as its server
// takes it in any; a value stands behind an equals sign or none, and is without its quotes.
func PostgreSQL(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for n, line := range active(text, "#") {
			end := strings.IndexFunc(line, func(c rune) bool { return !strings.ContainsRune(postgreSQLName, c) })
			if end < 0 {
				end = len(line)
			}
			rest := strings.TrimLeft(line[end:], " \t")
			value, set := strings.CutPrefix(rest, "=")
			l := Line{N: n, Key: strings.ToLower(line[:end]), Value: postgreSQLValue(strings.TrimLeft(value, " \t")), Set: set}
			if end > 0 && !yield(l) {
				return
			}
		}
	}
}

// postgreSQLName has what a setting's name is made of.
const postgreSQLName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

// postgreSQLValue is a value without its quotes, of which two are one, and without what is
// noted behind it.
func postgreSQLValue(s string) string {
	quoted, isQuoted := strings.CutPrefix(s, "'")
	if !isQuoted {
		s, _, _ = strings.Cut(s, "#")
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	for i := 0; i < len(quoted); i++ {
		switch c := quoted[i]; {
		case (c == '\'' || c == '\\') && i+1 < len(quoted) && (c == '\\' || quoted[i+1] == '\''):
			i++
			b.WriteByte(quoted[i])
		case c == '\'':
			return b.String()
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// hbaKinds are the kinds of connections that a line of pg_hba.conf may be about.
var hbaKinds = []string{"local", "host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc"}

// HBA are the words of a line of pg_hba.conf, of which what stands in quotes is one, and
// which of them is the method of authentication: -1 where it is no line of such a form.
func HBA(line string) (words []string, method int) {
	line, _, _ = strings.Cut(line, "#")
	quoted := false
	words = strings.FieldsFunc(line, func(c rune) bool {
		if c == '"' {
			quoted = !quoted
		}
		return !quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n')
	})
	switch {
	case len(words) == 0 || !slices.Contains(hbaKinds, words[0]):
		return words, -1
	case words[0] == "local":
		method = 3
	case len(words) > 4 && strings.Count(words[4], ".") == 3 && !strings.Contains(words[3], "/"):
		method = 5 // behind an address and its mask
	default:
		method = 4
	}
	if method >= len(words) {
		return words, -1
	}
	return words, method
}

// MySQL are the lines of a my.cnf, with the sections above them; "!include" and
// "!includedir" are keys. Values are without what is noted behind them; they keep their quotes.
func MySQL(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for l := range INI(text) {
			if command, file, ok := strings.Cut(l.Key, " "); ok && strings.HasPrefix(command, "!") {
				l.Key, l.Value, l.Set = command, strings.TrimSpace(file), true
			}
			l.Key = strings.TrimSpace(l.Key)
			l.Value, _, _ = strings.Cut(l.Value, "#")
			if l.Value = strings.TrimSpace(l.Value); !yield(l) {
				return
			}
		}
	}
}

// ErrQuotes is that of a line of redis.conf, with which its server does not start.
var ErrQuotes = errors.New("a line's quotes are not closed")

// Redis are the words of each line of a redis.conf that says something, as its server
// splits them: by space, in quotes with \xHH and \n in them, or in single ones.
func Redis(text string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for line := range strings.Lines(text) {
			words, err := RedisWords(strings.TrimSpace(line))
			if (err != nil || len(words) > 0) && !yield(words, err) {
				return
			}
		}
	}
}

// RedisWords are those of one line; a comment has none.
func RedisWords(line string) (words []string, err error) {
	for line = strings.TrimLeft(line, " \t"); line != "" && (line[0] != '#' || words != nil); line = strings.TrimLeft(line, " \t") {
		word, rest, err := redisWord(line)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), rest
	}
	return words, nil
}

// redisWord takes the first word off.
func redisWord(line string) (word, rest string, err error) {
	if line[0] != '"' && line[0] != '\'' {
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			i = len(line)
		}
		return line[:i], line[i:], nil
	}
	var b strings.Builder
	quote := line[0]
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == quote:
			return b.String(), line[i+1:], nil
		case line[i] != '\\' || i+1 == len(line):
			b.WriteByte(line[i])
		default:
			n := escaped(&b, line[i+1:], quote)
			i += n
		}
	}
	return "", "", ErrQuotes
}

// escaped writes what stands after a backslash, and says how much of it counts.
func escaped(b *strings.Builder, s string, quote byte) int {
	if quote == '\'' {
		if s[0] != '\'' {
			b.WriteByte('\\')
			return 0
		}
	} else if n, err := strconv.ParseUint(s[min(1, len(s)):min(3, len(s))], 16, 8); s[0] == 'x' && len(s) >= 3 && err == nil {
		b.WriteByte(byte(n))
		return 3
	} else if i := strings.IndexByte("nrtba", s[0]); i >= 0 {
		b.WriteByte("\n\r\t\b\a"[i])
		return 1
	}
	b.WriteByte(s[0])
	return 1
}
