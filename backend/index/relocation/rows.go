package relocation

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/backend/api"
	"svc/backend/index/counterpart"
	"svc/backend/index/course"
	"svc/backend/index/data"
	"svc/backend/index/record"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/tsv"
)

// families are the rows of families.tsv: where what stands in one place with
// one family stands with another, or in a later release of the same.
var families = sync.OnceValue(readFamilies)

// familyRows are relocations by software, as they stand in the file until they
// are asked for, and the names of software: its own, and others that it has.
type familyRows struct {
	rows  map[string][]rowsBetween
	names map[string]string
}

// rowsBetween are rows of software that follow each other and have the same sides.
type rowsBetween struct {
	ends
	text string
}

// all reads them.
func (r rowsBetween) all() iter.Seq[familyRow] {
	return func(yield func(familyRow) bool) {
		for line := range strings.Lines(r.text) {
			_, _, others := readEnds(line)
			if !yield(r.read(others)) {
				return
			}
		}
	}
}

// familyRow is a relocation between two sides. It is without its To, which costs
// an allocation, until it is told.
type familyRow struct {
	ends
	api.Relocation
	to string
}

// ends are the sides of a row.
type ends struct{ source, target side }

// appendTo adds what the row tells.
func (r familyRow) appendTo(all []api.Relocation) []api.Relocation {
	if to := r.to; to != "" {
		r.To = &to
	}
	for _, kind := range r.kinds() {
		r.Kind = kind
		all = append(all, r.Relocation)
	}
	return all
}

// kinds are those as which a row is told: one for an account is told of its user and of
// its group.
func (r familyRow) kinds() []api.RelocationKind {
	if r.Kind == relocateAccount {
		return []api.RelocationKind{api.RelocateUser, api.RelocateGroup}
	}
	return []api.RelocationKind{r.Kind}
}

// side is a family of releases, or several; with a number behind a dash it
// begins with that release.
type side string

// parts are the name of a side, and the version with which it begins, or none.
func (s side) parts() (name, since string) { return record.Cut(string(s), '-') }

func (s side) has(r release.Release) bool {
	name, since := s.parts()
	return isSide(name, r.Family) && (since == "" || record.CompareVersion(s.version(r), since) >= 0)
}

// version is that of a release, as the side counts: one of Debian's line counts Debian's.
func (s side) version(r release.Release) string {
	if name, _ := s.parts(); name == "debian" {
		return cmp.Or(r.Debian(), r.Version)
	}
	return r.Version
}

// isSide reports whether a family is of those of a name.
func isSide(name string, f release.Family) bool {
	switch name {
	case "rpm":
		return f.Conventions().Line == release.LineEL
	case "debian":
		return f.Conventions().Line == release.LineDebian
	}
	return name == string(f)
}

// hold reports whether a row is for a move; one within a family holds where
// the move passes the release with which its target begins.
func (e ends) hold(source, target release.Release) bool {
	if !e.source.has(source) || !e.target.has(target) || e.source == side(release.Ubuntu) && target.Family == release.Ubuntu {
		return false
	}
	_, since := e.target.parts()
	return since == "" || source.Family != target.Family || record.CompareVersion(e.target.version(source), since) < 0
}

// turned are the sides of a row that is read backwards.
func (e ends) turned() ends { return ends{e.target, e.source} }

var sidesTurned = strings.NewReplacer("{source}", "{target}", "{target}", "{source}")

// turned puts the version of one side in the place of the other's.
func turned(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return sidesTurned.Replace(text)
}

// says reports whether a relocation leads from and to the same.
func (r familyRow) says(other api.Relocation) bool {
	return r.Kind == other.Kind && r.From == other.From && r.to == other.Place()
}

// turns reports whether a row is read backwards too: one towards Debian, or from
// the rpm families towards SUSE. What one of Debian's line has alone, others do in its own way.
func (r familyRow) turns() bool {
	return r.to != "" && r.source != side(release.Ubuntu) && (r.target == "debian" || r.source == "rpm" && r.target == "suse")
}

// bothWays is the software whose configuration is converted on the way back too.
var bothWays = map[string]bool{
	"apache-httpd": true, "bind": true, "chrony": true, "cronie": true, "haproxy": true, "iptables": true, "logrotate": true, "mariadb": true, "mysql": true,
	"nfs-utils": true, "nftables": true, "nginx": true, "openssh": true, "php": true, "postfix": true, "sudo": true,
}

