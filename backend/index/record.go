package index

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc/backend/api"
	"svc/backend/index/catalog"
)

// The tables: those of a release are its slug and one of these.
const (
	namesTable      = "/names"
	canonicalsTable = "/canonicals"
	providesTable   = "/provides"
	sourcesTable    = "/sources"
	filesTable      = "/files"
	ownersTable     = "/owners"

	modulesTable  = "modules"  // of all releases: package of a Perl module → the rpm's name, where no rule makes it
	patternsTable = "patterns" // of all releases: name with * for the version → canonical

	caveatsTable      = "curated/caveats"
	conditionalsTable = "curated/conditionals"
	configTable       = "curated/config-paths"
)

// trailsTable has what changes from a release to a neighbour, either way.
func trailsTable(from, to string) string { return from + ">" + to + "/trails" }

// record is what the index keeps of a package.
type record struct {
	Name, Canonical, Major, Version, Component string

	own bool // of a derived release: its nearest suite does not have it
}

func (r record) encode() string {
	canonical := r.Canonical
	if canonical == r.Name {
		canonical = ""
	}
	return strings.Join([]string{canonical, r.Major, r.Version, r.Component}, "\t")
}

func decodeRecord(name, value string) record {
	r := record{Name: name}
	r.Canonical, value = column(value)
	r.Major, value = column(value)
	r.Version, r.Component = column(value)
	if r.Canonical == "" {
		r.Canonical = name
	}
	return r
}

// column parts a value at its first tab.
func column(value string) (first, rest string) { return cut(value, '\t') }

// cut parts a text at the first of a byte, which is found sooner than a text.
func cut(text string, at byte) (first, rest string) {
	if i := strings.IndexByte(text, at); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// words are those of a column.
func words(column string) []string {
	if column == "" {
		return nil
	}
	if strings.IndexByte(column, ' ') < 0 {
		return []string{column}
	}
	return strings.Fields(column)
}

// keepsMajor reports whether several majors of the software live side by side,
// so that the major is part of the canonical.
func (r record) keepsMajor() bool {
	return r.Major != "" && strings.Contains(r.Canonical, r.Major)
}

// role is what stands after "--" in a canonical, or main. What parts an rpm from
// one that has the canonical already is no part of it.
func role(canonical string) api.Role {
	_, r, found := strings.Cut(canonical, "--")
	if !found {
		return api.RoleMain
	}
	return api.Role(withoutApart(r))
}

// withoutApart drops what parts an rpm from one that has the canonical already.
func withoutApart(canonical string) string {
	for strings.HasSuffix(canonical, apart) {
		canonical = strings.TrimSuffix(canonical, apart)
	}
	return canonical
}

// apart is appended to the canonical of an rpm where another has it already.
const apart = "-rpm"

// modulePrefixes begin the names of programs' modules that are no libraries: they
// are installed for themselves, and a digit at their end is no soname.
var modulePrefixes = []string{"libapache2-mod-", "libpam-", "libnginx-mod-"}

// isLibrary reports whether a package of Debian's kin is a library, which comes
// as a dependency: by its role, or by a name that ends with a soname.
func (r record) isLibrary() bool {
	if slices.ContainsFunc(modulePrefixes, func(prefix string) bool { return strings.HasPrefix(r.Name, prefix) }) {
		return false
	}
	name := strings.TrimSuffix(r.Name, "t64")
	return role(r.Canonical) == api.RoleLib ||
		strings.HasPrefix(name, "lib") && strings.ContainsRune("0123456789", rune(name[len(name)-1]))
}

// software is a canonical without its role and its major.
func software(canonical, major string) string {
	if isCanonical(canonical) {
		canonical = canonical[:strings.LastIndex(canonical, "--")]
	}
	if major == "" {
		return canonical
	}
	return strings.Replace(canonical, "-"+major, "", 1)
}

func encodeTrail(t catalog.Trail) string {
	return strings.Join([]string{
		string(t.Relation), strconv.Itoa(int(t.Confidence*100 + 0.5)), strings.Join(t.Targets, " "), t.Method, strings.Join(t.Candidates, " "),
	}, "\t")
}

func decodeTrail(value string) (catalog.Trail, error) {
	relation, rest := column(value)
	percent, rest := column(rest)
	targets, rest := column(rest)
	method, candidates, whole := strings.Cut(rest, "\t")
	confidence, err := strconv.Atoi(percent)
	if err != nil || confidence < 0 || confidence > 100 || !whole {
		return catalog.Trail{}, fmt.Errorf("a trail of the index is %.80q", value)
	}
	return catalog.Trail{
		Relation: api.Relation(relation), Confidence: float64(confidence) / 100,
		Targets: words(targets), Method: method, Candidates: words(candidates),
	}, nil
}

// find reads the record of a package.
func (t *releaseTables) find(name string) (record, bool, error) {
	value, ok, err := t.names.Get(name)
	if err != nil {
		return record{}, false, err
	}
	if !ok {
		return t.findOwn(name)
	}
	return decodeRecord(name, value), true, nil
}

// byCanonical reads the record of the package that a canonical names.
func (t *releaseTables) byCanonical(canonical string) (record, bool, error) {
	name, ok, err := t.canonicals.Get(canonical)
	if err != nil {
		return record{}, false, err
	}
	if !ok {
		if name, err = t.ownCanonical(canonical); err != nil {
			return record{}, false, err
		}
	}
	r, ok, err := t.find(name)
	return r, ok && r.Canonical == canonical, err
}
