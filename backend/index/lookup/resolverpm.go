package lookup

import (
	"iter"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// RPMName is what rpm distributions are likely to call a package of Debian.
func (ix *Tables) RPMName(deb string) string {
	if strings.HasSuffix(deb, "-perl") { // as those of modules are called
		if name := ix.modules.Value(deb); name != "" {
			return name
		}
	}
	return rpm.Name(deb)
}

// rubies are the prefixes of modules of Ruby, by the levels of SUSE.
var rubies = map[int]string{12: "ruby2.1", 15: "ruby2.5", 16: "ruby3.4"}

// resolveRPM says what the rpms of a name are: what the tables have, else what
// the rules make of it.
func (ix *Tables) resolveRPM(t *Release, name string, seen *Memo) (record.Record, api.Match, float64) {
	name = withoutArch(name)
	r, ok := seen.Find(t, name)
	if ok {
		confidence := 1.0
		if !r.Has(t.RPM) {
			confidence = neighbourRPM
		}
		own := r.Record
		if !r.Of(t.RPM) && r.Has(t.RPM) { // the tables have it of the other line
			own.Canonical = ix.ownListed(t, name, own.Canonical, seen)
		}
		return own, api.MatchExact, confidence
	}
	x := &Names{Tables: ix, Line: t.RPM.Line}
	g, ok := rpm.Of(name, x)
	listed := seen.Presence(t, name) == InList
	if !ok && !listed {
		return record.Record{}, api.MatchNone, 0
	}
	canonical := ""
	if rpm.One(g) {
		canonical, _ = x.Package(rpm.FirstThere(x, g.Targets[0]))
	}
	if canonical != "" {
		back := ix.nameOf(t, canonical, seen)
		if back != name {
			canonical = "" // it would be taken for another rpm
		}
	}
	if canonical == "" {
		canonical = x.own(name, g)
	}
	if listed {
		return record.Record{Name: name, Canonical: ix.ownListed(t, name, canonical, seen)}, api.MatchExact, neighbourRPM
	}
	return record.Record{Name: name, Canonical: canonical}, api.MatchHeuristic, min(g.Confidence, neighbourConfidence+0.15)
}

// ownListed is the canonical of an rpm that the release's own list has: the one it is taken to
// have, unless that is of another rpm there and that of all of its name is not.
func (ix *Tables) ownListed(t *Release, name, canonical string, seen *Memo) string {
	if slug := rpm.Slug(name); ix.nameOf(t, canonical, seen) != name && ix.nameOf(t, slug, seen) == name {
		return slug
	}
	return canonical
}

// own is the canonical of an rpm that is not one package of Debian: that of its name, unless
// Debian has other things by that. A library is that of Debian where a module of the same
// source has the name; headers are called as they are where a program has it.
func (x *Names) own(name string, g rpm.Guess) string {
	canonical := rpm.Recoverable(name)
	deb, taken := x.Canonical(canonical)
	if !taken {
		return canonical
	}
	switch record.Role(canonical) {
	case api.RoleDev:
		if !rpm.HasHeaders(deb) {
			return rpm.Slug(name)
		}
	case api.RoleMain:
		if g.Relation != api.RelationIncluded || len(g.Targets) != 1 || strings.Contains(rpm.Squeeze(deb), rpm.Squeeze(name)) {
			break
		}
		if library, ok := x.Package(rpm.FirstThere(x, g.Targets[0])); ok {
			return library
		}
	}
	return canonical
}

// nameOf is the name that a canonical of a release is taken to be of; empty where there is none.
func (ix *Tables) nameOf(t *Release, canonical string, seen *Memo) string {
	r, found := seen.By(t, canonical)
	if found {
		return r.Name
	}
	name := ix.UsualName(t, canonical)
	if record.IsCanonical(name) {
		usual, ok := rpm.Usual(name)
		if !ok {
			return "" // none has a name that it leads back to
		}
		return usual
	}
	return name
}

// UsualName is the name that a release gives an rpm which is not known: as the lists
// spell it; modules of languages have other names than in Debian.
func (ix *Tables) UsualName(t *Release, canonical string) string {
	if name, ok := ix.spellings.Get(canonical); ok && new(Memo).Presence(t, name) != Nowhere {
		return name
	}
	x := &Names{Tables: ix}
	deb, _ := x.Canonical(canonical)
	if _, ok := rpm.Module(deb); !ok {
		return record.WithoutApart(canonical)
	}
	name := ix.RPMName(deb)
	if gem, ok := strings.CutPrefix(name, "rubygem-"); ok && t.RPM.Line == "suse" {
		return rubies[t.RPM.Level] + "-rubygem-" + gem
	}
	return name
}

// withoutArch drops the architecture that rpm prints after a name.
func withoutArch(name string) string {
	at := max(strings.LastIndexByte(name, '.'), 0)
	switch name[at:] {
	case ".x86_64", ".noarch", ".i686", ".i386", ".aarch64":
		return name[:at]
	}
	return name
}

// Spelled are the other names by which any list has an rpm of a name.
func (ix *Tables) Spelled(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		small := strings.ToLower(name)
		for other := range rpm.Spellings(name, small) {
			if (ix.rpmLists.Has(other) || ix.rpmNames.Has(other)) && !yield(other) {
				return
			}
		}
		capitals := func(small string) bool {
			other, ok := ix.spellings.Get(small)
			return !ok || other == name || yield(other)
		}
		if bare, lib := strings.CutPrefix(small, "lib"); capitals(small) && lib {
			capitals(bare)
		}
	}
}
