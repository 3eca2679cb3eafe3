package network

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/convert"
)

// account makes a change or a refusal of every line that says something.
func (w *wiring) account() {
	for file, p := range w.pages {
		for n := range p.Lines {
			w.accountLine(p, n)
		}
		slices.SortStableFunc(p.Refused, func(a, b convert.Refusal) int { return cmp.Compare(a.Line, b.Line) })
		for _, r := range p.Refused {
			w.Refuse(file, convert.Refusal{Line: r.Line, Text: secretless(r.Text), Why: r.Why})
		}
	}
}

// accountLine says what became of one line.
func (w *wiring) accountLine(p *convert.Page, n int) {
	at, line := position{p.From, n + 1}, strings.TrimSpace(p.Lines[n])
	switch now, why := strings.Join(slices.Compact(w.told[at]), "\n"), w.dropped[at]; {
	case p.Idle(n) || strings.HasPrefix(line, ";") || now == line:
	case now != "":
		p.Changes = append(p.Changes, convert.Change{Line: n + 1, Was: line, Now: now, Why: w.manager + " says it so."})
	case why != "":
		p.Changes = append(p.Changes, convert.Change{Line: n + 1, Was: line, Now: "", Why: why})
	case !slices.ContainsFunc(p.Refused, func(r convert.Refusal) bool { return r.Line == n+1 }):
		p.Refuse(n, noCounterpart)
	}
}

// secretWords begin the names of settings that may be secrets.
var secretWords = lazyregexp.New(`(?i)(psk|pass|secret|wep-key|private-?key|presharedkey|key=|pin=|leap|mka-cak).*`)

// secretless is a line as far as a secret's name.
func secretless(line string) string { return secretWords.ReplaceAllString(line, "${1}…") }

// spread refuses with a file all that does not stand without it: an interface
// with its routes, a bond with its parts.
func (w *wiring) spread() {
	for changed := true; changed; {
		changed = false
		for _, group := range w.groups() {
			changed = w.refuseAll(group) || changed
		}
	}
}

// refuseAll refuses all files of a group of which one is refused, and reports
// whether there were others.
func (w *wiring) refuseAll(group []string) (others bool) {
	bad := slices.IndexFunc(group, func(file string) bool { return len(w.Refusals[file]) > 0 })
	for _, file := range group {
		if bad >= 0 && len(w.Refusals[file]) == 0 {
			w.Refuse(file, convert.Refusal{Line: 0, Text: "", Why: "It belongs to " + group[bad] + ", which is not understood."})
			others = true
		}
	}
	return others
}

// groups are the files that belong together, interface by interface.
func (w *wiring) groups() (all [][]string) {
	for _, i := range w.ifaces {
		group := []string{i.file}
		for _, o := range i.options {
			group = append(group, sliced.Map(o.at, func(at position) string { return at.file })...)
			if o.key == "master" || o.key == "vlan-link" {
				if other := w.interfaceNamed(o.value); other != nil {
					group = append(group, other.file)
				}
			}
		}
		slices.Sort(group)
		all = append(all, slices.Compact(group))
	}
	return all
}

// finish puts the files together, with the source's comments where they stood.
func (w *wiring) finish() {
	for _, file := range slices.Sorted(maps.Keys(w.pages)) {
		p := w.pages[file]
		for n := range p.Lines {
			remark, at := w.remark(p, n), position{file, n + 1}
			if remark != "" && len(w.told[at]) == 0 && !w.place(at, remark) {
				p.Changes = append(p.Changes, convert.Change{Line: n + 1, Was: remark, Now: "", Why: "Nothing is left to which it belongs."})
			}
		}
		slices.SortStableFunc(p.Changes, func(a, b convert.Change) int { return cmp.Compare(a.Line, b.Line) })
		if len(p.Changes) > 0 && len(w.Refusals[file]) == 0 {
			w.Note(file, p.Changes...)
		}
	}
	for _, o := range w.outputs {
		o.from = w.origin(o)
		w.Files = append(w.Files, convert.File{Path: convert.Waiting + o.path, Text: o.text(), From: o.from, Mode: o.mode})
	}
}

// origin is the file that a file of the target follows. One that is shared
// stays as long as one interface does.
func (w *wiring) origin(o *output) string {
	for _, i := range w.ifaces {
		if o.shared && len(w.Refusals[o.from]) > 0 && len(w.Refusals[i.file]) == 0 {
			return i.file
		}
	}
	return o.from
}

// remark is the comment that line n of a page is, or nothing.
func (w *wiring) remark(p *convert.Page, n int) string {
	line := strings.TrimSpace(p.Lines[n])
	switch {
	case strings.HasPrefix(line, ";"):
		return "#" + line
	case p.Idle(n):
		return line
	}
	return ""
}

// place puts a comment before what comes of the next line of its file; the
// comments at a file's head at the head of what comes of it, those at its end
// at the end.
func (w *wiring) place(at position, remark string) bool {
	next, last := w.after(at)
	switch {
	case next != nil:
		next.before = append(next.before, remark)
	case last != nil:
		last.tail = append(last.tail, remark)
	}
	return last != nil
}

// after is the line of the target that comes of the next line of a file, and
// the last output that has something of the file.
func (w *wiring) after(at position) (next *outputLine, last *output) {
	head := !slices.ContainsFunc(w.pages[at.file].Lines[:at.line], func(line string) bool { return line != "" && !strings.HasPrefix(line, "#") })
	line := 0
	for _, o := range w.outputs {
		if o.from == at.file && last == nil && len(o.lines) > 0 {
			last = o
		}
		if head && o.from == at.file && !o.shared {
			return &o.lines[0], o
		}
		for i := range o.lines {
			for _, s := range o.lines[i].at {
				if s.file != at.file {
					continue
				}
				last = o
				if s.line > at.line && (next == nil || s.line < line) {
					next, line = &o.lines[i], s.line
				}
			}
		}
	}
	return next, last
}
