package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc/backend/api"
	"svc/backend/release"
)

// VendorEPEL is EPEL among the vendors, and among the levels of EL.
const VendorEPEL = api.EPEL

// WholeLists is the first level of EL whose list is nearly whole.
const WholeLists = 9

const RowConfidence = 0.96 // a row of one name

const PatternConfidence = 0.93 // a row of a pattern of names

// Level is how far an rpm release is along its line, in the major versions of
// EL or of SLES: what Amazon and Fedora make of EL's packages is nearest to it.
func Level(r release.Release) (line string, n int, known bool) {
	major, _ := strconv.Atoi(strings.SplitN(r.Version, ".", 2)[0])
	switch r.Family {
	case release.EL:
		return "el", major, major >= 7
	case release.Amazon:
		return "el", amazonLevel(major), false
	case release.Fedora:
		return "el", fedoraLevel(major), false
	case release.SUSE:
		return "suse", major, false
	}
	return "", 0, false
}

// amazonLevel: Amazon Linux 2 follows EL 7, 2023 follows Fedora 34 to 36.
func amazonLevel(version int) int {
	if version >= 2023 {
		return 9
	}
	return 7
}

// fedoraLevel: EL 8 was made of Fedora 28, 9 of 34, 10 of 40.
func fedoraLevel(version int) int {
	switch {
	case version < 34:
		return 8
	case version < 40:
		return 9
	}
	return 10
}

// SuseKey is what the keys of packages begin with whose names SUSE gives to
// other packages than EL: its mariadb is the server, EL's the client.
const SuseKey = "suse/"

// PartKey parts the key of a package into its name and the last level of EL for
// which the key is: 8/ctags is what EL has under that name up to 8.
func PartKey(key string) (name string, until int) {
	if strings.IndexByte(key, '/') < 0 {
		return key, 0 // as most are
	}
	name = strings.TrimPrefix(key, SuseKey)
	level, own, ok := strings.Cut(name, "/")
	if !ok {
		return name, 0
	}
	if until, err := strconv.Atoi(level); err == nil {
		return own, until
	}
	return name, 0
}

// OfLine is a name among others, which says so where one line of rpm releases alone has it.
func OfLine(line, name string) string {
	if line == "" {
		return name
	}
	return line + ":" + name
}

// LineOf parts a name among others from the line that alone has it.
func LineOf(word string) (line, name string) {
	if i := strings.IndexByte(word, ':'); i >= 0 {
		return word[:i], word[i+1:]
	}
	return "", word
}

// OwnKey is the key of what an owner of names has in place of EL's.
func OwnKey(owner, name string) string { return owner + " " + name }

// IsOwner reports whether a word is what names of its own are kept under: a release, a
// distribution, or a line of them.
func IsOwner(word string) bool {
	return slices.ContainsFunc(release.All(), func(r release.Release) bool {
		return word == r.Slug || word == Distribution(r.Slug) || word == string(r.Family.Conventions().Line)
	})
}

// GeneralKey is the key of the name that EL has for an owner's.
func GeneralKey(owner, own string) string { return owner + "/" + own }

func UntilKey(level, name string) string { return level + "/" + name }

func BoolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ListOf is the word of a release's list among those; EL's lists are levels.
func ListOf(r release.Release, line string, level int) string {
	switch {
	case line == "suse":
		return fmt.Sprintf("suse-%d", level)
	case r.Family == release.Amazon:
		return r.Slug
	case r.Family == release.Fedora:
		return "fedora"
	}
	return ""
}

const ObsoletesConfidence = 0.95

const Obsoleted = "obsoletes" // the method

func IsRPM(r release.Release) bool {
	line, _, _ := Level(r)
	return line != ""
}

// Listed is what a release's own list says of a package.
type Listed struct {
	Version, Repository, Source string
	Streams                     []string
	Hidden                      bool // one of the streams must be enabled
}

func (l Listed) Encode() string {
	hidden := ""
	if l.Hidden {
		hidden = "hidden"
	}
	return strings.Join([]string{l.Version, l.Repository, l.Source, strings.Join(l.Streams, " "), hidden}, "\t")
}

func DecodeListed(value string) Listed {
	c := append(strings.Split(value, "\t"), "", "", "", "", "")
	return Listed{c[0], c[1], c[2], strings.Fields(c[3]), c[4] != ""}
}

// NotSaid stands in a row for a line of which it says nothing.
const NotSaid = "?"

// Distribution is a release's slug without its version.
func Distribution(slug string) string {
	return slug[:strings.LastIndexByte(slug, '-')]
}
