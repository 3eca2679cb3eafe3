package lookup

import (
	"cmp"
	"strconv"
	"strings"

	"svc/backend/index/record"
	"svc/backend/release"
)

// rpmRelease makes the tables of an rpm release: it shares those of its line, and
// if it is one of SUSE, which names are those of other packages.
func (ix *Tables) rpmRelease(r release.Release, others map[string]bool) *Release {
	line, n, known := record.Level(r)
	if line == "" {
		return nil
	}
	if line != "suse" {
		others = nil
	}
	return &Release{
		Slug: r.Slug, Release: r, Names: ix.File.Table(record.RPMNames), canonicals: ix.File.Table(record.RPMCanonicals),
		Provides: ix.File.Table(r.Slug + record.ProvidesTable), sources: ix.File.Table(""),
		files: ix.File.Table(r.Slug + record.FilesTable), Owners: ix.File.Table(r.Slug + record.OwnersTable),
		RPM: &Line{
			Line: line, Level: n, Known: known, others: others,
			list: record.ListOf(r, line, n), shared: ix.File.Table(record.RPMLists), rpms: ix.File.Table(r.Slug + record.RPMsTable), Obsoletes: ix.File.Table(r.Slug + record.ObsoletesTable),
		},
	}
}

// suseNames are those that SUSE gives to other packages than EL.
func (ix *Tables) suseNames() map[string]bool {
	names := map[string]bool{}
	for key := range ix.File.Table(record.RPMNames).With('/') {
		if name, ok := strings.CutPrefix(key, record.SuseKey); ok {
			names[name] = true
		}
	}
	return names
}

// RPM is what is known of an rpm's name.
type RPM struct {
	record.Record
	Key    string // its name in the tables
	Levels string // the levels of EL that are known to have it
	Suse   string // those of SUSE
	Trail  string // to packages of Debian; empty where it is not known what it is
	lists  string // the lists of releases near EL, and of SUSE, that have it
	Line   string // el or suse where only that line has it
	Before string // the levels of EL until which the name was that of something else
	Until  int    // the last level of EL where the name is that of this; 0 for all
	Whole  bool   // of an answer: it is the package of Debian, not a part of it
	Among  bool   // of an answer: others have parts of that package too
	Listed bool   // the release's own list has it
}

// DecodeRPM reads a record of the table of rpms.
func DecodeRPM(key, value string) RPM {
	r := RPM{Key: key}
	r.Name, r.Until = record.PartKey(key)
	r.Canonical, value = record.Column(value)
	r.Major, value = record.Column(value)
	r.Levels, value = record.Column(value)
	r.Line, value = record.Column(value)
	r.Before, value = record.Column(value)
	r.Suse, r.Trail = record.Column(value)
	if r.Canonical == "" {
		r.Canonical = r.Name
	}
	return r
}

// keyAt is the key under which a level of EL has the name.
func (r *RPM) keyAt(l *Line) string {
	if l.Line != "el" {
		return r.Key
	}
	for until := range strings.FieldsSeq(r.Before) {
		if n, _ := strconv.Atoi(until); l.Level <= n {
			return record.UntilKey(until, r.Name)
		}
	}
	return r.Key
}

// Has reports whether a level is known to have the package.
func (r *RPM) Has(l *Line) bool {
	if l.Lists() {
		return r.Listed
	}
	return (l.Known || l.Line == "suse") && r.AtLevel(l.Line, l.Level) || l.list != "" && record.HasWord(r.lists, l.list)
}

// At reports whether the release's line is known to have a package at its level.
func (l *Line) At(r RPM) bool { return r.AtLevel(l.Line, l.Level) }

// AtLevel reports whether a line is known to have the package at a level.
func (r *RPM) AtLevel(line string, level int) bool {
	levels := r.Levels
	if line == "suse" {
		levels = r.Suse
	}
	return hasLevel(levels, level)
}

// hasLevel reports whether a level is one of those that blanks part. A word among
// them is none.
func hasLevel(levels string, level int) bool {
	n := 0
	for i := range len(levels) {
		if levels[i] != ' ' {
			n = 10*n + int(levels[i]-'0')
			continue
		}
		if n == level {
			return true
		}
		n = 0
	}
	return n == level && levels != ""
}

// InEPEL reports whether EPEL has the package for a release, and EL not: for each from
// EL 8 on, or for the level that stands behind the word.
func (r *RPM) InEPEL(l *Line) bool {
	_, level, ok := strings.Cut(r.Levels, record.VendorEPEL)
	return ok && (level == "" || level == "-"+strconv.Itoa(l.Level))
}