// backNotes are what is said of a row that is read backwards: its own note is
// about the other way.
var backNotes = map[api.RelocationKind]string{
	api.RelocateFile: "It has another place there, and may have another form.", api.RelocateDir: "It has another place there, and its files may have another form.",
	api.RelocateService: "The unit has another name.", api.RelocateUser: "The account has another name or number.", api.RelocateGroup: "The group has another name or number.",
	relocateAccount: "The account and its group have another name or number.",
}

// relocateAccount is the kind of a row for a user and for the group of its name.
const relocateAccount api.RelocationKind = "account"

// back is the row of software read from its end: the way from Debian to another
// family. A folder in which others stand besides does not become one below it,
// and an account that a service has of its own does not become everybody's.
func (r familyRow) back(software string) (familyRow, bool) {
	b := familyRow{r.turned(), r.Relocation, turned(r.From)}
	b.From = turned(r.to)
	overrides := strings.HasPrefix(r.From, "/etc/systemd/system/")
	if r.Action == api.ActionConvert && (r.Kind == api.RelocateFile || r.Kind == api.RelocateDir) && !overrides && !bothWays[software] {
		b.Action = api.ActionManual // the converter knows one way
	}
	b.Note = backNotes[r.Kind]
	stays := b.From == b.to && b.Kind != api.RelocateService // that a unit keeps its name is an answer where it could have another
	return b, !stays && !strings.HasPrefix(b.to, b.From+"/")
}

func readFamilies() familyRows {
	all := familyRows{map[string][]rowsBetween{}, map[string]string{}}
	begin, previous, before := 0, "", ends{}
	for at, line := range data.Lines(data.Families) {
		software, ends, _ := readEnds(line)
		if software != previous || ends != before {
			begin, previous, before = at, software, ends
			all.names[software] = software
			all.rows[software] = append(all.rows[software], rowsBetween{ends: ends})
		}
		rows := all.rows[software]
		rows[len(rows)-1].text = data.Families[begin : at+len(line)]
	}
	for row := range tsv.Rows(data.FamilyNames, 2) {
		all.names[row[0]] = row[1]
	}
	return all
}

// readEnds reads the first columns of a line: software and sides. The others
// follow.
func readEnds(line string) (software string, e ends, others string) {
	var source, target string
	others = record.Columns(line, &software, &source, &target)
	return software, ends{side(source), side(target)}, others
}

// read reads the other columns: from, to, kind, action, note and provenance.
func (e ends) read(others string) familyRow {
	r, kind, action := familyRow{ends: e}, "", ""
	r.From, others = record.Column(others)
	r.to, others = record.Column(others)
	note := record.Columns(others, &kind, &action)
	r.Note, _ = record.Column(note)
	r.to, r.Kind, r.Action = tsv.Said(r.to), api.RelocationKind(kind), api.RelocationAction(action)
	return r
}

// shortened is a canonical without what the index adds to the name of software
// to tell packages of it apart.
func shortened(canonical string) string {
	if before, _, ok := strings.Cut(canonical, "--"); ok {
		return before
	}
	if at := strings.LastIndexByte(canonical, '-'); at >= 0 && isPart(canonical[at+1:]) {
		return canonical[:at]
	}
	for canonical != "" && (canonical[len(canonical)-1] == '.' || record.IsDigit(canonical, len(canonical)-1)) {
		canonical = canonical[:len(canonical)-1]
	}
	return canonical
}

// isPart reports whether a word ends the names of what is a part of software, or a
// variant.
func isPart(word string) bool {
	switch word {
	case "rpm", "defaults", "dfsg", "server", "daemon", "director", "storage", "filedaemon", "console", "client",
		"common", "core", "base", "milter", "freshclam", "superserver", "agent", "node", "mta":
		return true
	}
	return false
}

// software is the name under which rows of a canonical stand.
func (f familyRows) software(canonical string) string {
	for name := canonical; ; {
		if known, ok := f.names[name]; ok {
			return known
		}
		shorter := shortened(name)
		if shorter == name {
			return ""
		}
		name = shorter
	}
}

