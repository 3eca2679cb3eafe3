package hazards

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Condition says what a machine has: questions joined by and, or, not and
// parentheses. The arguments of a question stand between parentheses and commas,
// bare or in double quotes; a file may be a pattern, and several stand beside one
// another. Words such as @jobs stand for the files that many rows name (words.tsv): here
// all in which people write what runs by itself. Comments of files are never matched.
//
//	package(redis*)                package(openssh-server, "<8.7")
//	brought("rsyslog syslog-ng*")  the plan brings one of the packages to the target
//	path("/etc/init.d/*")          one of the files is there
//	own("/etc/apparmor.d/*")       one of the files is not as a package ships it
//	link(/etc/localtime, "/US/")   where a link leads has a match
//	line(FILES, "regexp")          a line has a match
//	wrote(FILES, "regexp")         the same, of files that are not as a package ships them
//	set(FILES, "name", "value")    a setting, whose whole name and value match; the value may be left out
//	sshd("name", "value")          the same of sshd, whose first setting of a name counts
//	mount(xfs, "(no)?barrier")     a line of fstab by its type and one whole option; the option may be left out
//	mounts(twice)                  fstab mounts twice at a place; disorder: a place after one below it
//	kernel("fips=1")               a whole argument of the kernel
//	unit("nfs-blkmap.*")           a unit that is enabled
//	fact(area, "key", "value")     what an assessment read; the value may be left out
//	certificate(sha1)              dsa, rsa<2048, sha1, md5, lax, of the machine's own
//	arch(i?86)                     the architecture
//	cpu(x86-64-v2)                 the processor, where it can be seen, lacks a level
//	from(el<9)                     the source's release or software
type Condition struct {
	text string
	root node
}

// String is the condition as it was written.
func (c Condition) String() string { return c.text }

// Match is what met a condition.
type Match struct {
	Names  []string // of what was found, in the machine's words
	Places []Place
	Pkgs   []string
	met    bool // by the question that was asked last
}

// met reports whether a machine meets the condition, and by what.
func (c Condition) met(m *Machine) (Match, bool) {
	var found Match
	ok := c.root.met(m, &found)
	return found, ok
}

type node interface {
	met(m *Machine, found *Match) bool
}

type (
	both     []node
	either   []node
	negation struct{ node }
	question struct {
		args []string
		rx   []*pattern // of args, where they are expressions
		ask  func(m *Machine, q *question, found *Match)
	}
)

func (n both) met(m *Machine, found *Match) bool {
	mark := *found
	for _, part := range n {
		if !part.met(m, found) {
			*found = mark
			return false
		}
	}
	return true
}

// either asks all, so that all that was found is told.
func (n either) met(m *Machine, found *Match) (ok bool) {
	for _, part := range n {
		if part.met(m, found) {
			ok = true
		}
	}
	return ok
}

func (n negation) met(m *Machine, _ *Match) bool { return !n.node.met(m, &Match{}) }

func (q *question) met(m *Machine, found *Match) bool {
	found.met = false
	q.ask(m, q, found)
	return found.met
}

// pattern is an expression that is compiled when it is used.
type pattern struct {
	text string
	once sync.Once
	rx   *regexp.Regexp
}

func (p *pattern) match(s string) bool {
	p.once.Do(func() { p.rx = regexp.MustCompile(p.text) })
	return p.rx.MatchString(s)
}

// Bounds of a condition.
const (
	maxCondition = 4096
	maxNesting   = 20
)

// ParseCondition reads a condition. Its error says at which letter it can't go on.
func ParseCondition(text string) (Condition, error) {
	p := &parser{text: text}
	if len(text) > maxCondition {
		return Condition{}, fmt.Errorf("it has over %d letters", maxCondition)
	}
	root, err := p.either(0)
	if err == nil && p.skip() != "" {
		err = fmt.Errorf("%q stands where and, or, or the end is expected", short(p.rest()))
	}
	if err != nil {
		return Condition{}, fmt.Errorf("%.80q, at letter %d: %w", text, p.at+1, err)
	}
	return Condition{text, root}, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) rest() string { return p.text[p.at:] }

