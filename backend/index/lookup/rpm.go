package lookup

import (
	"strconv"
	"strings"

	"svc/backend/index/record"
	"svc/backend/release"
)

// rpmRelease makes the tables of an rpm release: it shares those of its line, and
// if it is one of SUSE, which names are those of other packages.
func (ix *Tables) rpmRelease(r release.Release, others func() map[string]bool) *Release {
	line, n, known := record.Level(r)
	if line == "" {
		return nil
	}
	if line != "suse" {
		others = nil
	}
	t := tablesOf(ix.File, r)
	t.Names, t.canonicals = ix.rpmNames, ix.rpmCanonicals
	t.RPM = &Line{
		Line: line, Level: n, Known: known, others: others,
		list: record.ListOf(r, line, n), shared: ix.rpmLists, rpms: ix.File.Table(r.Slug + record.RPMsTable), Obsoletes: ix.File.Table(r.Slug + record.ObsoletesTable),
	}
	return t
}

// suseNames are those that SUSE gives to other packages than EL.
func (ix *Tables) suseNames() map[string]bool {
	names := map[string]bool{}
	for key := range ix.rpmNames.Under(record.SuseKey) {
		names[key[len(record.SuseKey):]] = true
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
	Line   string // el or suse where only that line has it
	Before string // the levels of EL until which the name was that of something else
	Until  int    // the last level of EL where the name is that of this; 0 for all

	there     bool   // the tables have it
	lists     string // the lists of releases near EL, and of SUSE, that have it
	listsRead bool
	other     int8 // whether SUSE gives the name to another package: 1 if so, -1 if not, 0 where it was not asked
	presence  Presence
	presentIn *Release // whose presence that is
}

// DecodeRPM reads a record of the table of rpms.
func DecodeRPM(key, value string) RPM {
	var r RPM
	r.decode(key, value)
	return r
}

func (r *RPM) decode(key, value string) {
	*r = RPM{Key: key}
	r.Name, r.Until = record.PartKey(key)
	if value == "" {
		r.Canonical = r.Name
		return
	}
	r.Trail = record.Columns(value, &r.Canonical, &r.Major, &r.Levels, &r.Line, &r.Before, &r.Suse)
	if r.Canonical == "" {
		r.Canonical = r.Name
	}
}

// Called is the rpm under another name.
func (r *RPM) Called(name string) *RPM {
	other := *r
	other.Name = name
	return &other
}

// isOther reports whether a release is one of SUSE, which gives the name to another
// package than EL.
func (r *RPM) isOther(l *Line) bool {
	if l.others == nil || r.there && r.Line != "el" {
		return false // a name that SUSE gives to another is EL's alone
	}
	if r.other == 0 {
		r.other = int8(2*record.BoolOrder(l.others()[r.Key]) - 1)
	}
	return r.other > 0
}

// keyAt is the key under which a level of EL has the name.
func (r *RPM) keyAt(l *Line) string {
	if l.Line != "el" || r.Before == "" {
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
		return r.there && l.rpms.Has(r.Name)
	}
	return (l.Known || l.Line == "suse") && r.AtLevel(l.Line, l.Level) || l.list != "" && record.HasWord(r.inLists(l), l.list)
}

// inLists are the lists that have the package, which are read once they are asked for.
func (r *RPM) inLists(l *Line) string {
	if !r.listsRead {
		name, _ := record.PartKey(r.Key)
		r.lists, r.listsRead = l.shared.Value(name), true
	}
	return r.lists
}

// At reports whether the release's line is known to have a package at its level.
func (l *Line) At(r *RPM) bool { return r.AtLevel(l.Line, l.Level) }

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

// CameLater reports whether EL is known to have the package two levels after a release's
// or more, and EPEL nowhere.
func (r *RPM) CameLater(l *Line) bool {
	return l.Known && r.Newest() > l.Level+1 && r.NewestBefore(l.Level+2) == 0 && !strings.Contains(r.Levels, record.VendorEPEL)
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
