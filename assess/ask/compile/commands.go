package compile

import (
	"slices"
	"strings"

	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// searched are the folders in which a shell looks for a command.
var searched = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// maxCommands bounds the commands of a script that are looked for.
const maxCommands = 400

// commands says which programs a shell script calls that are not there. Words that are no
// programs, such as a shell's own, are so on each machine.
func (a *Answers) commands(fsys host.FS, script string) {
	b, err := host.ReadFile(fsys, strings.TrimPrefix(script, "/"), maxProgram)
	if err != nil {
		return
	}
	for _, c := range calls(string(b)) {
		if at := command(fsys, c.name); at != "" {
			a.Files["sh "+c.name] = at
			continue
		}
		a.Troubles[script] = append(a.Troubles[script], Trouble{Kind: "command", Name: c.name, Line: c.line, Text: "no command " + c.name})
	}
}

// command is where a machine has a command; empty where it has not.
func command(fsys host.FS, name string) string {
	places := []string{name}
	if !strings.Contains(name, "/") {
		places = nil
		for _, dir := range searched {
			places = append(places, dir+"/"+name)
		}
	}
	for _, at := range places {
		if info, err := fsys.Stat(strings.TrimPrefix(at, "/")); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return resolved(fsys, at)
		}
	}
	return ""
}

// resolved is the file that a link leads to, as alternatives are links.
func resolved(fsys host.FS, at string) string {
	for range 8 {
		to, err := fsys.ReadLink(strings.TrimPrefix(at, "/"))
		switch {
		case err != nil:
			return at
		case strings.HasPrefix(to, "/"):
			at = to
		default:
			at = at[:strings.LastIndex(at, "/")+1] + to
		}
	}
	return at
}

// call is a command that a script calls.
type call struct {
	name string
	line int
}

// Words of a shell after which a command comes, and those that start one for another.
var (
	before  = []string{"then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "exec", "sudo", "nohup", "nice", "ionice", "env", "command", "xargs", "setsid", "eval"}
	probing = lazyregexp.New(`(?m)(?:^|[\s;(&|!])(?:command\s+-[vV]|which|type(?:\s+-\w+)*|hash|-x)\s+(?:/\S*/)?([\w.+-]+)`)
	defined = lazyregexp.New(`(?m)^\s*(?:function\s+)?([\w.+-]+)\s*\(\)|^\s*function\s+([\w.+-]+)|^\s*alias\s+([\w.+-]+)=`)
	plain   = lazyregexp.New(`^[A-Za-z0-9_/][A-Za-z0-9_.+/-]+$`)
	setting = lazyregexp.New(`^[A-Za-z_]\w*\+?=`)
	here    = lazyregexp.New(`^<<-?\s*["'\\]?([A-Za-z_]\w*)`)
)

// builtin are words that each shell has itself. Enterprise Linux has programs of these names,
// too, which nobody misses (bash(1), SHELL BUILTIN COMMANDS; dash(1), Builtins).
var builtin = strings.Fields(". : alias bg break cd command continue eval exec exit export false fc fg getopts hash jobs kill local printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait echo [ [[")

// calls are the commands that a script of a shell calls by name, each once, but the shell's
// own, those that it defines itself and those that it looks for before.
func calls(text string) []call {
	s := &shell{text: text, line: 1, begins: true}
	s.read()
	out := sliced.SetOf(builtin, func(name string) string { return name })
	for _, m := range slices.Concat(probing.FindAllStringSubmatch(text, -1), defined.FindAllStringSubmatch(text, -1)) {
		for _, name := range m[1:] {
			out[name] = true
		}
	}
	var all []call
	for _, c := range s.found {
		if base := c.name[strings.LastIndex(c.name, "/")+1:]; !out[c.name] && !out[base] && len(all) < maxCommands {
			out[c.name] = true
			all = append(all, c)
		}
	}
	return all
}

// shell reads a script so far as its commands show.
type shell struct {
	text   string
	at     int
	line   int
	begins bool   // a command comes next
	passes bool   // after one that starts another: its options come first
	named  bool   // an account comes next, as -u has it
	value  int    // how deep the value of a setting is, after which a command comes; 0 for none
	found  []call // in their order
	fresh  int    // of them, those of before this list of patterns
	open   []byte // what is open: ( of a command, " around it
	ends   []string
}

// read goes through the text, a piece at a time.
func (s *shell) read() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		quoted := len(s.open) > 0 && s.open[len(s.open)-1] == '"'
		switch {
		case c == '\\':
			s.skip(2)
		case c == '$' && strings.HasPrefix(s.text[s.at:], "$(("):
			s.until("))")
		case c == '$' && strings.HasPrefix(s.text[s.at:], "$("):
			s.open = append(s.open, '(')
			s.begin(2)
		case c == '$' && strings.HasPrefix(s.text[s.at:], "${"):
			s.until("}")
			s.begins = false
		case c == '"':
			s.quote(quoted)
		case quoted:
			s.skip(1)
		case c == '\'':
			s.skip(1)
			s.until("'")
			s.begins = false
		default:
			s.plainly(c)
		}
	}
}

