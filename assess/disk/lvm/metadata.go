package lvm

import (
	"slices"
	"strconv"
	"strings"

	"svc/assess/disk/block"
)

// section is a named part of the metadata: values, and sections in it.
type section struct {
	values   map[string][]string // a number or text is a list of one
	sections map[string]*section
	names    []string // of the sections, in their order
}

const maxNesting = 16

// parse reads the form of LVM's configuration: `name = value`, `name { … }`,
// lists in brackets, and comments.
func parse(text string) (*section, error) {
	p := &parser{rest: text}
	return p.section(0)
}

type parser struct {
	rest   string
	tokens int
}

// maxTokens bounds what metadata becomes in memory.
const maxTokens = 400_000

// token gives the next word, text without its quotes, or mark; empty at the end.
func (p *parser) token() (token string, quoted bool) {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n\x00")
		if !strings.HasPrefix(p.rest, "#") {
			break
		}
		_, p.rest, _ = strings.Cut(p.rest, "\n")
	}
	if p.tokens++; p.rest == "" || p.tokens > maxTokens {
		return "", false
	}
	if p.rest[0] == '"' {
		return p.quoted(), true
	}
	n := strings.IndexAny(p.rest, " \t\r\n\x00={}[],#\"")
	switch n {
	case -1:
		n = len(p.rest)
	case 0:
		n = 1
	}
	token, p.rest = p.rest[:n], p.rest[n:]
	return token, false
}

// quoted reads a text, in which a backslash goes before quotes and itself.
func (p *parser) quoted() string {
	var text strings.Builder
	i := 1
	for ; i < len(p.rest) && p.rest[i] != '"'; i++ {
		if p.rest[i] == '\\' && i+1 < len(p.rest) {
			i++
		}
		text.WriteByte(p.rest[i])
	}
	p.rest = p.rest[min(i+1, len(p.rest)):]
	return text.String()
}

// section reads up to the end of a section, or that of the text.
func (p *parser) section(depth int) (*section, error) {
	if depth > maxNesting {
		return nil, block.Damaged("metadata that is nested too deep")
	}
	s := &section{values: map[string][]string{}, sections: map[string]*section{}}
	for {
		name, _ := p.token()
		if name == "}" && depth > 0 || p.rest == "" && name == "" && depth == 0 {
			return s, nil
		}
		next, _ := p.token()
		var err error
		switch {
		case name == "" || next == "":
			return nil, block.Damaged("metadata that is cut short")
		case next == "{":
			if s.sections[name], err = p.section(depth + 1); err != nil {
				return nil, err
			}
			s.names = append(s.names, name)
		case next == "=":
			if s.values[name], err = p.value(); err != nil {
				return nil, err
			}
		default:
			return nil, block.Damaged("metadata with %q after %q", next, name)
		}
	}
}

// value reads a value or a list of them.
func (p *parser) value() ([]string, error) {
	token, quoted := p.token()
	if quoted || token != "[" {
		return []string{token}, nil
	}
	var list []string
	for {
		switch token, quoted = p.token(); {
		case quoted:
			list = append(list, token)
		case token == "]":
			return list, nil
		case token == "":
			return nil, block.Damaged("metadata that is cut short")
		case token != ",":
			list = append(list, token)
		}
	}
}

func (s *section) text(name string) string {
	if v := s.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// number is a value below a bound, or -1.
func (s *section) number(name string) int64 { return number(s.text(name)) }

// maxNumber bounds sectors and extents, so that none of their products overflow.
const maxNumber = 1 << 41

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > maxNumber {
		return -1
	}
	return n
}

// section gives a section in s; one that is not there is empty.
func (s *section) section(name string) *section {
	if found := s.sections[name]; found != nil {
		return found
	}
	return &section{}
}

// group is a volume group.
type group struct {
	name, id string
	seqno    int64
	extent   int64 // bytes
	physical map[string]knownPhysical
	logical  []logical
}

// knownPhysical is a physical volume as the group knows it.
type knownPhysical struct {
	id      string
	start   int64 // bytes before its first extent
	extents int64
}

// logical is a logical volume.
type logical struct {
	name     string
	visible  bool
	segments []segment
}

// segment is a stretch of a logical volume; counts are in extents.
type segment struct {
	first, count int64
	kind         string
	stripe       int64 // bytes
	stripes      []stripe
}

// stripe is where a part of a segment begins.
type stripe struct {
	physical string
	extent   int64
}

// parseGroup reads a group's metadata.
func parseGroup(text string) (*group, error) {
	whole, err := parse(text)
	if err != nil {
		return nil, err
	}
	if len(whole.names) != 1 {
		return nil, block.Damaged("metadata of %d groups", len(whole.names))
	}
	s := whole.section(whole.names[0])
	g := &group{name: whole.names[0], id: s.text("id"), seqno: s.number("seqno"), physical: map[string]knownPhysical{}}
	if g.extent = s.number("extent_size") * sector; g.extent <= 0 || g.extent > maxExtent {
		return nil, block.Damaged("extents of %s sectors", s.text("extent_size"))
	}
	members := s.section("physical_volumes")
	for _, name := range members.names {
		m := members.section(name)
		g.physical[name] = knownPhysical{plain(m.text("id")), m.number("pe_start") * sector, m.number("pe_count")}
	}
	volumes := s.section("logical_volumes")
	for _, name := range volumes.names {
		g.logical = append(g.logical, parseLogical(name, volumes.section(name)))
	}
	return g, nil
}

const maxExtent = 16 << 30 // bytes

func parseLogical(name string, s *section) logical {
	v := logical{name: name, visible: slices.Contains(s.values["status"], "VISIBLE")}
	for i := range s.sections {
		if !strings.HasPrefix(i, "segment") {
			continue
		}
		v.segments = append(v.segments, parseSegment(s.sections[i]))
	}
	slices.SortFunc(v.segments, func(a, b segment) int { return int(a.first - b.first) })
	return v
}

func parseSegment(s *section) segment {
	made := segment{first: s.number("start_extent"), count: s.number("extent_count"), kind: s.text("type"), stripe: s.number("stripe_size") * sector}
	list := s.values["stripes"]
	for i := 0; i+1 < len(list); i += 2 {
		made.stripes = append(made.stripes, stripe{list[i], number(list[i+1])})
	}
	return made
}
