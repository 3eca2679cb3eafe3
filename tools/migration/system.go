package migration

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

// system decides what the role sets of the system as a whole.
func system(in Input, p *Plan, bad *valid.Refused) System {
	s := in.Assessment.System
	return System{HostName: bad.Take("host name", s.Hostname, valid.HostName), TimeZone: bad.Take("time zone", s.TimeZone, valid.ZoneName), Locale: bad.Take("locale", s.Locale, valid.LocaleName), Locales: otherLocales(in), Recommends: recommends(in), Unwanted: unwanted(in), Dependencies: dependencies(in, p)}
}

// Where Debian's family has the locales that are made, and how many of them a
// machine may name.
const (
	madeLocales = "/etc/locale.gen"
	maxLocales  = 100
)

// otherLocales are those that a person had made beside the one that is set.
func otherLocales(in Input) (all []string) {
	if in.Read == nil || in.Target.Family.Conventions().Line != release.LineDebian {
		return nil
	}
	text, err := in.Read(madeLocales)
	lines := strings.Split(string(text), "\n")
	if err != nil && in.PathExists != nil {
		lines = naming.LangpackLocales(sliced.Map(in.Assessment.Packages, func(p assess.Package) string { return p.Name }), in.PathExists)
	}
	for _, line := range lines {
		name := strings.Fields(line + " #")[0]
		if valid.LocaleName.MatchString(name) && name != in.Assessment.System.Locale && !slices.Contains(all, name) && len(all) < maxLocales {
			all = append(all, name)
		}
	}
	return all
}

// recommendSettings are the settings of package managers that say whether
// recommended packages are installed, and the values with which they are not.
var recommendSettings = map[string][]string{
	"apt::install-recommends": {"false", "0", "no", "off", "without", "disable"},
	"install_weak_deps":       {"false", "0", "no", "off"},
	"solver.onlyrequires":     {"true", "1", "yes", "on"},
}

// recommends reports whether recommended packages are installed: as a person chose in
// the package manager's settings, or else as the source's packages show.
func recommends(in Input) bool {
	shown := true
	for _, f := range in.Assessment.Facts {
		if f.Area != "packages" {
			continue
		}
		if without, ok := recommendSettings[strings.ToLower(f.Key)]; ok {
			return !slices.Contains(without, strings.ToLower(f.Value))
		}
		shown = shown && f.Key != assess.RecommendedPackages
	}
	return shown
}

// unwanted are packages that others recommend and the source is without, as a person
// chose for each, or none of its packages' own installation brought: where recommended
// packages are installed at all.
func unwanted(in Input) []string {
	if !recommends(in) || in.Target.Family.Conventions().Manager != "apt" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in.Assessment.Unmet), func(name string) bool { return !DpkgName.MatchString(name) })
}

// dependencies are the target's names of what came with others on the source, where the
// role installs nothing that is only recommended, as releases turn what they depend on into.
func dependencies(in Input, p *Plan) (names []string) {
	for _, r := range p.Packages {
		if !r.Manual && r.Confidence >= Sure && slices.Contains(installable, r.Relation) && !bootPackages.MatchString(r.Name) && !recommends(in) {
			names = append(names, r.TargetNames()...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return slices.Contains(p.Install, name) })
}

// DpkgName is what dpkg takes for the name of a package.
var DpkgName = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)

// folders decides about the folders that no package brings: those that go along
// stand where their files go.
func folders(in Input, where naming.Places) []Folder {
	all := []Folder{}
	for _, f := range in.Assessment.Folders {
		r, to, moved := where.File(f.Path)
		unsure := moved && r.To == nil || !moved && versionDiffers(in, f.Path+"/")
		if to == "" || unsure || where.Gone(f.Package) || f.Owner == "" || f.Group == "" || !valid.Mode.MatchString(f.Mode) || !utf8.ValidString(f.Path) {
			continue
		}
		all = append(all, Folder{Path: to, Mode: f.Mode, Owner: where.Account(f.Owner), Group: where.Group(f.Group), Own: f.Package == "" && strings.HasPrefix(f.Path, "/etc/")})
	}
	slices.SortFunc(all, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b Folder) bool { return a.Path == b.Path })
}

// disabled are the links that would enable what the source has available, and
// does not enable: packages of the target may make them.
func disabled(in Input, where naming.Places, files []Config) []string {
	all := []string{}
	if source, _ := release.Lookup(in.Assessment.Release); source.Family.Conventions().Line != in.Target.Family.Conventions().Line {
		return all // these links are of Debian's family alone
	}
	written := sliced.SetOf(files, func(c Config) string { return c.To })
	for _, link := range in.Assessment.Disabled {
		if _, to, _ := where.File(link); to != "" && path.Base(to) == path.Base(link) && !written[to] && utf8.ValidString(to) {
			all = append(all, to)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