// plainly reads what no quotes are around.
func (s *shell) plainly(c byte) {
	switch {
	case c == '\n':
		s.newline()
	case c == '#' && (s.at == 0 || strings.ContainsRune(" \t\n;", rune(s.text[s.at-1]))):
		if n := strings.IndexByte(s.text[s.at:], '\n'); n > 0 {
			s.at += n
		} else {
			s.at = len(s.text)
		}
	case c == '<' && here.MatchString(s.rest()):
		m := here.FindStringSubmatch(s.rest())
		s.ends = append(s.ends, m[1])
		s.skip(len(m[0]))
	case c == ')':
		s.closes()
	case c == '(':
		s.open = append(s.open, '(')
		s.begin(1)
	case strings.ContainsRune(";&|`", rune(c)):
		if s.begin(1); c == ';' {
			s.fresh = len(s.found)
		}
	case strings.ContainsRune(" \t\r<>", rune(c)):
		s.skip(1)
		if s.value == len(s.open)+1 {
			s.begins, s.value = true, 0
		}
	default:
		s.word()
	}
}

func (s *shell) rest() string { return s.text[s.at:min(len(s.text), s.at+200)] }

// skip goes on by some bytes.
func (s *shell) skip(n int) {
	to := min(s.at+n, len(s.text))
	s.line += strings.Count(s.text[s.at:to], "\n")
	s.at = to
}

// until goes on behind an end.
func (s *shell) until(end string) {
	i := strings.Index(s.text[s.at:], end)
	if i < 0 {
		i = len(s.text) - s.at
	}
	s.skip(i + len(end))
}

// begin has a command come next.
func (s *shell) begin(n int) {
	s.skip(n)
	s.begins, s.passes, s.named = true, false, false
	if s.value > len(s.open) {
		s.value = 0
	}
}

func (s *shell) quote(quoted bool) {
	if quoted {
		s.open = s.open[:len(s.open)-1]
	} else {
		s.open = append(s.open, '"')
	}
	s.skip(1)
	s.begins = false
}

// closes ends what is in parentheses; without any that is open, what stood before are
// patterns of a case.
func (s *shell) closes() {
	if n := len(s.open); n > 0 {
		s.open = s.open[:n-1]
		s.skip(1)
		s.begins = s.text[s.at-2] == '(' // of a function's name
		return
	}
	s.found = s.found[:min(s.fresh, len(s.found))]
	s.begin(1)
}

// newline ends a line, and passes over documents that begin at its end.
func (s *shell) newline() {
	s.begin(1)
	s.fresh = len(s.found)
	for _, end := range s.ends {
		for s.at < len(s.text) {
			line, _, _ := strings.Cut(s.text[s.at:], "\n")
			s.skip(len(line) + 1)
			if strings.TrimSpace(line) == end {
				break
			}
		}
	}
	s.ends = nil
}

// word reads a word, which may be a command.
func (s *shell) word() {
	n := strings.IndexAny(s.text[s.at:], " \t\r\n;&|()<>`\"'$\\")
	if n < 0 {
		n = len(s.text) - s.at
	}
	n = max(n, 1)
	word, line := s.text[s.at:s.at+n], s.line
	after := byte(' ')
	if s.at+n < len(s.text) {
		after = s.text[s.at+n]
	}
	s.skip(n)
	switch {
	case !s.begins:
	case setting.MatchString(word):
		if strings.ContainsRune(`"'$\`, rune(after)) {
			s.begins, s.value = false, len(s.open)+1
		}
	case slices.Contains(before, word):
		s.passes = true
	case s.passes && (s.named || word[0] == '-' || strings.Trim(word, "0123456789") == ""):
		s.named = word == "-u" || word == "-g"
	default:
		if plain.MatchString(word) && !strings.ContainsRune("\"'$\\(", rune(after)) {
			s.found = append(s.found, call{word, line})
		}
		s.begins, s.passes = false, false
	}
}
