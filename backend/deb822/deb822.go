// Package deb822 reads the paragraphs of Debian's control files: dpkg's
// status, apt's Packages and .sources. It streams, and it bounds a paragraph:
// the files come from machines and archives that are not to be trusted.
package deb822

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxParagraph bounds one paragraph, in bytes; the largest in the archive has
// some 200 KB.
const MaxParagraph = 4 << 20

// ErrSyntax means that the input is no control file.
var ErrSyntax = errors.New("not a control file")

// Reader reads paragraph after paragraph.
type Reader struct {
	in   *bufio.Reader
	buf  []byte
	line int
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10)}
}

// Paragraph is a set of fields. It is valid until the next call of Next.
type Paragraph struct {
	text   []byte
	fields []field
	// Line is the paragraph's first line, from 1.
	Line int
}

// field is a name and a value, as places in the paragraph's text.
type field struct{ name, value []byte }

// Next gives the next paragraph, io.EOF at the end, or an error that wraps
// ErrSyntax.
func (r *Reader) Next() (Paragraph, error) {
	first, err := r.read()
	if err != nil && (len(r.buf) == 0 || !errors.Is(err, io.EOF)) {
		return Paragraph{}, err
	}
	p := Paragraph{text: r.buf, Line: first}
	if err := p.split(); err != nil {
		return Paragraph{}, err
	}
	return p, nil
}

// read fills buf with the lines up to the next empty one.
func (r *Reader) read() (first int, err error) {
	r.buf = r.buf[:0]
	begin := 0 // of the line that is being read
	for {
		part, err := r.in.ReadSlice('\n')
		r.buf = append(r.buf, part...)
		if len(r.buf) > MaxParagraph {
			return 0, fmt.Errorf("%w: a paragraph over %d bytes after line %d", ErrSyntax, MaxParagraph, r.line)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		r.line++
		if blank := len(bytes.TrimSpace(r.buf[begin:])) == 0; blank || r.buf[begin] == '#' {
			r.buf = r.buf[:begin]
			if blank && begin > 0 && err == nil {
				return first, nil
			}
		} else if begin == 0 {
			first = r.line
		}
		begin = len(r.buf)
		if err != nil {
			return first, err
		}
	}
}

// split finds the fields of the text.
func (p *Paragraph) split() error {
	rest := p.text
	for len(rest) > 0 {
		end := endOfField(rest)
		colon := bytes.IndexByte(rest[:end], ':')
		if colon <= 0 || rest[0] == ' ' || rest[0] == '\t' || bytes.IndexByte(rest[:colon], '\n') >= 0 {
			return fmt.Errorf("%w: the paragraph at line %d has a line that is no field", ErrSyntax, p.Line)
		}
		p.fields = append(p.fields, field{rest[:colon], bytes.TrimSpace(rest[colon+1 : end])})
		rest = rest[end:]
	}
	return nil
}

// endOfField is the index after the field's last continuation line.
func endOfField(b []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		if i == len(b) || b[i] != ' ' && b[i] != '\t' {
			return i
		}
	}
}

// Get is the value of a field, without the space around it, or "". Names are
// compared without regard to case. Continuation lines keep their line breaks.
func (p Paragraph) Get(name string) string { return string(p.Bytes(name)) }

// Bytes is like Get; the bytes are valid until the next call of Next.
func (p Paragraph) Bytes(name string) []byte {
	for _, f := range p.fields {
		if len(f.name) == len(name) && strings.EqualFold(string(f.name), name) {
			return f.value
		}
	}
	return nil
}
