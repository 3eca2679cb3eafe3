package course

import (
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/pkgversion"
)

// Counterpart is an rpm that is a package of Debian, or has a part of it.
type Counterpart struct {
	*lookup.RPM
	Whole bool // it is the package, not a part of it
	Among bool // others have parts of the package too
}

// Preferred is the rpm to be preferred of several: the first that the release is
// known to have, or the newest version where they are versions of one software. What
// is a package of Debian comes before what has a part of it.
type Preferred struct {
	Line     *lookup.Line
	Strictly bool // those alone that are named so in that line alone
	Listed   bool // those too that lists alone know
	rpm      Counterpart
	others   bool // it is not alone with its versions
}

// AddNamed adds those of some names that the target's line has, which are a package of Debian
// or have a part of it.
func (p *Preferred) AddNamed(h *Pair, names string, whole bool) {
	for name := ""; names != ""; {
		name, names = record.Cut(names, ' ')
		line, key := record.LineOf(name)
		if line != "" && line != p.Line.Line || p.Strictly && line == "" {
			continue
		}
		if (p.Strictly || p.Line.Line == "suse") && rpm.OfVersion(key) {
			continue // it is EL's beside its own Python: SUSE's own is known by another name
		}
		if r, ok := h.Seen.Find(h.Target, key); (ok || p.Listed) && r.Key == key && r.Of(p.Line) {
			p.Add(Counterpart{RPM: r, Whole: whole})
		}
	}
}

// Add looks whether another rpm is to be preferred.
func (p *Preferred) Add(r Counterpart) {
	if p.rpm.RPM == nil {
		p.rpm = r
		return
	}
	presence := r.Presence(p.Line) - p.rpm.Presence(p.Line)
	switch {
	case presence > 0:
		p.rpm, p.others = r, false
	case presence < 0 || p.others || p.rpm.Whole && !r.Whole: // it stays
	case rpm.OfVersion(r.Name) != rpm.OfVersion(p.rpm.Name): // that of the version which programs mean comes first
		if rpm.OfVersion(p.rpm.Name) {
			p.rpm = r
		}
	case rpm.Unnumbered(r.Name) != rpm.Unnumbered(p.rpm.Name):
		p.others = true
	case pkgversion.Compare(pkgversion.RPM, r.Name, p.rpm.Name) > 0:
		p.rpm = r
	}
}

// Best is the rpm to be preferred, if there was any.
func (p *Preferred) Best() (Counterpart, bool) {
	p.rpm.Among = p.others && !p.rpm.Whole
	return p.rpm, p.rpm.RPM != nil
}
