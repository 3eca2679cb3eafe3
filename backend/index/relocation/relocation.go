package relocation

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/sliced"
)

// places finds where configuration goes between two releases.
type places struct{ *course.Pair }

// Of is what moves of a canonical, given what became of its package: by
// comparing what the package and its successors ship in both releases, and by curated
// rows. There is one answer for each kind and place: the likeliest, and the others as
// its alternatives.
func Of(between *course.Pair, canonical string, p *course.Course) ([]api.Relocation, error) {
	h := places{between}
	all, err := h.relocated(canonical, p)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, r := range all {
		i := placeOf(kept, r)
		if i < 0 {
			kept = append(kept, r)
		} else {
			kept[i] = h.likelier(p, kept[i], r)
		}
	}
	return kept, nil
}

// Units are those of a target's packages, for who asks of packages in order: of those
// that begin alike they are the same, and are kept until others are asked for.
type Units struct {
	Target *lookup.Release
	word   string // with which the names begin
	beside []string
}

// Of are those that the successors of a package ship, and packages whose names begin with
// the same word, which these often bring, with what systemd makes of their scripts in init.d;
// nil where what the target or one of them ships is not known.
func (u *Units) Of(p *course.Course) []string {
	if !u.Target.KnowsUnits() || len(p.Names) == 0 || !u.Target.HasAll(p.Names) {
		return nil
	}
	units := []string{}
	for _, name := range p.Names {
		if word := record.FirstWord(name); word != u.word {
			u.word, u.beside = word, u.Target.UnitsOf(word)
			slices.Sort(u.beside)
		}
		units = append(units, u.beside...)
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// likelier is the likelier of two for one place, with the other as an alternative.
// What is said to be gone gives way to a place.
func (h places) likelier(p *course.Course, one, other api.Relocation) api.Relocation {
	if h.likelihood(p, other) > h.likelihood(p, one) || one.To == nil {
		one, other = other, one
		one.Alternatives, other.Alternatives = other.Alternatives, nil
	}
	return withOther(one, other)
}

// withOther is one with another place as an alternative.
func withOther(one, other api.Relocation) api.Relocation {
	to := other.Place()
	if to != "" && to != one.Place() && !slices.ContainsFunc(one.Alternatives, func(a api.OtherPlace) bool { return a.To == to }) {
		one.Alternatives = append(one.Alternatives, api.OtherPlace{To: to, Note: other.Note})
	}
	return one
}

// placeOf is which of some relocations is of what another relocates; -1 where none is.
func placeOf(all []api.Relocation, other api.Relocation) int {
	for i := range all {
		if r := &all[i]; r.From == other.From && r.Kind == other.Kind {
			return i
		}
	}
	return -1
}

// relocated lists what moves, curated rows first. A package without a successor
// moves nothing.
func (h places) relocated(canonical string, p *course.Course) ([]api.Relocation, error) {
	m := &move{h: h, software: families().software(canonical), version: h.Source.Major(p.Source), old: h.Source.Shipped(nil, p.Source.Name, "/")}
	compared := "/"
	if len(m.old) == 0 {
		compared = defaultFolder
	}
	for _, name := range p.Names {
		m.next = h.Target.Shipped(m.next, name, compared)
	}
	foreign := h.Source.Foreign() || h.Target.Foreign()
	var rows []record.CuratedConfig
	if !foreign { // the rows have the paths of Debian's packages
		var err error
		if rows, err = lookup.Curated[record.CuratedConfig](h.Tables.Config, canonical); err != nil {
			return nil, err
		}
	}
	tells := len(rows) > 0 || len(m.old) > 0 || m.software != ""
	if tells && len(p.Names) > 0 {
		m.nextVersion = h.Target.Major(h.Target.Successor(p.Names[len(p.Names)-1]))
	}
	if foreign {
		found := h.ofFamilies(m)
		if found = append(found, h.defaults(m, found)...); len(found) > 0 {
			return found, nil
		}
	}
	if !tells || len(p.Names) == 0 || p.Source.Name == "" {
		return []api.Relocation{}, nil
	}
	return m.compare(p, append(m.curated(rows), h.ofFamilies(m)...)), nil
}

// move is what a package ships in the source and its successors in the target.
type move struct {
	h                    places
	software             string // under which the families have rows, if they have
	old, next            []string
	version, nextVersion string // majors
}

// curated are the relocations of curated rows that hold.
func (m *move) curated(rows []record.CuratedConfig) []api.Relocation {
	relocations := []api.Relocation{}
	for _, row := range rows {
		r, known := filled(row.Relocation, m.version, m.nextVersion)
		if known && m.h.Holds(row.Span, m.version != m.nextVersion) && r.Place() != r.From {
			relocations = append(relocations, r)
		}
	}
	return relocations
}

// compare adds to the curated relocations one for each path that the target
// has no more.
func (m *move) compare(p *course.Course, relocations []api.Relocation) []api.Relocation {
	if m.h.Target.Owners.Len() == 0 {
		return relocations // what the target ships is not known
	}
	for _, from := range m.old {
		if _, stays := m.h.Target.OwnersOf(from); stays || strings.HasPrefix(from, "/usr/lib/sysusers.d/") {
			continue
		}
		r := m.relocate(p, from)
		if !slices.ContainsFunc(relocations, func(other api.Relocation) bool { return other.From == r.From }) {
			relocations = append(relocations, r)
		}
	}
	return relocations
}

// relocate finds the new place of a path that is gone from its old one.
func (m *move) relocate(p *course.Course, from string) api.Relocation {
	kind := api.RelocateFile
	if strings.HasPrefix(from, record.UnitFolder) {
		kind = api.RelocateService
	}
	if to, ok := m.newVersion(from); ok {
		return m.versioned(kind, from, to)
	}
	if to, ok := m.only(func(to string) bool { return path.Base(to) == path.Base(from) }); ok {
		return relocation(kind, from, to, api.ActionCopy, "The file moved; its form is the same unless the package's notes say otherwise.")
	}
	if to, ok := m.renamed(p, from); ok {
		return relocation(kind, from, to, api.ActionConvert, "The name follows that of the package: check the form of its content.")
	}
	if kind == api.RelocateService && m.gone(path.Ext(from)) == 1 {
		if to, ok := m.only(func(to string) bool {
			return strings.HasPrefix(to, record.UnitFolder) && path.Ext(to) == path.Ext(from)
		}); ok {
			return relocation(kind, from, to, api.ActionConvert, "The unit has a new name: what refers to it must follow.")
		}
	}
	note := fmt.Sprintf("%s ships it no more in %s; carry over what was changed by hand.", p.Source.Name, m.h.Target.Slug)
	return relocation(kind, from, "", api.ActionDrop, note)
}

// renamed is the path with a successor's name in place of the package's.
func (m *move) renamed(p *course.Course, from string) (string, bool) {
	for _, name := range p.Names {
		to := path.Join(path.Dir(from), strings.Replace(path.Base(from), p.Source.Name, name, 1))
		if to != from && slices.Contains(m.next, to) {
			return to, true
		}
	}
	return "", false
}

// number matches a version that is not part of a longer one.
func number(version string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^0-9.])` + regexp.QuoteMeta(version) + `($|[^0-9])`)
}

// newVersion is the path with the target's major in place of the source's,
// where the successor ships it or something beside it.
func (m *move) newVersion(from string) (string, bool) {
	if m.version == "" || m.nextVersion == "" || m.version == m.nextVersion {
		return "", false
	}
	to := number(m.version).ReplaceAllString(from, "${1}"+m.nextVersion+"${2}")
	if to == from {
		return "", false
	}
	beside := path.Dir(to)
	return to, slices.ContainsFunc(m.next, func(next string) bool { return next == to || beside != path.Dir(from) && path.Dir(next) == beside })
}

// versioned moves the whole folder where the version is in a folder's name.
func (m *move) versioned(kind api.RelocationKind, from, to string) api.Relocation {
	if kind == api.RelocateService || path.Dir(from) == path.Dir(to) {
		return relocation(kind, from, to, api.ActionConvert, "The major version is part of the name.")
	}
	prefix := folder(m.old, m.version)
	next := number(m.version).ReplaceAllString(prefix, "${1}"+m.nextVersion+"${2}")
	note := fmt.Sprintf("Version %s has a folder of its own: check the settings against version %s.", m.nextVersion, m.nextVersion)
	if prefix == "" || next == prefix || !strings.HasPrefix(from, prefix+"/") {
		return relocation(kind, from, to, api.ActionConvert, note)
	}
	return relocation(api.RelocateDir, prefix, next, api.ActionConvert, note)
}

// folder is the longest folder below /etc that holds all paths with a version.
func folder(paths []string, version string) string {
	common, versioned := "", number(version)
	for _, p := range paths {
		dir := path.Dir(p)
		if !strings.HasPrefix(p, "/etc/") || !versioned.MatchString(dir) {
			continue
		}
		common = cmp.Or(common, dir)
		for common != dir && !strings.HasPrefix(dir, common+"/") {
			common = path.Dir(common)
		}
	}
	return common
}

// only is the one new path of the successors that fits.
func (m *move) only(fits func(string) bool) (string, bool) {
	found := sliced.Filter(m.next, func(to string) bool { return fits(to) && !slices.Contains(m.old, to) })
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// gone counts the units of a type that the successors do not ship.
func (m *move) gone(ext string) int {
	return sliced.Count(m.old, func(p string) bool {
		return strings.HasPrefix(p, record.UnitFolder) && path.Ext(p) == ext && !slices.Contains(m.next, p)
	})
}

// relocation is one row; units go by their names.
func relocation(kind api.RelocationKind, from, to string, action api.RelocationAction, note string) api.Relocation {
	if kind == api.RelocateService {
		from, to = path.Base(from), strings.TrimPrefix(to, record.UnitFolder)
	}
	r := api.Relocation{From: from, Kind: kind, Action: action, Note: note}
	if to != "" {
		r.To = &to
	}
	return r
}
