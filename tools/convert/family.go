package convert

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"svc/backend/pkgversion"
	"svc/backend/release"
)

//go:embed versions.tsv
var versionRows string

// versions are those of programs by release, such as el-9, or family, such as
// fedora.
var versions = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for program, cells := range words(versionRows) {
		all[program] = map[string]string{}
		for _, cell := range cells {
			on, version, _ := strings.Cut(cell, "=")
			all[program][on] = version
		}
	}
	return all
})

// versionOn is the version of a program that a release of the rpm families has,
// or empty.
func versionOn(program string, r release.Release) string {
	major, _, _ := strings.Cut(r.Version, ".")
	program, _, _ = strings.Cut(program, "/") // of a program with sections
	of := versions()[program]
	if v := of[string(r.Family)+"-"+major]; v != "" {
		return v
	}
	if v := of[r.ID+"-"+major]; v != "" {
		return v
	}
	return of[string(r.Family)]
}

// hasSince reports whether what came with a version of a program, or went with
// it, is so on a release: of those of Debian's family always.
func hasSince(program, since string, r release.Release) bool {
	if since == "" || debianFamily(r) {
		return true
	}
	has := versionOn(program, r)
	return has == "" || pkgversion.Compare(pkgversion.RPM, has, since) >= 0
}

// Older is a program that is older on the target.
type Older struct{ Program, Was, Is string }

// programPackages are the packages of the source that tell a program's version.
var programPackages = map[string][]string{
	"bind": {"bind", "bind9"}, "haproxy": {"haproxy"}, "mariadb": {"mariadb-server"}, "nginx": {"nginx"}, "php": {"php-fpm", "php-cli", "php-common"}, "postfix": {"postfix"}, "samba": {"samba"}, "sshd": {"openssh-server"},
}

// OlderPrograms are the programs of a machine that a target of the rpm families
// has in an earlier version: what their settings say may be news to them.
func OlderPrograms(in Input) (all []Older) {
	if debianFamily(in.Target) {
		return nil
	}
	for _, program := range slices.Sorted(maps.Keys(programPackages)) {
		was, is := majorMinor.FindString(in.installed(programPackages[program]...)), versionOn(program, in.Target)
		if was != "" && is != "" && pkgversion.Compare(pkgversion.RPM, was, is) > 0 {
			all = append(all, Older{program, was, is})
		}
	}
	return all
}

func debianFamily(r release.Release) bool {
	return r.Family.Conventions().Line == release.LineDebian
}

func rpmFamily(r release.Release) bool {
	return r.Family.Conventions().Line == release.LineEL
}

// fromRPM is a move from the rpm families to Debian or Ubuntu.
func fromRPM(in Input) bool { return rpmFamily(in.Source) && debianFamily(in.Target) }

// toRPM is a move to a release of the rpm families with dnf, or to SUSE, whose
// files are made of theirs.
func toRPM(in Input) bool {
	major, _, _ := strings.Cut(in.Target.Version, ".")
	old := slices.Contains([]string{"5", "6", "7"}, major) && in.Target.Family == release.EL || in.Target.Slug == "amzn-2"
	return toSUSE(in) || rpmFamily(in.Target) && !old && in.Source.Slug != in.Target.Slug && in.Source.Family != release.SUSE
}

// withDNF is a move to a release of the rpm families itself.
func withDNF(in Input) bool { return toRPM(in) && !toSUSE(in) }

// fromDebian is a move from Debian or Ubuntu to the rpm families.
func fromDebian(in Input) bool { return debianFamily(in.Source) && toRPM(in) }

// withinRPM is a move between releases of the rpm families.
func withinRPM(in Input) bool { return rpmFamily(in.Source) && toRPM(in) }

// across is a move from one family to another.
func across(in Input) bool { return fromRPM(in) || fromDebian(in) || toSUSE(in) }

// elsewhere says why a place is another.
func elsewhere(in Input) string {
	if debianFamily(in.Target) {
		return "Debian keeps it in another place."
	}
	return "The target keeps it in another place."
}

// account is what the target calls an account of web servers.
func (in Input) account() (name, why string) {
	if debianFamily(in.Target) {
		return "www-data", "Debian's account of web servers is www-data."
	}
	return "apache", "The account of web servers is apache."
}

// between are the places that are others in a move, of a table that says what
// the rpm families and Debian have.
func (all places) between(in Input) places {
	switch {
	case fromDebian(in):
		return all.back()
	case withinRPM(in):
		return nil
	}
	return all
}

// back is the way from Debian: of several that lead to one place the first
// counts, and the longer comes before what it begins with.
func (all places) back() places {
	turned := places{}
	for _, place := range all {
		known := slices.ContainsFunc(turned, func(t [2]string) bool { return t[0] == place[1] })
		if !known && !strings.Contains(place[0], "/chroot/") && place[1] != "/tmp" && place[1] != "/var/log" {
			turned = append(turned, [2]string{place[1], place[0]})
		}
	}
	slices.SortStableFunc(turned, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	return turned
}

// moves is a move whose programs' settings are known.
func moves(in Input) bool { return toDebian13(in) || toRPM(in) }

// ofRPM is a move from the rpm families, or to them.
func ofRPM(in Input) bool { return fromRPM(in) || toRPM(in) }

// ownWays are the converters whose files are written in the way of a family, and
// say nothing, or something else, in another.
var ownWays = map[release.Family][]string{
	release.SUSE: {"httpd", "nginx", "php", "php-fpm", "mariadb", "named", "postfix-master", "chrony", "nsswitch", "iptables", "nftables", "nfs", "fail2ban"},
	release.EL:   {"nsswitch", "fail2ban", "anacron"},
}

// ByHand says why a file has to be carried over by a person though its path is
// the same: no converter knows the way to the target's family. It is empty where
// one does, and where the file holds as it is.
func ByHand(in Input, file string) string {
	family := in.Target.Family
	if rpmFamily(in.Target) {
		family = release.EL
	}
	if family == in.Source.Family || rpmFamily(in.Source) && rpmFamily(in.Target) {
		return newerDovecot(in, file)
	}
	for _, c := range registry {
		own := slices.Contains(ownWays[family], c.name) || in.Source.Family == release.SUSE && slices.Contains(ownWays[release.SUSE], c.name)
		if own && c.takesFile(file) && !c.applies(in) {
			return "It is written in the way of " + in.Source.Name + ", and no converter knows that of " + in.Target.Name + ": carry its settings over by hand."
		}
	}
	return newerDovecot(in, file)
}

// newerDovecot says that a file has the form of Dovecot 2.4, which the rpm
// families' does not take.
func newerDovecot(in Input, file string) string {
	if rpmFamily(in.Target) && strings.HasPrefix(file, "/etc/dovecot/") && strings.HasPrefix(in.installed("dovecot", "dovecot-core"), "2.4") {
		return "Dovecot 2.4 has another form of its settings than 2.3, which the target has."
	}
	return ""
}
