package migration

import (
	"slices"
	"strings"

	"svc/tools/convert"
	"svc/tools/convert/mail"
	"svc/tools/convert/registry"
	"svc/tools/migration/naming"
)

// mailAccounts changes fields of Dovecot's files of accounts that the target's version
// reads over in silence: in the texts of the files that the role brings, by row, and as
// mentions of those that come otherwise, with the data or by hand.
func (p *Plan) mailAccounts(in Input, texts map[int]string) (mentions []naming.Mention) {
	of := conversion(in, p)
	var files []string
	for _, c := range p.Configuration {
		if registry.Takes(of, c.From) == "dovecot" {
			text, err := in.Read(c.From)
			if err == nil && len(text) <= maxReferring {
				files = append(files, mail.DovecotAccounts(string(text))...)
			}
		}
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		i := slices.IndexFunc(p.Configuration, func(c Config) bool { return c.From == file })
		text, carried := texts[i]
		if !carried {
			b, err := in.Read(file)
			if err != nil || len(b) > maxReferring {
				continue
			}
			text = string(b)
		}
		fields := mail.DovecotFields(text)
		if carried {
			texts[i] = p.Configuration[i].replace(text, fields)
		}
		for _, f := range fields {
			if !carried || f.Now == "" {
				mentions = append(mentions, naming.Mention{Path: file, Line: f.Line, Name: f.Was, Now: f.Now, Why: f.Why})
			}
		}
	}
	return mentions
}

// replace has a file come with some words of its lines replaced.
func (c *Config) replace(text string, words []convert.Change) string {
	lines := strings.Split(text, "\n")
	for _, w := range words {
		if w.Now != "" {
			lines[w.Line-1] = strings.Replace(lines[w.Line-1], w.Was, w.Now, 1)
			c.converts()
			c.Changes = append(slices.Clone(c.Changes), w)
		}
	}
	if now := strings.Join(lines, "\n"); now != text {
		c.Text = &now
		return now
	}
	return text
}
