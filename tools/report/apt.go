package report

import (
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/release"
	"svc/backend/visible"
	"svc/tools/migration"
)

// aptMade are files of apt's that packages write anew.
var aptMade = []string{"/etc/apt/sources.list*", "/etc/apt/sources.list.d/*", "/etc/apt/trusted.gpg*", "/etc/apt/trusted.gpg.d/*", "/etc/apt/apt.conf.d/0?autoremove*"}

// aptSettings are what people told apt beside its archives, which stays: priorities, what
// is updated by itself, keys that a text names. They hold for another release of the same
// line where they name none.
func aptSettings(p *migration.Plan, _ *assess.Assessment) (line, command string) {
	if !withinApt(p) {
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

// namesRelease reports whether a suite is about a release of a system, as most are. One that
// is a folder is not (sources.list(5)), and one with a word of its maker's own.
func namesRelease(suite string) bool {
	if strings.HasSuffix(suite, "/") {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(suite, func(r rune) bool { return r == '-' || r == '/' || r == '_' }), func(word string) bool {
		_, ok := release.Lookup(word)
		return ok
	})
}

// archives are those of others, which the target does not have. A file of such ones alone
// as name no release is brought, where it names their keys.
func archives(p *migration.Plan, a *assess.Assessment) (line, command string) {
	var names, files []string
	bound := map[string]bool{}
	for _, o := range a.Origins {
		if o.Enabled && o.ThirdParty && len(names) < mostNamed {
			names, files = append(names, visible.Name(o.URI)+" ("+visible.Name(o.Evidence.Path)+")"), append(files, o.Evidence.Path)
		}
		if !o.ThirdParty || o.Unchecked || o.SignedBy == "" || namesRelease(o.Suite) {
			bound[o.Evidence.Path] = true
		}
	}
	if names == nil {
		return "", ""
	}
	slices.Sort(names)
	line = "- archives of others " + strings.Join(slices.Compact(names), ", ") + ": the target does not have them, and nothing updates what came from there; add what they have for its release"
	slices.Sort(files)
	files = slices.DeleteFunc(slices.Compact(files), func(file string) bool { return bound[file] || file == "/etc/apt/sources.list" })
	if len(files) == 0 || !withinApt(p) {
		return line + "\n", ""
	}
	for i, file := range files {
		files[i] = `"$SOURCE_SSH":` + word(file)
	}
	return line + "; the command brings the files of those that name no release\n", "rsync -aR --no-implied-dirs " + strings.Join(files, " ") + " /"
}

// withinApt reports whether both releases of a move have apt.
func withinApt(p *migration.Plan) bool {
	source, _ := release.Lookup(p.Source)
	target, _ := release.Lookup(p.Target)
	return source.Family.Conventions().Manager == "apt" && target.Family.Conventions().Manager == "apt"
}

// held are packages that somebody keeps from being updated, by what the target calls
// them; one without a counterpart keeps its name.
func held(p *migration.Plan, a *assess.Assessment) (line, command string) {
	var names []string
	for _, of := range a.Packages {
		if i := slices.IndexFunc(p.Packages, func(row migration.Package) bool { return row.Name == of.Name }); of.Held && i >= 0 && len(names) < mostNamed {
			if now := p.Packages[i].TargetNames(); len(now) > 0 {
				names = append(names, now...)
			} else {
				names = append(names, of.Name)
			}
		}
	}
	if names == nil {
		return "", ""
	}
	if withinApt(p) {
		command = "apt-mark hold " + words(names)
	}
	return "- held packages " + visible.Names(names) + ": somebody keeps them from being updated, and the reason is not on the machine; hold them on the target where it still counts\n", command
}
