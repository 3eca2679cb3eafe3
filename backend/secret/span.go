package secret

import "strings"

// Masked stands in a text in place of a secret.
const Masked = "[secret]"

// The kinds of secrets.
const (
	Key      Kind = "private key"
	Digest   Kind = "password digest"
	Password Kind = "password" // or any other value whose name says that it is secret
	Token    Kind = "token"
)

// Kind is what a secret is.
type Kind string

// Span is where a secret stands in a text.
type Span struct {
	Start, End int // in bytes: text[Start:End] is the secret, without its name and quotes
	Kind       Kind
	// Remark says that it stands in a comment, and has no form that only secrets
	// have: most are examples of a manual.
	Remark bool
}

// finder reads a text once for each way in which secrets are written.
type finder struct {
	text  string
	spans []Span
}

func (f *finder) add(start, end int, kind Kind, remark bool) {
	if start < end && f.text[start:end] != Masked {
		f.spans = append(f.spans, Span{start, end, kind, remark})
	}
}

// line is a text up to its first end of a line.
func line(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i]
	}
	return text
}
