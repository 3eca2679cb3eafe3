// Package rpm tells from the name of an rpm package what it is in Debian's
// terms: the rules by which Red Hat, Fedora, Amazon and SUSE name things, and
// how sure each of them is. What no rule can know is in curated rows.
package rpm

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// Debian is what the rules ask about the packages of Debian, of all releases
// that are known.
type Debian interface {
	// Package is the canonical of a package.
	Package(name string) (canonical string, ok bool)
	// Canonical is the package that a canonical names.
	Canonical(canonical string) (name string, ok bool)
	// Provided is the only package that provides a virtual one.
	Provided(virtual string) (name string, ok bool)
	// Library is the canonical of the libraries with a stem, as Stem makes it.
	Library(stem string) (canonical string, ok bool)
	// Row is the curated row of an rpm's name.
	Row(name string) (Guess, bool)
	// Pattern is the curated row of the first pattern that a name is of.
	Pattern(name string) (Guess, bool)
}

// Guess is what a rule makes of a name: a trail to packages of Debian; alternatives in
// one target are parted by |.
type Guess = record.Trail

// The methods that callers tell apart.
const (
	Curated  = "curated"
	SameName = "same name"
	Vendor   = "third-party:" // and the vendor's name
	Absent   = "absent"       // the pattern is known, Debian has nothing of that name
	Library  = "library"      // a library of Debian has the name

	part = "part" // of what the name begins with
)

// The confidence of each way to find a counterpart by its name, as often as it
// is right on one half of the known pairs; the other half confirms it.
const (
	sameName     = 0.98
	language     = 0.95
	development  = 0.96
	library      = 0.92
	core         = 0.93 // part of a language's own package
	sibling      = 0.85 // the same role in the same software
	mainBinary   = 0.8
	absent       = 0.7  // a pattern that Debian has nothing for
	similar      = 0.75 // a library of the name with a version in it
	partly       = 0.55 // a name that begins like that of known software
	translations = 0.92
)

// Rules are the rules as they are asked of names that have parts in common: what a part is,
// is found once.
type Rules struct {
	debian Debian
	parts  []known
}

// known is what a part of a name is.
type known struct {
	name  string
	depth int // how often a rule may still ask for a part of it
	guess Guess
	ok    bool
}

// Of makes the guess of a name: the curated row, else the first rule that
// fits. ok is false for a name that says nothing.
func Of(name string, debian Debian) (g Guess, ok bool) { return New(debian).Of(name) }

// New are the rules for some names.
func New(debian Debian) *Rules { return &Rules{debian: debian} }

// Of is that of one of the names.
func (r *Rules) Of(name string) (Guess, bool) { return r.of(name, maxDepth) }

// maxDepth bounds how often a rule may ask for what a part of a name is.
const maxDepth = 3

// ofPart is what a part of a name is.
func (r *Rules) ofPart(name string, depth int) (Guess, bool) {
	for i := range r.parts {
		if p := &r.parts[i]; p.name == name && p.depth == depth {
			return p.guess, p.ok
		}
	}
	g, ok := r.of(name, depth)
	r.parts = append(r.parts, known{name, depth, g, ok})
	return g, ok
}

func (r *Rules) of(name string, depth int) (Guess, bool) {
	if g, ok := r.debian.Row(name); ok {
		return g, true
	}
	if depth == 0 || name == "" || !wellFormed(name) {
		return Guess{}, false
	}
	q := query{Rules: r, name: name, lower: strings.ToLower(name), depth: depth - 1}
	for _, rule := range rules() {
		if g, ok := rule(q); ok {
			return g, true
		}
	}
	return Guess{}, false
}

// wellFormed bounds what the rules look at.
func wellFormed(name string) bool {
	return len(name) <= 200 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// query is a name that rules look at.
type query struct {
	*Rules
	name, lower string
	depth       int
}

// rules in the order in which they are tried.
func rules() []func(query) (Guess, bool) {
	return []func(query) (Guess, bool){
		query.collection, query.identical, query.pattern, query.translation, query.module, query.folded,
		query.qt, query.fonts, query.role, query.lib, query.source, query.java, query.versionless, query.part,
	}
}

// first is the first of the names that Debian has.
func (q query) first(names ...string) (string, bool) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue // as where a rule makes nothing of a name
		}
		if _, ok := q.debian.Package(name); ok {
			return name, true
		}
	}
	return "", false
}

