package lookup

import (
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
func (ix *Tables) resolveRPM(t *Release, name string, seen *Memo) (record.Record, api.Match, float64, error) {
	name = withoutArch(name)
	r, ok, err := seen.Find(t, name)
	if err != nil {
		return record.Record{}, api.MatchNone, 0, err
	}
	if ok {
		confidence := 1.0
		if !r.Has(t.RPM) {
			confidence = neighbourRPM
		}
		return r.Record, api.MatchExact, confidence, nil
	}
	x := &Names{Tables: ix, Line: t.RPM.Line}
	g, ok := rpm.Of(name, x)
	if !ok || x.Err != nil {
		return record.Record{}, api.MatchNone, 0, x.Err
	}
	canonical := ""
	if rpm.One(g) {
		canonical, _ = x.Package(rpm.FirstThere(x, g.Targets[0]))
	}
	if t.RPM.Line == "suse" && canonical != "" {
		back, err := ix.nameOf(t, canonical, seen)
		if err != nil {
			return record.Record{}, api.MatchNone, 0, err
		}
		if back != name {
			canonical = "" // it would be taken for another rpm
		}
	}
	if canonical == "" {
		canonical = rpm.Recoverable(name)
	}
	return record.Record{Name: name, Canonical: canonical}, api.MatchHeuristic, min(g.Confidence, neighbourConfidence+0.15), x.Err
}

// nameOf is the name that a canonical of a release is taken to be of.
func (ix *Tables) nameOf(t *Release, canonical string, seen *Memo) (string, error) {
	r, found, err := seen.By(t, canonical)
	if err != nil {
		return "", err
	}
	if found {
		return r.Name, nil
	}
	name, err := ix.UsualName(t, canonical)
	if record.IsCanonical(name) {
		name, _ = rpm.Usual(name)
	}
	return name, err
}

// UsualName is the name that a release gives an rpm which is not known: as the lists
// spell it; modules of languages have other names than in Debian.
func (ix *Tables) UsualName(t *Release, canonical string) (string, error) {
	if name, ok, err := ix.spellings.Get(canonical); ok || err != nil {
		return name, err
	}
	x := &Names{Tables: ix}
	deb, _ := x.Canonical(canonical)
	if _, ok := rpm.Module(deb); !ok || x.Err != nil {
		return record.WithoutApart(canonical), x.Err
	}
	name := ix.RPMName(deb)
	if gem, ok := strings.CutPrefix(name, "rubygem-"); ok && t.RPM.Line == "suse" {
		return rubies[t.RPM.Level] + "-rubygem-" + gem, nil
	}
	return name, nil
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
