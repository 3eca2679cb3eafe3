package migration

import (
	"slices"

	"svc/assess"
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
	} else if naming.IsOwn(file) && in.Read != nil {
		if text, err := in.Read(file); err == nil && len(text) <= maxReferring && isText(string(text)) {
			_, changed := naming.Reform(string(text), forms)
			p.Mentions = append(p.Mentions, naming.In(file, changed)...)
		}
	}
}
