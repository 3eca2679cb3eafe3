package convert

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"svc/assess/hazards"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/tsv"
)

//go:embed versions.tsv
var versionRows string

// versions are those of programs by release, such as alpine-3.18, by its major one, such
// as el-9, or by family, such as fedora.
var versions = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for program, cells := range tsv.Words(versionRows) {
		all[program] = map[string]string{}
		for _, cell := range cells {
			on, version, _ := strings.Cut(cell, "=")
			all[program][on] = version
		}
	}
	return all
})

// softwareOf are programs by what hazards call their software.
var softwareOf = map[string]string{"sshd": "openssh", "sysctl": "linux"}

// VersionOn is the version of a program that a release has, or empty where it is not
// known.
func VersionOn(program string, r release.Release) string {
	if DebianFamily(r) {
		return hazards.VersionOn(cmp.Or(softwareOf[program], program), r)
	}
	major, _, _ := strings.Cut(r.Version, ".")
	program, _, _ = strings.Cut(program, "/") // of a program with sections
	of := versions()[program]
	return cmp.Or(of[string(r.Family)+"-"+r.Version], of[string(r.Family)+"-"+major], of[r.ID+"-"+major], of[string(r.Family)])
}

// HasSince reports whether what came with a version of a program, or went with
// it, is so on a release; where its version is not known, it is.
func HasSince(program, since string, r release.Release) bool {
	has := VersionOn(program, r)
	return since == "" || has == "" || pkgversion.Compare(pkgversion.RPM, has, since) >= 0
}

// Older is a program that is older on the target.
type Older struct{ Program, Was, Is string }

// programPackages are the packages of the source that tell a program's version.
var programPackages = map[string][]string{
	"bind": {"bind", "bind9"}, "haproxy": {"haproxy"}, "mariadb": {"mariadb-server"}, "nginx": {"nginx"}, "php": {"php-fpm", "php-cli", "php-common"}, "postfix": {"postfix"}, "samba": {"samba"}, "sshd": {"openssh-server"},
}

// OlderPrograms are the programs of a machine that a target has in an earlier
// version: what their settings say may be news to them.
func OlderPrograms(in Input) (all []Older) {
	if DebianFamily(in.Target) && in.Source.Family == in.Target.Family {
		return nil // to go back in one family is a choice
	}
	for _, program := range slices.Sorted(maps.Keys(programPackages)) {
		was, is := MajorMinor.FindString(in.VersionOf(programPackages[program]...)), VersionOn(program, in.Target)
		if was != "" && is != "" && pkgversion.Compare(pkgversion.RPM, was, is) > 0 {
			all = append(all, Older{program, was, is})
		}
	}
	return all
}

func DebianFamily(r release.Release) bool {
	return r.Family.Conventions().Line == release.LineDebian
}

func RPMFamily(r release.Release) bool {
	return r.Family.Conventions().Line == release.LineEL
}

// FromRPM is a move from the rpm families to Debian or Ubuntu.
func FromRPM(in Input) bool { return RPMFamily(in.Source) && DebianFamily(in.Target) }

// ToRPM is a move to a release of the rpm families with dnf, or to SUSE, whose
// programs are made by much the same recipes.
func ToRPM(in Input) bool {
	return ToSUSE(in) || RPMFamily(in.Target) && in.Target.HasManager() && in.Source.Slug != in.Target.Slug && in.Source.Family != release.SUSE
}

// WithDNF is a move to a release of the rpm families itself.
func WithDNF(in Input) bool { return ToRPM(in) && !ToSUSE(in) }

// FromDebian is a move from Debian or Ubuntu to the rpm families.
func FromDebian(in Input) bool { return DebianFamily(in.Source) && ToRPM(in) }

// WithinRPM is a move between releases of the rpm families.
func WithinRPM(in Input) bool { return RPMFamily(in.Source) && ToRPM(in) }

// FromEL is a move from EL and those near it, whose units have variables that are not SUSE's.
func FromEL(in Input) bool {
	return FromRPM(in) && in.Source.Family.Conventions().Line == release.LineEL
}

// Across is a move from one family to another.
func Across(in Input) bool { return FromRPM(in) || FromDebian(in) || ToSUSE(in) }

// WebAccount is what the target calls an account of web servers.
func (in Input) WebAccount() (name, why string) {
	switch web := in.Target.Family.Conventions().Web; in.Target.Family.Conventions().Line {
	case release.LineDebian:
		return web.Account, "Debian's account of web servers is " + web.Account + "."
	case release.LineSUSE:
		return web.Account, "SUSE's account of web servers is " + web.Account + ", its group " + web.Group + "."
	default:
		return web.Account, "The account of web servers is " + web.Account + "."
	}
}

// Moves is a move whose programs' settings are known.
func Moves(in Input) bool { return ToDebian(in) || ToRPM(in) }

// OfRPM is a move from the rpm families, or to them.
func OfRPM(in Input) bool { return FromRPM(in) || ToRPM(in) }

// debianSince are the oldest releases of Debian's family whose programs' settings are
// known: the programs of Debian 13 were asked what they take, and by their versions it is
// known what earlier ones still have.
var debianSince = map[release.Family]string{release.Debian: "debian-12", release.Ubuntu: "ubuntu-22.04"}

// ToDebian is a move to a release of Debian's family whose programs' settings are known.
func ToDebian(in Input) bool {
	since, _ := release.Lookup(debianSince[in.Target.Family])
	return DebianFamily(in.Target) && !in.Target.Older(since) && in.Source.Slug != in.Target.Slug
}

// VersionOf is the version, without its epoch, of the first of some packages
// that the source has, or empty.
func (in Input) VersionOf(names ...string) string {
	for _, name := range names {
		if version, ok := in.Installed[name]; ok {
			if _, upstream, epoch := strings.Cut(version, ":"); epoch {
				return upstream
			}
			return version
		}
	}
	return ""
}

// DebianAccount is what Debian calls an account or group.
func DebianAccount(name string) string {
	return cmp.Or(WordsOf("accounts-debian")[name].Now, name)
}

// WithinDebian is a move from one release of Debian or Ubuntu to another, or to
// the same.
func WithinDebian(in Input) bool { return DebianFamily(in.Source) && DebianFamily(in.Target) }

// ToSUSE is a move to a release of SUSE from Debian's or the rpm families.
func ToSUSE(in Input) bool {
	since, _ := release.Lookup("sles-15")
	return in.Target.Family == release.SUSE && !in.Target.Older(since) && (RPMFamily(in.Source) || DebianFamily(in.Source))
}
