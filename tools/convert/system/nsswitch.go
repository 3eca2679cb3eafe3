package system

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// nssPackages are the sources of names that Debian has in packages of their own;
// those of libc itself need none.
var nssPackages = map[string]string{
	"sss": "libnss-sss", "ldap": "libnss-ldapd", "winbind": "libnss-winbind", "wins": "libnss-winbind", "nis": "libnss-nis",
	"libvirt": "libnss-libvirt", "libvirt_guest": "libnss-libvirt", "mdns": "libnss-mdns", "mdns4": "libnss-mdns", "mdns6": "libnss-mdns", "mdns_minimal": "libnss-mdns", "mdns4_minimal": "libnss-mdns", "mdns6_minimal": "libnss-mdns",
	"myhostname": "libnss-myhostname", "mymachines": "libnss-mymachines", "resolve": "libnss-resolve", "systemd": "libnss-systemd", "extrausers": "libnss-extrausers", "db": "libnss-db",
	"files": "", "dns": "", "compat": "",
}

// nisPlus is the source NIS+, with what is done where it does not know a name.
// The rpm families' own file has it, and no server of it is left.
var nisPlus = lazyregexp.New(`\bnisplus\b\s*(\[[^\]]*\]\s*)?`)

// noNISPlus is why it goes.
const noNISPlus = "No server of NIS+ is left."

// NSSwitch brings the packages of the sources that nsswitch.conf names, and
// leaves out NIS+. The order of the sources stays.
func NSSwitch(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Active() {
			nssLine(&r, p, i)
		}
		r.Close(p, f.Path)
	}
	return r
}

func nssLine(r *convert.Result, p *convert.Page, i int) {
	line := strings.TrimSpace(p.Lines[i])
	if code, remark, _ := strings.Cut(line, "#"); nisPlus.MatchString(code) {
		line = strings.TrimSpace(nisPlus.ReplaceAllString(code, "") + strings.TrimSuffix(" #"+remark, " #"))
	}
	code, _, _ := strings.Cut(line, "#")
	_, sources, ok := strings.Cut(code, ":")
	if !ok {
		p.Refuse(i, "It names no database and its sources.")
		return
	}
	left := 0
	for _, source := range nssSources(sources) {
		name, known := nssPackages[source]
		switch {
		case !known:
			p.Refuse(i, "No package of Debian is known to have the source "+source+".")
			return
		case name != "":
			r.Packages = append(r.Packages, name)
			left++
		default:
			left++
		}
	}
	if left == 0 {
		p.Drop(i, noNISPlus)
		return
	}
	p.Replace(i, line, noNISPlus)
}

// nssSources are the sources of a line, without what is done in which case.
func nssSources(text string) []string {
	for {
		before, rest, ok := strings.Cut(text, "[")
		if !ok {
			return strings.Fields(text)
		}
		_, after, _ := strings.Cut(rest, "]")
		text = before + " " + after
	}
}
