package migration

import (
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/sliced"
	"svc/tools/convert"
	"svc/tools/migration/naming"
)

// await notes which links and lines lead to what comes later, and where secrets go that a
// person brings over, as they are: one that has another form there is a person's to carry.
func (p *Plan) await(in Input, where naming.Places) {
	later := map[string]bool{}
	left := sliced.Index(p.Configuration, func(c Config) (string, bool) {
		return c.From, c.To == "" && (c.Action == Manual || c.Reason == secretReason)
	})
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.To != "" || c.Action != LeftOut || c.Reason != secretReason {
			continue
		}
		later[c.From] = true
		switch r, to, moved := where.File(c.From); {
		case moved && r.Action == api.ActionManual && !c.taken:
			c.Action, c.Reason = Manual, r.Note
		case to != "" && (!moved || r.To != nil):
			c.Place, left[to] = to, true
			p.Mentions = append(p.Mentions, c.comes(in, p.names)...)
		}
	}
	p.enable(in, where)
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if text, ok := c.readable(in); ok && naming.Includes(c.From) {
			now, said := naming.Optional(c.From, text, left)
			if c.writes(text, now, said) > 0 {
				c.Reason += " What does not come along is included only where it is there."
			}
		}
		if c.Link == "" || c.To == "" {
			continue
		}
		leads := assess.LeadsTo(c.From, c.Link)
		c.Awaits = later[leads] || naming.IsOwn(leads) && in.PathExists != nil && in.PathExists(leads)
	}
}

// comes are the lines of a secret that a person brings as it is which name what the target
// calls otherwise, or lacks.
func (c *Config) comes(in Input, r *naming.References) []naming.Mention {
	text, ok := c.carried(in)
	if r == nil || !ok || c.Old || c.Link != "" || len(text) > maxReferring || !isText(text) {
		return nil
	}
	_, renamed, lost := r.Of(c.Package, c.From).Text(text)
	return naming.In(c.Place, append(renamed, lost...))
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

// maxAwaited bounds the paths below /var that are looked for on the source.
const maxAwaited = 500

// awaited is what carried configuration names of where services write, and the source
// has: files of logs, since what watches one may not start without it, and folders that
// are not merely root's, since a package of the target may not bring what the source's did.
func (p *Plan) awaited(in Input, where naming.Places) {
	p.Logs = []Folder{}
	if in.Described == nil {
		return
	}
	seen := sliced.SetOf(p.Folders, func(f Folder) string { return f.Path })
	most := len(seen) + maxAwaited
	for i := range p.Configuration {
		text, ok := p.Configuration[i].readable(in)
		if !ok {
			continue
		}
		said := sliced.Map(p.Configuration[i].Changes, func(c convert.Change) [2]string { return [2]string{c.Was, c.Now} })
		for _, w := range naming.WrittenIn(text, said) {
			if seen[w.Path] || len(seen) == most {
				continue
			}
			f, folder, ok := in.Described(w.Was)
			seen[w.Path] = true
			switch made := (Folder{Path: w.Path, Mode: f.Mode, Owner: where.Account(f.Owner), Group: where.Group(f.Group)}); {
			case !ok:
			case folder && (f.UID != 0 || f.GID != 0 || f.Mode != "0755" || w.Path != w.Was):
				p.Folders = append(p.Folders, made)
			case !folder && strings.HasPrefix(w.Path, "/var/log/"):
				p.Logs = append(p.Logs, made)
			}
		}
	}
	byPath := func(a, b Folder) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(p.Folders, byPath)
	slices.SortFunc(p.Logs, byPath)
}
