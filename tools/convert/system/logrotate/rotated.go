// Package logrotate knows which logs the rules of a release's packages rotate: of two rules for
// a log, logrotate refuses the second, with all of its file.
package logrotate

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/tools/convert"
)

//go:embed rotated.tsv
var rotatedRows string

// rotated are the logs that a file of the target's packages has rules for.
type rotated struct {
	packages []string
	file     string
	logs     []string
}

var allRotated = tsv.List(rotatedRows, 3, func(c []string) rotated {
	return rotated{strings.Fields(c[0]), c[1], strings.Fields(c[2])}
})

// Once leaves one rule to each log of pages, beside those of packages of the target whose files
// are not written anew. It gives the files of packages that are removed for it.
func Once(in convert.Input, pages []*convert.Page, written map[string]bool) (removed []convert.Link) {
	for _, of := range allRotated() {
		if convert.DebianFamily(in.Target) && !written[of.file] && slices.ContainsFunc(of.packages, func(name string) bool { _, comes := in.Brought[name]; return comes }) {
			removed = append(removed, of.once(pages)...)
		}
	}
	return removed
}

// once leaves one rule to each log: a person's, where people's rules have all logs of the
// package's file, and the package's else.
func (of rotated) once(pages []*convert.Page) (removed []convert.Link) {
	var all []string
	blocks := map[*convert.Page][]block{}
	for _, p := range pages {
		blocks[p] = blocksOf(p)
		for _, b := range blocks[p] {
			all = append(all, b.logs...)
		}
	}
	whole := !slices.ContainsFunc(of.logs, func(log string) bool {
		return !slices.ContainsFunc(all, func(own string) bool { return covers(own, log) })
	})
	for _, p := range pages {
		for _, b := range blocks[p] {
			twice := sliced.Filter(b.logs, func(own string) bool {
				return slices.ContainsFunc(of.logs, func(log string) bool { return covers(own, log) || covers(log, own) })
			})
			switch {
			case len(twice) == 0:
			case whole:
				why := "The rules of Debian's package for it are removed: of two rules for a log, logrotate refuses the second."
				p.Changes = append(p.Changes, convert.Change{Line: b.first + 1, Was: strings.TrimSpace(p.Lines[b.first]), Now: strings.TrimSpace(p.Lines[b.first]), Why: why})
				if removed == nil {
					removed = append(removed, convert.Link{Path: of.file, From: p.From, Why: p.From + " has rules for the same logs, of which logrotate refuses the second."})
				}
			default:
				b.without(p, twice, "Debian's "+of.file+" has rules for it, and of two rules for a log logrotate refuses the second.")
			}
		}
	}
	return removed
}

// covers reports whether a log, or a pattern of logs, is another or has it.
func covers(pattern, log string) bool {
	fits, _ := path.Match(pattern, log) // of a bad pattern, nothing is said
	return pattern == log || fits
}

// block is what a file has for some logs: from its first line to the last, with the one that
// has the bracket between.
type block struct {
	first, open, last int
	logs              []string
}

// blocksOf are those of a file that end: logrotate.conf(5).
func blocksOf(p *convert.Page) (all []block) {
	var b *block
	script, opened := false, false
	for i, line := range p.Active() {
		switch {
		case script:
			script = line != "endscript"
		case opened && line == "}":
			b.last = i
			all, b, opened = append(all, *b), nil, false
		case opened && strings.HasSuffix(line, "{"): // what opened never ended
			return all
		case opened:
			script = slices.Contains([]string{"prerotate", "postrotate", "firstaction", "lastaction", "preremove"}, line)
		case b != nil || strings.ContainsAny(line[:1], "/\"'"):
			if b == nil {
				b = &block{first: i}
			}
			names, _, open := strings.Cut(line, "{")
			b.logs = append(b.logs, sliced.Map(strings.Fields(names), func(name string) string { return strings.Trim(name, "\"'") })...)
			b.open, opened = i, open
			if open && strings.HasSuffix(line, "}") {
				b.last = i
				all, b, opened = append(all, *b), nil, false
			}
		}
	}
	return all
}

// without takes logs out of a block; of one that has no others nothing stays.
func (b block) without(p *convert.Page, logs []string, why string) {
	if len(logs) == len(b.logs) {
		for i := b.first; i <= b.last; i++ {
			if !p.Idle(i) {
				p.Drop(i, why)
			}
		}
		return
	}
	for i := b.first; i <= b.open; i++ {
		kept := slices.DeleteFunc(strings.Fields(p.Lines[i]), func(word string) bool { return slices.Contains(logs, strings.Trim(word, "\"'{")) })
		switch {
		case p.Idle(i) || len(kept) == len(strings.Fields(p.Lines[i])):
		case len(kept) == 0 && i < b.open:
			p.Drop(i, why)
		default:
			if now := strings.Join(kept, " "); i == b.open && !strings.Contains(now, "{") {
				p.Replace(i, strings.TrimSpace(now+" {"), why)
			} else {
				p.Replace(i, now, why)
			}
		}
	}
}
