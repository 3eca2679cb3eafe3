package migration

import (
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/tools/migration/naming"
)

// reword writes the lines that hazards found in another form, where one is surely meant: in
// what the role brings, and, by a step after the data, in what people keep among these.
func (p *Plan) reword(in Input, troubles []assess.Finding) {
	for _, f := range troubles {
		forms, last := naming.FormsOf(f.Key), ""
		for _, e := range f.Evidence {
			if len(forms) > 0 && e.Line > 0 && e.Path != last { // a file's stand together
				last = e.Path
				p.rewordFile(in, e.Path, forms)
			}
		}
	}
}

func (p *Plan) rewordFile(in Input, file string, forms []naming.Form) {
	if i := slices.IndexFunc(p.Configuration, func(c Config) bool { return c.From == file && c.To != "" && c.Link == "" }); i >= 0 {
		if text, ok := p.Configuration[i].readable(in); ok {
			now, changed := naming.Reform(text, forms)
			p.Configuration[i].writes(text, now, changed)
		}
	} else if in.Read != nil && (naming.IsOwn(file) || isStray(in.Assessment.Strays, file)) {
		if text, err := in.Read(file); err == nil && len(text) <= maxReferring && isText(string(text)) {
			_, changed := naming.Reform(string(text), forms)
			for _, m := range naming.In(file, changed) {
				if !slices.Contains(p.Mentions, m) { // two findings may have the same forms
					p.Mentions = append(p.Mentions, m)
				}
			}
		}
	}
}

// isStray reports whether a file is of people's programs among those of packages.
func isStray(all []hazards.Stray, file string) bool {
	return slices.ContainsFunc(all, func(s hazards.Stray) bool {
		return s.Path == file || s.Folder != "" && strings.HasPrefix(file, s.Folder+"/")
	})
}
