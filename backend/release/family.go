package release

import (
	_ "embed"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/backend/tsv"
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

// Userland has the commands that a system begins with.
type Userland string

// The userlands.
const (
	GNU     Userland = "gnu"
	Busybox Userland = "busybox"
)

// Libc is the C library.
type Libc string

// The C libraries.
const (
	Glibc Libc = "glibc"
	Musl  Libc = "musl"
)

// Conventions are what the releases of a family have in common.
type Conventions struct {
	Family       Family
	Line         Line
	Init         Init
	Userland     Userland
	Libc         Libc
	Format       Format
	Database     string // the program that keeps it: dpkg, rpm, apk
	DatabasePath string // where that is, from the root
	Manager      string // that installs packages: apt, dnf, zypper, apk
	ManagerSince string // version from which releases have it; empty where all have
	Ask          string // command that says whether the system has a package
	SELinux      bool   // it is on by itself
	Crontabs     Crontabs
	Web          Web
	Keyring      string // with the keys of its archives; empty where it has none by itself
	ids          []string
	// Beside ends the names under which the manager puts, beside a file that was edited,
	// what the package itself would have there.
	Beside []string
	// Vendor tells the distribution's packages by the vendor that they note; nil where they
	// note none. EL's are each other's: machines are converted from one to another.
	Vendor *lazyregexp.Regexp
	// Repositories tells the distribution's own by where they are known to be, and mirrors
	// of them by the paths they use; nil where nothing is known of them.
	Repositories *lazyregexp.Regexp
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
	conventions = tsv.List(familyRows, 22, conventionsOf)()
	byFamily    = func() map[Family]Conventions {
		m := map[Family]Conventions{}
		for _, c := range conventions {
			m[c.Family] = c
		}
		return m
	}()
)

// HasManager reports whether a release has its family's package manager, and not the one
// before it: EL before 8 and Amazon Linux 2 have yum.
func (r Release) HasManager() bool {
	since := r
	since.Version = r.Family.Conventions().ManagerSince
	return since.Version == "" || !r.Older(since)
}

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

// pattern is that of a cell; nil where it has none.
func pattern(cell string) *lazyregexp.Regexp {
	if cell == "" {
		return nil
	}
	return lazyregexp.New(cell)
}

// Beside is what ends the names of files that the managers of all families put beside
// edited ones, each once.
func Beside() []string {
	all := sliced.FlatMap(conventions, func(c Conventions) []string { return c.Beside })
	slices.Sort(all)
	return slices.Compact(all)
}

// conventionsOf reads a row.
func conventionsOf(f []string) Conventions {
	return Conventions{
		Family: Family(f[0]), Line: Line(f[1]), Init: Init(f[2]), Userland: Userland(f[3]), Libc: Libc(f[4]),
		Format: Format(f[5]), Database: f[6], DatabasePath: f[7], Manager: f[8], ManagerSince: f[9], Ask: f[10],
		SELinux: f[11] == "yes", Crontabs: Crontabs{f[12], f[13], f[14]}, Web: Web{f[15], f[16]}, Keyring: f[17], ids: strings.Fields(f[18]),
		Beside: strings.Fields(f[19]), Vendor: pattern(f[20]), Repositories: pattern(f[21]),
	}
}