// named is what a rule finds where Debian has one of some names.
func (q query) named(relation api.Relation, confidence float64, method string, names ...string) (Guess, bool) {
	if name, ok := q.first(names...); ok {
		return found(relation, confidence, method, name)
	}
	return Guess{}, false
}

func found(relation api.Relation, confidence float64, method string, targets ...string) (Guess, bool) {
	return Guess{Relation: relation, Confidence: confidence, Targets: targets, Method: method}, true
}

// pattern finds the curated row of a pattern.
func (q query) pattern() (Guess, bool) { return q.debian.Pattern(q.name) }

// identical takes the same name for the same thing, which collisions in the
// curated rows contradict.
func (q query) identical() (Guess, bool) {
	return q.named(api.RelationSame, sameName, SameName, q.name)
}

// folded finds a name in the lower case and with the dashes of Debian.
func (q query) folded() (Guess, bool) {
	if names := []string{q.lower, strings.ReplaceAll(q.lower, "_", "-")}; names[1] != q.name {
		return q.named(api.RelationRenamed, sameName, SameName, names...)
	}
	return Guess{}, false // it is asked for as it is
}

// collections are the prefixes of software collections and of repositories
// that install several versions side by side: what follows is a usual name.
var collections = lazyregexp.New(`^(?:rh-(?:php|python|ruby|perl|nodejs|postgresql|mariadb|mysql|mongodb|redis|nginx|varnish|git|maven|java|dotnet|haproxy|eclipse|ror|passenger|thermostat)[0-9.]*|httpd24|devtoolset-[0-9]+|gcc-toolset-[0-9]+|llvm-toolset-?[0-9.]*|go-toolset-?[0-9.]*|rust-toolset-?[0-9.]*|sclo-[a-z]+[0-9]*|php[5-9][0-9]|ea-php[5-9][0-9]|alt-php[5-9][0-9]|nodejs[0-9]+|git2[0-9]+u?|httpd24u|php[5-9][0-9]u|python[0-9]+u|ruby[0-9.]+)-(.+)$`)

// collection cuts the name of a collection off.
func (q query) collection() (Guess, bool) {
	m := collections.FindStringSubmatch(q.name)
	if m == nil {
		return Guess{}, false
	}
	inner := m[1]
	if strings.HasPrefix(q.name, "php") && !strings.HasPrefix(inner, "php-") && inner != "php" {
		inner = "php-" + inner
	}
	g, ok := q.ofPart(inner, q.depth)
	g.Confidence = min(g.Confidence, library)
	return renamed(g), ok
}

// renamed is the guess for a package that has another name than the one it was
// made of.
func renamed(g Guess) Guess {
	if g.Relation == api.RelationSame {
		g.Relation = api.RelationRenamed
	}
	return g
}

// translated finds names of translations: what they belong to has them.
var translated = lazyregexp.New(`^(.+?)-(?:lang|langpack-.+|langpacks?|translations|locale)$`)

// translation answers for the translations of a package: Debian ships them with
// the package itself.
func (q query) translation() (Guess, bool) {
	m := translated.FindStringSubmatch(q.name)
	if m == nil {
		return Guess{}, false
	}
	if g, ok := q.ofPart(m[1], q.depth); ok && len(g.Targets) > 0 {
		return found(api.RelationIncluded, min(g.Confidence, translations), "translations", g.Targets[0])
	}
	return found(api.RelationRemoved, absent, Absent)
}

// Stem is what the names of one library have in common in every distribution:
// letters and digits without the version that its soname ends with.
func Stem(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "t64", "")
	cut := strings.TrimRight(name, "0123456789._")
	if trimmed, ok := strings.CutSuffix(cut, "-"); ok && cut != name && trimmed != "" && isDigit(trimmed[len(trimmed)-1]) {
		cut = trimmed // libx11-6: only what follows the dash is the soname
	}
	return Squeeze(cut)
}

