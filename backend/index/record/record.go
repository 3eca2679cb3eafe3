package record

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"svc/backend/api"
)

// IsCanonical tells a canonical that stands for a package whose name is not
// known from a name.
func IsCanonical(name string) bool { return roleAt(name) < len(name) }

// roleAt is where the "--" of a canonical's role is, or its end.
func roleAt(canonical string) int {
	for i := 1; i < len(canonical); i++ {
		if canonical[i] == '-' && canonical[i-1] == '-' {
			return i - 1
		}
	}
	return len(canonical)
}

// HasWord reports whether one of the words of a text is this.
func HasWord(text, word string) bool {
	for first := ""; text != ""; {
		if first, text = Cut(text, ' '); first == word {
			return true
		}
	}
	return false
}

// AppendNew adds those of some names that are not among the others yet.
func AppendNew(names []string, more ...string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Record is what the index keeps of a package.
type Record struct {
	Name, Canonical, Major, Version, Component string

	Own bool // of a derived release: its nearest suite does not have it
}

func (r Record) Encode() string {
	canonical := r.Canonical
	if canonical == r.Name {
		canonical = ""
	}
	return strings.Join([]string{canonical, r.Major, r.Version, r.Component}, "\t")
}

func DecodeRecord(name, value string) Record {
	r := Record{Name: name}
	r.Version, r.Component = Column(Columns(value, &r.Canonical, &r.Major))
	r.Canonical = cmp.Or(r.Canonical, name)
	return r
}

// Column parts a value at its first tab.
func Column(value string) (first, rest string) { return Cut(value, '\t') }

// Columns takes the first columns of a value, which are short or empty: their bytes are
// looked at one by one, as that costs less than a search for each tab.
func Columns(value string, columns ...*string) (rest string) {
	begin := 0
	for _, column := range columns {
		end := begin
		for end < len(value) && value[end] != '\t' {
			end++
		}
		*column, begin = value[begin:end], min(end+1, len(value))
	}
	return value[begin:]
}

// Cut parts a text at the first of a byte, which is found sooner than a text.
func Cut(text string, at byte) (first, rest string) {
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

// KeepsMajor reports whether several majors of the software live side by side,
// so that the major is part of the canonical.
func (r Record) KeepsMajor() bool {
	return r.Major != "" && strings.Contains(r.Canonical, r.Major)
}

// Role is what stands after "--" in a canonical, or main. What parts an rpm from
// one that has the canonical already is no part of it.
func Role(canonical string) api.Role {
	at := roleAt(canonical)
	if at == len(canonical) {
		return api.RoleMain
	}
	return api.Role(WithoutApart(canonical[at+len("--"):]))
}

// WithRole is the canonical of a role of a software.
func WithRole(software string, role api.Role) string {
	if role == api.RoleMain {
		return software
	}
	return software + "--" + string(role)
}

// Slug drops what the alphabet of canonicals lacks.
func Slug(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '+', r == '_', r == '-':
			return r
		}
		return '-'
	}, strings.ToLower(name))
}

// WithoutApart drops what parts an rpm from one that has the canonical already.
func WithoutApart(canonical string) string {
	for strings.HasSuffix(canonical, Apart) {
		canonical = strings.TrimSuffix(canonical, Apart)
	}
	return canonical
}

// Apart is appended to the canonical of an rpm where another has it already.
const Apart = "-rpm"

// modulePrefixes begin the names of programs' modules that are no libraries: they
// are installed for themselves, and a digit at their end is no soname.
var modulePrefixes = []string{"libapache2-mod-", "libpam-", "libnginx-mod-"}

// IsLibrary reports whether a package of Debian's family is a library, which comes
// as a dependency: by its role, or by a name that ends with a soname.
func (r Record) IsLibrary() bool {
	if !strings.HasPrefix(r.Name, "lib") {
		return Role(r.Canonical) == api.RoleLib
	}
	if slices.ContainsFunc(modulePrefixes, func(prefix string) bool { return strings.HasPrefix(r.Name, prefix) }) {
		return false
	}
	name := strings.TrimSuffix(r.Name, "t64")
	return IsDigit(name, len(name)-1) || Role(r.Canonical) == api.RoleLib
}

// Software is a canonical without its role and its major.
func Software(canonical, major string) string {
	if IsCanonical(canonical) {
		canonical = canonical[:strings.LastIndex(canonical, "--")]
	}
	if major == "" {
		return canonical
	}
	return strings.Replace(canonical, "-"+major, "", 1)
}

func EncodeTrail(t Trail) string {
	return strings.Join([]string{
		string(t.Relation), strconv.Itoa(int(t.Confidence*100 + 0.5)), strings.Join(t.Targets, " "), t.Method, strings.Join(t.Candidates, " "),
	}, "\t")
}

// DecodeTrail reads a trail. What is none leads nowhere: opening an index finds it.
func DecodeTrail(value string) Trail {
	var relation, percent, targets, method string
	candidates := Columns(value, &relation, &percent, &targets, &method)
	confidence, err := strconv.Atoi(percent)
	if err != nil || confidence < 0 || confidence > 100 {
		return Trail{Relation: api.RelationUnknown}
	}
	return Trail{
		Relation: api.Relation(relation), Confidence: float64(confidence) / 100,
		Targets: words(targets), Method: method, Candidates: words(candidates),
	}
}

// IsTrail reports whether a value is a trail as EncodeTrail writes it.
func IsTrail(value string) bool { return EncodeTrail(DecodeTrail(value)) == value }

func IsRelation(text string) bool { return slices.Contains(api.Relations, api.Relation(text)) }