// skip goes over spaces, and gives what follows.
func (p *parser) skip() string {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " "))
	return p.rest()
}

// word takes a word, if it stands here.
func (p *parser) word(w string) bool {
	rest := p.skip()
	if !strings.HasPrefix(rest, w) || len(rest) > len(w) && isLetter(w[len(w)-1]) && isLetter(rest[len(w)]) {
		return false
	}
	p.at += len(w)
	return true
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b == '_' }

func short(s string) string { return s[:min(len(s), 20)] }

func (p *parser) either(depth int) (node, error) { return joined[either](p, "or", p.both, depth) }

func (p *parser) both(depth int) (node, error) { return joined[both](p, "and", p.single, depth) }

// joined reads one part or more, with a word between them.
func joined[T interface {
	~[]node
	node
}](p *parser, word string, part func(depth int) (node, error), depth int) (node, error) {
	n, err := part(depth)
	for parts := (T{n}); err == nil && p.word(word); n = parts {
		var next node
		if next, err = part(depth); err == nil {
			parts = append(parts, next)
		}
	}
	return n, err
}

func (p *parser) single(depth int) (node, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("it is over %d levels deep", maxNesting)
	}
	switch {
	case p.word("not"):
		n, err := p.single(depth + 1)
		return negation{n}, err
	case p.word("("):
		n, err := p.either(depth + 1)
		if err == nil && !p.word(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return n, err
	}
	return p.question()
}

func (p *parser) question() (node, error) {
	p.skip()
	begin := p.at
	for p.at < len(p.text) && isLetter(p.text[p.at]) {
		p.at++
	}
	name := p.text[begin:p.at]
	kind, ok := questions[name]
	if !ok {
		p.at = begin
		return nil, fmt.Errorf("%q begins no question: there are %s", short(p.rest()), strings.Join(questionNames(), ", "))
	}
	if !p.word("(") {
		return nil, fmt.Errorf("%s has its arguments in parentheses", name)
	}
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	if len(args) < kind.least || len(args) > kind.most {
		return nil, fmt.Errorf("%s has %d arguments, not %d to %d", name, len(args), kind.least, kind.most)
	}
	q := &question{args: args, rx: make([]*pattern, len(args)), ask: kind.ask}
	if kind.check != nil {
		if err := kind.check(args); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for i := kind.patterns; i < len(args); i++ {
		text := args[i]
		if kind.whole {
			text = "(?i)^(?:" + text + ")$"
		}
		if _, err := syntax.Parse(text, syntax.Perl); err != nil { // as Compile does, which costs more
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		q.rx[i] = &pattern{text: text}
	}
	return q, nil
}

// arguments are what stands up to the closing parenthesis.
func (p *parser) arguments() (args []string, err error) {
	for {
		rest := p.skip()
		if rest == "" {
			return nil, errors.New("a parenthesis is not closed")
		}
		if rest[0] == '"' {
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return nil, errors.New("a quote is not closed")
			}
			args = append(args, rest[1:1+end])
			p.at += end + 2
		} else {
			end := strings.IndexAny(rest, ",)")
			if end < 0 {
				return nil, errors.New("a parenthesis is not closed")
			}
			args = append(args, strings.TrimSpace(rest[:end]))
			p.at += end
		}
		if args[len(args)-1] == "" {
			return nil, errors.New("an argument is empty")
		}
		switch {
		case p.word(")"):
			return args, nil
		case !p.word(","):
			return nil, errors.New("a comma or a parenthesis is expected")
		}
	}
}

// kind is a kind of question.
type kind struct {
	least, most int
	patterns    int  // arguments from here on are expressions; none where that is most
	whole       bool // which match all of a text, whatever its case
	check       func(args []string) error
	ask         func(m *Machine, q *question, found *Match)
}

func questionNames() []string { return slices.Sorted(maps.Keys(questions)) }

// absolute refuses files that are none.
func absolute(args []string) error {
	for _, file := range patterns(args[0]) {
		if _, err := path.Match(file, ""); err != nil || !path.IsAbs(file) || path.Clean(file) != file {
			return fmt.Errorf("%q is not the whole path of a file, or a pattern of one", file)
		}
	}
	return nil
}
