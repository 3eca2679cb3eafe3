package migration

import (
	"slices"
	"strings"

	"svc/assess"
	"svc/tools/migration/naming"
)

// await notes which links lead to what comes later, and where secrets go that a
// person brings over.
func (p *Plan) await(in Input, where naming.Places) {
	later := map[string]bool{}
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.To == "" && c.Action == LeftOut && c.Reason == secretReason {
			later[c.From] = true
			if r, to, moved := where.File(c.From); to != "" && (!moved || r.To != nil) {
				c.Place = to
			}
		}
	}
	p.enable(in, where)
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.Link == "" || c.To == "" {
			continue
		}
		leads := assess.LeadsTo(c.From, c.Link)
		c.Awaits = later[leads] || naming.IsOwn(leads) && in.PathExists != nil && in.PathExists(leads)
	}
}

// enable carries links over that an installation makes of what it finds, and by
// which a person's own file is enabled: that the target does not know.
func (p *Plan) enable(in Input, where naming.Places) {
	carried := map[string]string{} // by path on the source, what no package brings
	for _, c := range p.Configuration {
		if c.To != "" && c.Link == "" && c.Package == "" && (c.Action == Copy || c.Action == Convert) {
			carried[c.From] = c.To
		}
	}
	links := map[string]string{}
	for _, f := range in.Assessment.Configuration {
		if f.Link != "" && f.Machine {
			links[f.Path] = assess.LeadsTo(f.Path, f.Link)
		}
	}
	for i := range p.Configuration {
		c := &p.Configuration[i]
		leads := carried[links[c.From]]
		if leads == "" || c.Action != LeftOut {
			continue
		}
		if _, to, _ := where.File(c.From); to != "" {
			c.To, c.Link, c.Action, c.Reason = to, leads, Copy, "It enables a file that was made on the source."
		}
	}
}

// maxLogs bounds the logs that are made.
const maxLogs = 200

// logs are the files of logs that carried configuration names and the source has:
// what watches one may not start without it.
func logs(in Input, p *Plan) []Folder {
	all := []Folder{}
	if in.Described == nil {
		return all
	}
	seen := map[string]bool{}
	for i := range p.Configuration {
		text, ok := p.Configuration[i].readable(in)
		if !ok || !strings.Contains(text, "/var/log/") {
			continue
		}
		for n, line := range strings.Split(text, "\n") {
			if naming.Silent(n, line) {
				continue
			}
			for _, name := range naming.Paths.FindAllString(line, -1) {
				if !strings.HasPrefix(name, "/var/log/") || seen[name] || len(all) == maxLogs {
					continue
				}
				seen[name] = true
				if mode, owner, group, ok := in.Described(name); ok {
					all = append(all, Folder{Path: name, Mode: mode, Owner: owner, Group: group})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	return all
}
