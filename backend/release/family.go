package release

import (
	_ "embed"
	"fmt"
	"strings"
)

// Family is a line of systems that share a package format and conventions.
type Family string

// The families.
const (
	Debian Family = "debian"
	Ubuntu Family = "ubuntu"
	EL     Family = "el"
	SUSE   Family = "suse"
	Amazon Family = "amazon"
	Fedora Family = "fedora"
	Alpine Family = "alpine"
)

// Line is what families are of that keep files in the same places, and name
// accounts alike.
type Line string

// The lines; each is named after the family that it began with.
const (
	LineDebian Line = "debian"
	LineEL     Line = "el"
	LineSUSE   Line = "suse"
	LineAlpine Line = "alpine"
)

// Init is what starts a system's services.
type Init string

// The inits.
const (
	Systemd Init = "systemd"
	OpenRC  Init = "openrc"
)

// Format is a format of packages.
type Format string

// The formats.
const (
	Deb Format = "deb"
	RPM Format = "rpm"
	APK Format = "apk"
)

// Conventions are what the releases of a family have in common.
type Conventions struct {
	Family       Family
	Line         Line
	Init         Init
	Format       Format
	Database     string // the program that keeps it: dpkg, rpm, apk
	DatabasePath string // where that is, from the root
	Manager      string // that installs packages: apt, dnf, zypper, apk
	Ask          string // command that says whether the system has a package
	SELinux      bool   // it is on by itself
	Crontabs     Crontabs
	Web          Web
	Keyring      string // with the keys of its archives; empty where it has none by itself
	ids          []string
}

// Crontabs are users' own tables of jobs.
type Crontabs struct {
	Folder string
	Owner  string // empty is the user
	Group  string
}

// Web is whom Apache runs as.
type Web struct{ Account, Group string }

//go:embed families.tsv
var familyRows string

var (
	conventions = parseFamilies(familyRows)
	byFamily    = func() map[Family]Conventions {
		m := map[Family]Conventions{}
		for _, c := range conventions {
			m[c.Family] = c
		}
		return m
	}()
)

// Families are what svc knows of every family.
func Families() []Conventions { return append([]Conventions(nil), conventions...) }

// Conventions are what is known of a family; of none where it is not known.
func (f Family) Conventions() Conventions { return byFamily[f] }

// FamilyOf is the family of a distribution, by what os-release has as its ID; empty
// where that is not known.
func FamilyOf(id string) Family {
	for _, c := range conventions {
		for _, own := range c.ids {
			if own == id {
				return c.Family
			}
		}
	}
	return ""
}

// parseFamilies reads the rows.
func parseFamilies(rows string) (all []Conventions) {
	for row := range strings.Lines(rows) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(f) != 16 {
			panic(fmt.Sprintf("a row of families has %d columns: %q", len(f), row))
		}
		for i := range f {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		all = append(all, Conventions{
			Family: Family(f[0]), Line: Line(f[1]), Init: Init(f[2]), Format: Format(f[3]), Database: f[4], DatabasePath: f[5], Manager: f[6], Ask: f[7],
			SELinux: f[8] == "yes", Crontabs: Crontabs{f[9], f[10], f[11]}, Web: Web{f[12], f[13]}, Keyring: f[14], ids: strings.Fields(f[15]),
		})
	}
	return all
}