// between are the rows of software for a move: those of its own direction, which
// are the first n, and those that are read backwards.
func (f familyRows) between(software string, source, target release.Release) (all []api.Relocation, n int) {
	var forth, later, back []api.Relocation
	var renamed []familyRow
	for _, rows := range f.rows[software] {
		goes, returns, since := rows.hold(source, target), rows.turned().hold(source, target), rows.sinceThen(target)
		if !goes && !returns && !since {
			continue
		}
		ofLater := rows.ofLater(source)
		for r := range rows.all() {
			if since {
				renamed = append(renamed, r)
			}
			switch {
			case goes && ofLater:
				later = r.appendTo(later)
			case goes:
				if forth == nil {
					forth = make([]api.Relocation, 0, usualRows)
				}
				forth = r.appendTo(forth)
			case returns && r.turns():
				if b, ok := r.back(software); ok && !slices.ContainsFunc(forth, b.says) {
					back = b.appendTo(back)
				}
			}
		}
	}
	forth = current(forth, renamed)
	if len(later) == 0 && len(back) == 0 {
		return forth, len(forth)
	}
	told := func(r api.Relocation) bool { return placeOf(later, r) >= 0 }
	forth = slices.DeleteFunc(forth, told)
	if len(back) > 0 {
		back = slices.DeleteFunc(current(staying(back, f.namesAt(software, source, target)), renamed), told)
	}
	return slices.Concat(later, forth, back), len(later) + len(forth)
}

// usualRows are as many as most software has in one direction.
const usualRows = 16

// namesAt are what the rows of software name on the side of a move's target, by kind.
// What the rows between other families name counts for accounts alone: a file or a unit
// may be long gone.
func (f familyRows) namesAt(software string, source, target release.Release) map[api.RelocationKind][]string {
	names := map[api.RelocationKind][]string{}
	for _, rows := range f.rows[software] {
		begins, ends := rows.source.has(target), rows.target.has(target)
		if !begins && !ends {
			continue
		}
		between := rows.hold(source, target) || rows.turned().hold(source, target)
		for r := range rows.all() {
			for _, kind := range r.kinds() {
				if !between && kind != api.RelocateUser && kind != api.RelocateGroup {
					continue
				}
				if begins {
					names[kind] = append(names[kind], r.From)
				}
				if ends && r.to != "" {
					names[kind] = append(names[kind], r.to)
				}
			}
		}
	}
	return names
}

// staying puts before each relocation of what the target has under the same name
// that it keeps it: rows that are read backwards tell what else leads there.
func staying(back []api.Relocation, names map[api.RelocationKind][]string) []api.Relocation {
	var all []api.Relocation
	for _, r := range back {
		if placeOf(all, r) < 0 && r.Place() != r.From && slices.Contains(names[r.Kind], r.From) {
			all = append(all, api.Relocation{From: r.From, To: new(r.From), Kind: r.Kind, Action: r.Action, Note: "It has the same name there."})
		}
		all = append(all, r)
	}
	return all
}

// ofLater reports whether a row tells where something of another family stands from a
// release on, which goes before what holds of all its releases.
func (e ends) ofLater(source release.Release) bool {
	_, since := e.target.parts()
	return since != "" && !e.target.has(source) && !strings.HasPrefix(string(e.target), string(source.Family)+"-")
}

// sinceThen reports whether a row tells what changed within the family of a release,
// up to it.
func (e ends) sinceThen(r release.Release) bool {
	_, since := e.target.parts()
	return since != "" && e.source.has(r) && e.target.has(r)
}

// current puts the name of today in the place of one that the target's family has
// given up: what another family calls it was said of an earlier release.
func current(found []api.Relocation, renamed []familyRow) []api.Relocation {
	for i := range found {
		for _, r := range renamed {
			if r.to != "" && r.Kind == found[i].Kind && r.From == found[i].Place() {
				found[i].To = &r.to
			}
		}
	}
	return found
}

// ofFamilies are the rows of what moves, with the versions of both sides filled in. A row
// whose version is not known is left out; a path of the same version needs none.
func (h places) ofFamilies(m *move) []api.Relocation {
	if m.software == "" {
		return []api.Relocation{}
	}
	next := h.versionOf(m.software, m.nextVersion)
	between, own := families().between(m.software, h.Source.Release, h.Target.Release)
	found, n := between[:0], 0 // of those found, n are told for this direction
	for i, r := range between {
		versioned := strings.Contains(r.From, "{")
		r, ok := filled(r, m.version, next)
		if !ok || versioned && r.From == r.Place() {
			continue
		}
		if i >= own {
			if at := placeOf(found[:n], r); at >= 0 && found[at].To != nil {
				found[at] = withOther(found[at], r)
				continue
			}
		}
		if found = append(found, r); i < own {
			n = len(found)
		}
	}
	return found
}

// filled is a row with versions in the place of their names.
func filled(r api.Relocation, source, target string) (api.Relocation, bool) {
	names := func(version string) bool {
		return strings.Contains(r.From, version) || strings.Contains(r.Place(), version)
	}
	if !names("{") && !strings.Contains(r.Note, "{") {
		return r, true
	}
	if source == "" && names("{source}") || target == "" && names("{target}") {
		return r, false
	}
	fill := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, "{source}", source), "{target}", target)
	}
	r.From, r.Note = fill(r.From), fill(r.Note)
	if r.To != nil {
		r.To = new(fill(*r.To))
	}
	return r, true
}

