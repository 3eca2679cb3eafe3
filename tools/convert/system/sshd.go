package system

import (
	"slices"
	"strings"

	"svc/backend/release"
	"svc/tools/convert"
)

// sshdHomes are where the families keep what sshd names.
var sshdHomes = convert.HomesOf("sshd")

// sshdHomesSUSE16 are those of SUSE since SLES 16.
var sshdHomesSUSE16 = convert.HomesOf("sshd-suse-16")

// sshdWithout are what lines that stand apart make sshd without: how options begin, and why.
var sshdWithout = map[release.Line]struct {
	options []string
	why     string
}{
	release.LineAlpine: {[]string{"usepam", "gssapi", "kerberos"}, "Alpine's openssh-server is made without it; openssh-server-pam has PAM."},
}

// sshdOwnApart drops what a line's sshd is made without, and what Debian added.
func sshdOwnApart(line release.Line) func(*convert.Page, int, string, string) bool {
	without := sshdWithout[line]
	return func(p *convert.Page, i int, name, value string) bool {
		lower := strings.ToLower(name)
		switch {
		case lower == "debianbanner":
			p.Drop(i, "Debian's own option.")
		case slices.ContainsFunc(without.options, func(begins string) bool { return strings.HasPrefix(lower, begins) }):
			p.Drop(i, without.why)
		default:
			return sshdOwn(p, i, name, value)
		}
		return true
	}
}

// SSHD drops and renames options that OpenSSH has no more, and leaves out
// algorithms that the target lacks.
func SSHD(in convert.Input) (r convert.Result) {
	s := convert.Settings{Program: "sshd", Comment: "#", Homes: sshdHomes, Own: sshdOwn}
	if convert.ToSUSE(in) && !strings.HasPrefix(in.Target.Version, "15") {
		s.Homes = sshdHomesSUSE16
	}
	s = s.Towards(in)
	switch {
	case convert.ToApart(in):
		s.Own = sshdOwnApart(convert.ApartLine(in))
	case convert.ToRPM(in):
		s.Own = sshdOwnRPM
	}
	if convert.ToSUSE(in) {
		s.Own = sshdOwnSUSE
	}
	if convert.DebianFamily(in.Target) && !convert.HasSince("sshd", "10", in.Target) {
		s.Own = keepingDSA(s.Own)
	}
	for _, f := range in.Files {
		p := s.Convert(f)
		for i := range p.Changes {
			p.Changes[i].Why = sshdWhy(in, p.Changes[i].Why)
		}
		r.Close(p, f.Path)
	}
	return r
}

func sshdOwn(p *convert.Page, i int, name, value string) bool {
	lower := strings.ToLower(name)
	switch list := convert.WordsOf("sshd-algorithms")[lower].Now; {
	case list != "":
		algorithms(p, i, name, value, convert.Known()[list])
		return convert.Gone()["sshd"][lower].Now == ""
	case lower == "hostkey" && strings.Contains(value, "_dsa_key"):
		p.Drop(i, "OpenSSH 10 has no DSA any more.")
		return true
	case lower == "include" && strings.Contains(value, "crypto-policies"):
		p.Drop(i, "Crypto policies are the rpm families' own; OpenSSH's defaults hold.")
		return true
	}
	return false
}

// sshdWhy names OpenSSH 10 to those who get it.
func sshdWhy(in convert.Input, why string) string {
	if convert.HasSince("sshd", "10", in.Target) {
		return why
	}
	return strings.ReplaceAll(why, "OpenSSH 10 has", "OpenSSH of the target has")
}

// keepingDSA leaves lines alone that name DSA, which OpenSSH has before 10.
func keepingDSA(own func(*convert.Page, int, string, string) bool) func(*convert.Page, int, string, string) bool {
	return func(p *convert.Page, i int, name, value string) bool {
		return !strings.Contains(value, "_dsa_key") && !strings.Contains(value, "ssh-dss") && own(p, i, name, value)
	}
}

// sshdOwnRPM leaves the rpm families' policies of algorithms in force, and drops
// what Debian added.
func sshdOwnRPM(p *convert.Page, i int, name, value string) bool {
	lower := strings.ToLower(name)
	switch {
	case lower == "debianbanner":
		p.Drop(i, "It is Debian's own.")
		return true
	case lower == "include" && strings.Contains(value, "crypto-policies"):
		return true
	}
	return sshdOwn(p, i, name, value)
}

// sshdOwnSUSE leaves out the rpm families' policies of algorithms too.
func sshdOwnSUSE(p *convert.Page, i int, name, value string) bool {
	if strings.EqualFold(name, "include") && strings.Contains(value, "crypto-policies") {
		p.Drop(i, "SUSE's sshd has its own defaults.")
		return true
	}
	return sshdOwnRPM(p, i, name, value)
}

// algorithms leaves out of a list what the target does not have. Names with
// asterisks are patterns.
func algorithms(p *convert.Page, i int, name, value string, there map[string]bool) {
	value = strings.Trim(value, `"`)
	sign := ""
	if value != "" && strings.ContainsRune("+-^", rune(value[0])) {
		sign, value = value[:1], value[1:]
	}
	kept := slices.DeleteFunc(strings.Split(value, ","), func(a string) bool {
		return !there[convert.Fold(strings.TrimSpace(a))] && !strings.Contains(a, "*") && !strings.HasPrefix(a, "gss-")
	})
	switch {
	case len(kept) > 0:
		p.Replace(i, name+" "+sign+strings.Join(kept, ","), "OpenSSH 10 has the others no more.")
	case sign != "":
		p.Drop(i, "OpenSSH 10 has none of them.")
	default:
		p.Refuse(i, "OpenSSH 10 has none of these algorithms.")
	}
}