// Versionless is the stem of a library's name without any version, which no
// Stem is: *libsdlgfx of libsdl-gfx1.2-5.
func Versionless(name string) string { return "*" + Unnumbered(Stem(name)) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// Squeeze keeps the letters and digits of a name: libglib-2_0-0 and
// libglib2.0-0 are one.
func Squeeze(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// lib takes names of libraries, with or without a soname, for the libraries of
// Debian, which come as dependencies. A name without lib in front is less sure.
func (q query) lib() (Guess, bool) {
	name, confidence := q.name, library
	if !strings.HasPrefix(q.lower, "lib") {
		name, confidence = "lib"+q.name, sibling
	}
	stems := []string{Squeeze(name), Stem(name), Stem(Stem(name))}
	for _, stem := range slices.Compact(stems) {
		canonical, ok := q.debian.Library(stem)
		if !ok {
			continue
		}
		if name, ok := q.debian.Canonical(canonical); ok {
			return found(api.RelationIncluded, confidence, Library, name)
		}
	}
	return Guess{}, false
}

// versionless takes a name without a version for the only library of Debian that
// has that name with one.
func (q query) versionless() (Guess, bool) {
	if strings.ContainsAny(q.name, "0123456789") {
		return Guess{}, false
	}
	canonical, ok := q.debian.Library(Versionless("lib" + strings.TrimPrefix(q.lower, "lib")))
	if !ok {
		return Guess{}, false
	}
	name, ok := q.debian.Canonical(canonical)
	return Guess{Relation: api.RelationIncluded, Confidence: similar, Targets: []string{name}, Method: Library}, ok
}

// helper finds packages that only help the library of their source: where a
// source has nothing else beside it, an rpm of its name is the library.
var helper = lazyregexp.New(`^gir1\.2-|-(?:bin|utils|tools|tests|proxy|service)$|[a-z]utils$`)

// source takes a name for that of software whose packages have others.
func (q query) source() (Guess, bool) {
	slug := Slug(q.name)
	lib, isLib := q.debian.Canonical(slug + "--lib")
	main, isMain := q.debian.Canonical(slug)
	switch {
	case isMain && strings.Contains(Squeeze(main), Squeeze(q.name)) && !IsSubpackage(main, q.name) && !(isLib && helper.MatchString(main)):
		return found(api.RelationRenamed, mainBinary, "main binary", main)
	case isLib:
		return found(api.RelationIncluded, library, Library, lib)
	case isMain:
		return found(api.RelationRenamed, mainBinary-0.1, "main binary", main)
	}
	return Guess{}, false
}

// wholes are the words that the main package of software may have behind its
// name; Debian puts java behind all of Java's.
var wholes = []string{"", "all", "base", "bin", "cli", "core", "daemon", "full", "java", "main", "server", "standard"}

// IsSubpackage reports whether a package of Debian has the name of software and a word
// that says which part of it: openvswitch-pki is not Open vSwitch.
func IsSubpackage(deb, software string) bool {
	_, word, ok := strings.Cut(Unnumbered(deb), Unnumbered(software)+"-")
	return ok && !slices.Contains(wholes, word)
}

// Unnumbered is a name in small letters without its versions.
func Unnumbered(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name)), "-")
}

// Slug drops what the alphabet of canonicals lacks, and what none begins or ends with.
func Slug(name string) string { return strings.Trim(record.Slug(name), "-._+") }

// Canonical is the canonical of an rpm that is no package of Debian.
func Canonical(name string) string {
	for _, s := range record.RPMEndings {
		if rest, ok := strings.CutSuffix(name, s.Suffix); ok && rest != "" && s.Role != api.RoleMain {
			return Slug(rest) + "--" + string(s.Role)
		}
	}
	return Slug(name)
}

// Recoverable is the canonical of an rpm that nobody is known to have: that of its
// role where Usual leads back to the name, else all of the name.
func Recoverable(name string) string {
	canonical := Canonical(name)
	if back, _ := Usual(canonical); back != name {
		return Slug(name)
	}
	return canonical
}

// Names are the names that a canonical of Canonical may be of.
func Names(canonical string) []string {
	base, role, ok := strings.Cut(canonical, "--")
	if !ok {
		return []string{canonical}
	}
	ofRole := sliced.Filter(record.RPMEndings, func(s record.Ending) bool { return string(s.Role) == role })
	return sliced.Map(ofRole, func(s record.Ending) string { return base + s.Suffix })
}

// Usual is the name that a canonical of Canonical is most often of; ok is false
// where there is no usual one.
func Usual(canonical string) (name string, ok bool) {
	base, role, _ := strings.Cut(canonical, "--")
	suffix, ok := usual[api.Role(role)]
	return base + suffix, ok
}

// usual are the suffixes that most names of a role have.
var usual = map[api.Role]string{
	api.RoleDev: "-devel", api.RoleDebug: "-debuginfo", api.RoleDoc: "-doc", api.RoleLib: "-libs", api.RoleCommon: "-common", api.RoleLang: "-lang",
}
