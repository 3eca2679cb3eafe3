package convert

import (
	"iter"
	"slices"
	"strings"

	"svc/backend/sliced"
)

// Page is a file that is being converted, line by line.
type Page struct {
	From    string
	comment string // what begins a comment
	Lines   []string
	Changes []Change
	Refused []Refusal
}

func Open(f File, comment string) *Page {
	return &Page{From: f.Path, comment: comment, Lines: strings.Split(strings.ReplaceAll(f.Text, "\r\n", "\n"), "\n")}
}

// Replace puts another line in the place of line i, from 0, with its indent.
func (p *Page) Replace(i int, now, why string) {
	was := strings.TrimSpace(p.Lines[i])
	if was == now {
		return
	}
	p.Lines[i] = Indent(p.Lines[i]) + strings.ReplaceAll(now, "\n", "\n"+Indent(p.Lines[i]))
	p.Changes = append(p.Changes, Change{i + 1, was, now, why})
}

// Drop makes a comment of a line, and of those that continue it.
func (p *Page) Drop(i int, why string) {
	for more := true; more && i < len(p.Lines); i++ {
		more = strings.HasSuffix(p.Lines[i], `\`)
		p.Replace(i, p.comment+" "+strings.TrimSuffix(strings.TrimSpace(p.Lines[i]), `\`), why)
	}
}

// Put writes a value behind the name that takes the place of its own; where none does, it
// drops the line.
func (p *Page) Put(i int, w Word, value string) {
	if w.Now == "" {
		p.Drop(i, w.Why)
		return
	}
	p.Replace(i, w.Now+" "+value, w.Why)
}

func (p *Page) Refuse(i int, why string) {
	p.Refused = append(p.Refused, Refusal{i + 1, strings.TrimSpace(p.Lines[i]), why})
}

// Last is the last line of what begins at line i: a backslash continues it.
func (p *Page) Last(i int) int {
	for i+1 < len(p.Lines) && strings.HasSuffix(p.Lines[i], `\`) {
		i++
	}
	return i
}

// Idle reports whether a line says nothing.
func (p *Page) Idle(i int) bool {
	line := strings.TrimSpace(p.Lines[i])
	return line == "" || strings.HasPrefix(line, p.comment)
}

// Active are the lines that say something, without the space around them; those
// that become comments on the way are passed over.
func (p *Page) Active() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range p.Lines {
			if !p.Idle(i) && !yield(i, strings.TrimSpace(p.Lines[i])) {
				return
			}
		}
	}
}

func (p *Page) Text() string { return strings.Join(p.Lines, "\n") }

// Close puts a page into the result as a file of the target, or as several.
func (r *Result) Close(p *Page, to ...string) {
	r.Files = append(r.Files, sliced.Map(to, func(place string) File { return File{Path: place, Text: p.Text(), From: p.From} })...)
	slices.SortStableFunc(p.Changes, func(a, b Change) int { return a.Line - b.Line })
	slices.SortStableFunc(p.Refused, func(a, b Refusal) int { return a.Line - b.Line })
	if len(p.Changes) > 0 {
		r.Note(p.From, p.Changes...)
	}
	if len(p.Refused) > 0 {
		r.Refuse(p.From, p.Refused...)
	}
}

// EachLine carries files over whose lines each mean something by themselves; comments begin
// with a hash.
func EachLine(in Input, place func(file string) string, line func(r *Result, p *Page, i int)) (r Result) {
	for _, f := range in.Files {
		p := Open(f, "#")
		for i := range p.Active() {
			line(&r, p, i)
		}
		r.Close(p, place(f.Path))
	}
	return r
}

// Stays is the place of a file that stays where it is.
func Stays(file string) string { return file }

func Indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// Places are paths of a source with what stands there on the target, the
// longer of two that overlap first.
type Places [][2]string

// Move rewrites the paths of a text that the places name. A path ends where no
// name could go on.
func (all Places) Move(text string) string {
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
func (all Places) at(text string, i int) (from, to string) {
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

// Note says of a file what became of it, where none of the target follows.
func (r *Result) Note(path string, changes ...Change) {
	if r.Changes == nil {
		r.Changes = map[string][]Change{}
	}
	r.Changes[path] = append(r.Changes[path], changes...)
}

// Leave says of every line of a file what became of it, where none of the target is made of
// the file as it is.
func (r *Result) Leave(f File, now, why string) {
	for i, line := range Open(f, "#").Lines {
		if line = strings.TrimSpace(line); line != "" {
			r.Note(f.Path, Change{i + 1, line, now, why})
		}
	}
}

// MoveAll rewrites every line that says something.
func (p *Page) MoveAll(move func(string) string, why string) {
	for i, line := range p.Active() {
		p.Replace(i, move(line), why)
	}
}
