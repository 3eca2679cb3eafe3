package migration

import (
	"path"
	"slices"
	"strings"
)

// await notes which links lead to what comes later, and where secrets go that a
// person brings over.
func (p *Plan) await(in Input, where places) {
	later := map[string]bool{}
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.To == "" && c.Action == LeftOut && c.Reason == secretReason {
			later[c.From] = true
			if r, to, moved := where.file(c.From); to != "" && (!moved || r.To != nil) {
				c.Place = to
			}
		}
	}
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.Link == "" || c.To == "" {
			continue
		}
		leads := c.Link
		if !path.IsAbs(leads) {
			leads = path.Join(path.Dir(c.From), leads)
		}
		c.Awaits = later[leads] || isOwn(leads) && in.PathExists != nil && in.PathExists(leads)
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
			if silent(n, line) {
				continue
			}
			for _, name := range absolute.FindAllString(line, -1) {
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