// NewestBefore is the newest level before another that is known to have the package; 0 for none.
func (r *RPM) NewestBefore(level int) int {
	newest := 0
	for text := range strings.FieldsSeq(r.Levels) {
		if n, _ := strconv.Atoi(text); n < level {
			newest = max(newest, n)
		}
	}
	return newest
}

// Newest is the newest level that is known to have the package; 0 for none.
func (r *RPM) Newest() int { return r.NewestBefore(MaxLevel) }

// nearness orders the rpms of one canonical: what the release is known to have,
// then what only its line has; for SUSE, what EL has under another name comes last.
func (r *RPM) nearness(l *Line) int {
	return 4*r.Presence(l) + 2*record.BoolOrder(r.Line == l.Line) + record.BoolOrder(l.Line == "suse" && r.Levels == "")
}

// Presence orders what a release is known to have, or EL at its level, before
// the rest.
func (r *RPM) Presence(l *Line) int {
	return record.BoolOrder(r.Has(l) || !l.Lists() && r.AtLevel(l.Line, l.Level))
}

// Of reports whether a line has the package, at the release's level.
func (r *RPM) Of(l *Line) bool {
	return (r.Line == "" || r.Line == l.Line) && (r.Until == 0 || l.Level <= r.Until)
}

// FindRPM finds an rpm by its name or its key.
func (t *Release) FindRPM(name string) (r RPM, ok bool, err error) {
	if t.RPM.others[name] {
		return t.rpmOf(record.SuseKey + name)
	}
	r, ok, err = t.rpmOf(name)
	if key := r.keyAt(t.RPM); key != r.Key && err == nil {
		return t.rpmOf(key)
	}
	return r, ok, err
}

// Memo is the rpm that was looked for last: a name is asked for more than once
// on its way.
type Memo struct {
	In    *Release
	name  string
	rpm   RPM
	there bool
}

// Find is findRPM.
func (s *Memo) Find(name string) (*RPM, bool, error) {
	if s.name == name && s.rpm.Key != "" {
		return &s.rpm, s.there, nil
	}
	var err error
	s.name = name
	s.rpm, s.there, err = s.In.FindRPM(name)
	return &s.rpm, s.there, err
}

func (t *Release) rpmOf(key string) (RPM, bool, error) {
	value, ok, err := t.Names.Get(key)
	r := DecodeRPM(key, value)
	if err != nil {
		return r, false, err
	}
	if t.RPM.list != "" { // that of EL is in the levels
		r.lists, _, err = t.RPM.shared.Get(r.Name)
	}
	if !ok || err != nil {
		return r, false, err
	}
	if t.RPM.Lists() {
		_, r.Listed, err = t.RPM.Own(r.Name)
	}
	return r, true, err
}

// RPMBy finds the rpm that a canonical names; of several the nearest.
func (t *Release) RPMBy(canonical string) (nearest RPM, found bool, err error) {
	value, _, err := t.canonicals.Get(canonical)
	if err != nil {
		return nearest, false, err
	}
	for name, rest := "", cmp.Or(value, canonical); rest != ""; {
		name, rest = record.Cut(rest, ' ')
		r, ok, err := t.FindRPM(name)
		if err != nil {
			return nearest, false, err
		}
		if ok && r.Canonical == canonical && r.Of(t.RPM) && (!found || r.nearness(t.RPM) > nearest.nearness(t.RPM)) {
			nearest, found = r, true
		}
	}
	return nearest, found, nil
}

// Presence says how the index knows that a release has an rpm.
type Presence string

const (
	InList  Presence = "in its list"     // that of the release, or of its level, or EPEL's
	InNear  Presence = "in a list near"  // of another release of its line
	Nowhere Presence = "in no list near" // of none
)

// Presence is how the index knows that the release has an rpm of a name.
func (t *Release) Presence(name string) (Presence, error) {
	return (&Memo{In: t}).Presence(name)
}

// Presence is that of the release by which it is looked for.
func (s *Memo) Presence(name string) (Presence, error) {
	t := s.In
	r, _, err := s.Find(name)
	if err != nil {
		return Nowhere, err
	}
	if _, listed, err := t.RPM.Own(name); listed || err != nil {
		return InList, err
	}
	switch l := t.RPM; {
	case l.Lists():
		return Nowhere, nil
	case r.Has(l), l.Known && r.InEPEL(l):
		return InList, nil
	case l.Line == "suse" && (r.Suse != "" || strings.Contains(r.lists, "suse-")):
		return InNear, nil
	case l.Line == "el" && r.Levels != "":
		return InNear, nil
	}
	lists, _, err := t.RPM.shared.Get(name)
	if t.RPM.Line == "el" && (strings.Contains(lists, "fedora") || strings.Contains(lists, "amzn-")) {
		return InNear, err
	}
	return Nowhere, err
}
