package system

import (
	"slices"
	"strings"

	"svc/backend/sliced"
	"svc/tools/convert"
	"svc/tools/convert/system/logrotate"
)

// rotations are the rules for a move.
func rotations(in convert.Input) []convert.Rewording {
	switch {
	case convert.FromDebian(in) && convert.ToSUSE(in):
		return slices.Concat(convert.RewordingsOf("rotated-debian-suse"), convert.RewordingsOf("rotated-suse"))
	case convert.FromDebian(in):
		return convert.RewordingsOf("rotated-debian-rpm")
	case convert.ToSUSE(in):
		return convert.RewordingsOf("rotated-suse")
	case convert.WithinRPM(in):
		return nil
	}
	return convert.RewordingsOf("rotated-debian")
}

// reword says what a job or a rule of logs says on the target.
func reword(p *convert.Page, i int, in convert.Input) {
	p.Substitute(i, rotations(in))
	p.Replace(i, convert.Logs.Between(in).Move(strings.TrimSpace(p.Lines[i])), convert.Elsewhere(in))
}

// logrotateHomes are what the lines of families call the file of Apache's own rules.
var logrotateHomes = convert.HomesOf("logrotate")

// Logrotate carries rules over: the places of logs, accounts and units that have other names.
// Each log keeps one rule.
func Logrotate(in convert.Input) (r convert.Result) {
	place := logrotateHomes.Between(in).Move
	pages := sliced.Map(in.Files, func(f convert.File) *convert.Page {
		p := convert.Open(f, "#")
		for i := range p.Active() {
			reword(p, i, in)
		}
		return p
	})
	r.Removed = logrotate.Once(in, pages, sliced.SetOf(in.Files, func(f convert.File) string { return place(f.Path) }))
	for _, p := range pages {
		r.Close(p, place(p.From))
	}
	return r
}
