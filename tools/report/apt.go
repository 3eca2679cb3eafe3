package report

import (
	"path"
	"slices"
	"strings"

	"svc/backend/release"
	"svc/backend/visible"
	"svc/tools/migration"
)

// aptMade are files of apt's that packages write anew.
var aptMade = []string{"/etc/apt/sources.list*", "/etc/apt/sources.list.d/*", "/etc/apt/trusted.gpg*", "/etc/apt/trusted.gpg.d/*", "/etc/apt/apt.conf.d/0?autoremove*"}

// aptSettings are what people told apt beside its archives, which stays: priorities, what
// is updated by itself, keys that a text names. They hold for another release of the same
// line where they name none.
func aptSettings(p *migration.Plan) (line, command string) {
	source, _ := release.Lookup(p.Source)
	target, _ := release.Lookup(p.Target)
	if source.Family.Conventions().Line != release.LineDebian || target.Family.Conventions().Line != release.LineDebian {
		return "", ""
	}
	var names, sources []string
	for _, c := range p.Configuration {
		made := slices.ContainsFunc(aptMade, func(pattern string) bool { ok, _ := path.Match(pattern, c.From); return ok })
		if c.Action == migration.LeftOut && c.Link == "" && !c.Secret && !made && strings.HasPrefix(c.From, "/etc/apt/") && len(names) < mostNamed {
			names, sources = append(names, visible.Name(c.From)), append(sources, `"$SOURCE_SSH":`+word(c.From))
		}
	}
	if names == nil {
		return "", ""
	}
	return "- settings of apt " + strings.Join(names, ", ") + ": the target's own archives count, and these stay; bring what names no archive and no release of before\n", "rsync -aR --no-implied-dirs " + strings.Join(sources, " ") + " /"
}
