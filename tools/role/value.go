package role

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"svc/backend/lazyregexp"

	"svc/backend/sliced"
	"svc/backend/visible"
)

// value is what may stand in the role's variables. A string is none: what a
// machine says can only be written as text, so nothing of it is ever a template.
type value interface{ node() *yaml.Node }

// text is a string, which Ansible takes as it is. Ansible has more than one form
// of template, some of which bring their own delimiters: so a text is marked,
// whatever is in it, unless it is inert.
type text string

type (
	number  int
	boolean bool
	list    []value
	record  []member
)

// member is a value with the name that the role's tasks have for it; a name is a
// constant of this package.
type member struct {
	name  name
	value value
}

type name string

// inert is what no template can be made of: every one has a brace, or begins with a
// number sign. Among it is all that YAML takes for something else than a string,
// as "yes", "0644", "!" and "": where such a text is marked, Ansible 2.19 makes of
// it a truth value, a number or an error, so it is quoted alone.
var inert = lazyregexp.Whole(`[A-Za-z0-9_.:+~<=!&* \t\n-]*`)

func (t text) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!unsafe", Style: yaml.TaggedStyle | yaml.DoubleQuotedStyle, Value: string(t)}
	if inert.MatchString(string(t)) {
		n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
	}
	return n
}

func (n number) node() *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(int(n))}
}

func (f boolean) node() *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(bool(f))}
}

func (l list) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	if len(l) == 0 {
		n.Style = yaml.FlowStyle
	}
	n.Content = append(n.Content, sliced.Map(l, value.node)...)
	return n
}

func (r record) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range r {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(m.name)}, m.value.node())
	}
	return n
}

// each is a list with a value for each of some things.
func each[T any](things []T, of func(T) value) list {
	return sliced.Map(things, of)
}

func texts(all []string) list { return each(all, func(s string) value { return text(s) }) }

// atOnce is how many values of a list are encoded at once: the encoder keeps what
// it has written of a document until it ends, and machines may have tens of
// thousands of files.
const atOnce = 500

// encode writes variables as the YAML that Ansible reads.
func encode(v record) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# What the role gives to the machine.\n---\n")
	for _, m := range v {
		l, _ := m.value.(list)
		first := min(len(l), atOnce)
		if len(l) > 0 {
			m.value = l[:first]
		}
		if err := encodeMember(&b, m); err != nil {
			return nil, err
		}
		for part := range slices.Chunk(l[first:], atOnce) {
			var more bytes.Buffer
			if err := encodeMember(&more, member{m.name, part}); err != nil {
				return nil, err
			}
			_, items, _ := bytes.Cut(more.Bytes(), []byte("\n")) // without the name, which stands there
			b.Write(items)
		}
	}
	// Texts stand between double quotes, where YAML has the same escapes.
	return []byte(visible.Lines(b.String())), nil
}

func encodeMember(b *bytes.Buffer, m member) error {
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(record{m}.node()), e.Close()); err != nil {
		return fmt.Errorf("writing the role's variables: %w", err)
	}
	return nil
}
