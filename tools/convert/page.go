package convert

import (
	"iter"
	"slices"
	"strings"
)

// page is a file that is being converted, line by line.
type page struct {
	from    string
	comment string // what begins a comment
	lines   []string
	changes []Change
	refused []Refusal
}

func open(f File, comment string) *page {
	return &page{from: f.Path, comment: comment, lines: strings.Split(strings.ReplaceAll(f.Text, "\r\n", "\n"), "\n")}
}

// replace puts another line in the place of line i, from 0, with its indent.
func (p *page) replace(i int, now, why string) {
	was := strings.TrimSpace(p.lines[i])
	if was == now {
		return
	}
	p.lines[i] = indent(p.lines[i]) + strings.ReplaceAll(now, "\n", "\n"+indent(p.lines[i]))
	p.changes = append(p.changes, Change{i + 1, was, now, why})
}

// drop makes a comment of a line, and of those that continue it.
func (p *page) drop(i int, why string) {
	for more := true; more && i < len(p.lines); i++ {
		more = strings.HasSuffix(p.lines[i], `\`)
		p.replace(i, p.comment+" "+strings.TrimSuffix(strings.TrimSpace(p.lines[i]), `\`), why)
	}
}

func (p *page) refuse(i int, why string) {
	p.refused = append(p.refused, Refusal{i + 1, strings.TrimSpace(p.lines[i]), why})
}

// idle reports whether a line says nothing.
func (p *page) idle(i int) bool {
	line := strings.TrimSpace(p.lines[i])
	return line == "" || strings.HasPrefix(line, p.comment)
}

// active are the lines that say something, without the space around them; those
// that become comments on the way are passed over.
func (p *page) active() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range p.lines {
			if !p.idle(i) && !yield(i, strings.TrimSpace(p.lines[i])) {
				return
			}
		}
	}
}

func (p *page) text() string { return strings.Join(p.lines, "\n") }

// close puts a page into the result as a file of the target.
func (r *Result) close(p *page, to string) {
	r.Files = append(r.Files, File{Path: to, Text: p.text(), From: p.from})
	slices.SortStableFunc(p.changes, func(a, b Change) int { return a.Line - b.Line })
	slices.SortStableFunc(p.refused, func(a, b Refusal) int { return a.Line - b.Line })
	if len(p.changes) > 0 {
		r.note(p.from, p.changes...)
	}
	if len(p.refused) > 0 {
		r.refuse(p.from, p.refused...)
	}
}

func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// places are paths of a source with what stands there on the target, the
// longer of two that overlap first.
type places [][2]string

// move rewrites the paths of a text that the places name. A path ends where no
// name could go on.
func (all places) move(text string) string {
	for i := 0; i < len(text); {
		from, to := all.at(text, i)
		if from == "" {
			i++
			continue
		}
		text = text[:i] + to + text[i+len(from):]
		i += len(to)
	}
	return text
}

// at is the place whose path begins at i.
func (all places) at(text string, i int) (from, to string) {
	if text[i] != '/' || i > 0 && inName(text[i-1]) {
		return "", ""
	}
	for _, place := range all {
		end := i + len(place[0])
		if strings.HasPrefix(text[i:], place[0]) && (end == len(text) || !inName(text[end]) || text[end] == '/') {
			return place[0], place[1]
		}
	}
	return "", ""
}

// inName reports whether a byte may be part of a path's name.
func inName(b byte) bool {
	return b == '.' || b == '_' || b == '-' || b == '/' || b == '$' || b == '%' || b == '}' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// note says of a file what became of it, where none of the target follows.
func (r *Result) note(path string, changes ...Change) {
	if r.Changes == nil {
		r.Changes = map[string][]Change{}
	}
	r.Changes[path] = append(r.Changes[path], changes...)
}