// The folders in which the families keep the options of daemons.
const (
	sysconfigFolder = "/etc/sysconfig/"
	defaultFolder   = "/etc/default/"
)

// defaults are the options of daemons, which Debian's family and the others keep
// under the same name, each in a folder of its own: those that the successors of
// an rpm read, or that Debian's package has.
func (h places) defaults(m *move, already []api.Relocation) []api.Relocation {
	var found []api.Relocation
	files, fromDebian := m.next, h.Source.RPM == nil
	if fromDebian {
		files = m.old
	}
	if !fromDebian && h.Target.RPM != nil || h.Source.Counterparts != nil || h.Target.Counterparts != nil {
		return nil // Alpine keeps them in /etc/conf.d, by the names of its services; of others nothing is known
	}
	for _, file := range files {
		base, ok := strings.CutPrefix(file, defaultFolder)
		if !ok || slices.ContainsFunc(already, func(r api.Relocation) bool { return r.Place() == file || r.From == file }) {
			continue
		}
		from, to := sysconfigFolder+base, file
		if fromDebian {
			from, to = to, from
		}
		found = append(found, relocation(api.RelocateFile, from, to, api.ActionManual, "Where there is such a file: its variables may have other names."))
	}
	return found
}

// likelihood ranks a place among others for the same source: what a successor
// itself ships goes before what only its name speaks for, and what a row says to
// stay, stays.
func (h places) likelihood(p *course.Course, r api.Relocation) int {
	grounds := 4 * h.grounds(p, r)
	to := r.Place()
	switch deeper := strings.Count(to, "/") - strings.Count(r.From, "/"); {
	case r.Kind != api.RelocateDir: // of a folder and one in it:
	case deeper > 0 && path.Base(to) == path.Base(r.From):
		grounds += 2 // what bears the same name is for the same
	case deeper == 0:
		grounds++
	}
	if top, _, _ := strings.Cut(strings.TrimPrefix(r.From, "/"), "/"); strings.HasPrefix(to, "/"+top+"/") {
		grounds += alike // logs stay among the logs, settings among the settings
	}
	return grounds
}

// alike is more than all other grounds.
const alike = 5 * shipped

// grounds are what speaks for a place by the packages that move there.
func (h places) grounds(p *course.Course, r api.Relocation) int {
	to, below := r.Place(), ""
	if to == r.From {
		return shipped
	}
	switch r.Kind {
	case api.RelocateUser, api.RelocateGroup:
		return 0
	case api.RelocateService:
		to = record.UnitFolder + to
	case api.RelocateDir:
		below = to + "/"
	}
	for _, name := range p.Names {
		if below != "" && len(h.Target.Shipped(nil, name, below)) > 0 {
			return shipped
		}
	}
	owners, ok := h.Target.OwnersOf(to)
	if ok && slices.ContainsFunc(p.Names, func(name string) bool { return record.HasWord(owners, name) }) {
		return shipped
	}
	words := 0
	for _, name := range p.Names {
		words = max(words, wordsIn(cmp.Or(below, to), name))
	}
	return words
}

// shipped is more than any name speaks for a place.
const shipped = 100

// wordsIn counts the words of a package's name that are folders of a path: of
// php8.4-fpm, /etc/php/8.4/fpm/php.ini has one.
func wordsIn(file, name string) (n int) {
	for _, word := range strings.Split(name, "-") {
		if strings.Contains(file, "/"+word+"/") {
			n++
		}
	}
	return n
}

// majorMinor is a version as the paths of software have it: 8.4 of PHP, 17 of
// PostgreSQL.
var majorMinor = map[string]*lazyregexp.Regexp{"php": lazyregexp.New(`^(?:[0-9]+:)?([0-9]+\.[0-9]+)`), "postgresql": lazyregexp.New(`^(?:[0-9]+:)?([0-9]+)`)}

// versionOf is the version of software in the target's paths: that which its
// general package has, where the canonical's own does not say.
func (h places) versionOf(software, own string) string {
	form := majorMinor[software]
	if form == nil || h.Target.RPM != nil {
		return own
	}
	if h.Target.Counterparts != nil {
		return counterpart.Version(software, h.Target.Release)
	}
	for _, v := range h.Target.Versions {
		if v.Software == software {
			return v.Own
		}
	}
	r, ok := h.Target.Find(software)
	if !ok {
		return own
	}
	if m := form.FindStringSubmatch(r.Version); m != nil {
		return m[1]
	}
	return own
}
