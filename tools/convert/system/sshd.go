package system

import (
	"cmp"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
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

// SSHD drops and renames options that OpenSSH has no more, and leaves out
// algorithms that the target lacks.
func SSHD(in convert.Input) (r convert.Result) {
	s := convert.Settings{Program: "sshd", Comment: "#", Homes: sshdHomes}
	if convert.ToSUSE(in) && !strings.HasPrefix(in.Target.Version, "15") {
		s.Homes = sshdHomesSUSE16
	}
	s = s.Towards(in)
	s.Own = func(p *convert.Page, i int, name, value string) bool { return sshdOwn(p, i, name, value, in) }
	for _, f := range in.Files {
		p := s.Convert(f)
		sshdShipped(in, s, p)
		for i := range p.Changes {
			p.Changes[i].Why = sshdWhy(in, p.Changes[i].Why)
		}
		r.Close(p, f.Path)
	}
	return r
}

// sshdOwn drops what Debian added, what a line's sshd is made without, and what OpenSSH has
// no more. The rpm families' policies of algorithms stay in force among them, and DSA where
// the target still has it.
func sshdOwn(p *convert.Page, i int, name, value string, in convert.Input) bool {
	lower, without := strings.ToLower(name), sshdWithout[convert.ApartLine(in)]
	policies := lower == "include" && strings.Contains(value, "crypto-policies")
	dsa := strings.Contains(value, "_dsa_key") || strings.Contains(value, "ssh-dss")
	if now := sshdGroups(in, lower, value); now != value {
		p.Replace(i, name+" "+now, "The target has another name for this group.")
		return true
	}
	switch list := convert.WordsOf("sshd-algorithms")[lower].Now; {
	case dsa && convert.DebianFamily(in.Target) && !convert.HasSince("sshd", "10", in.Target):
		return false
	case lower == "debianbanner" && convert.ToApart(in):
		p.Drop(i, "Debian's own option.")
	case lower == "debianbanner" && convert.ToRPM(in):
		p.Drop(i, "It is Debian's own.")
	case convert.ToApart(in) && slices.ContainsFunc(without.options, func(begins string) bool { return strings.HasPrefix(lower, begins) }):
		p.Drop(i, without.why)
	case policies && convert.ToSUSE(in):
		p.Drop(i, "SUSE's sshd has its own defaults.")
	case policies && convert.ToRPM(in):
	case list != "":
		algorithms(p, i, name, value, convert.Known()[list])
		return convert.Gone()["sshd"][lower].Now == ""
	case lower == "hostkey" && strings.Contains(value, "_dsa_key"):
		p.Drop(i, "OpenSSH 10 has no DSA any more.")
	case policies:
		p.Drop(i, "Crypto policies are the rpm families' own; OpenSSH's defaults hold.")
	default:
		return false
	}
	return true
}

// sshdInclude is the line by which sshd reads its folder.
var sshdInclude = lazyregexp.New(`(?i)^\s*Include\s+\S*sshd_config\.d/`)

// sshdShipped adds what the source's package sets in a file of the folder (UsePAM, by EL 9's
// 50-redhat.conf): that of the target does not come, and sshd's own defaults are other ones.
func sshdShipped(in convert.Input, s convert.Settings, p *convert.Page) {
	at := slices.IndexFunc(p.Lines, sshdInclude.MatchString)
	if !convert.FromRPM(in) || !convert.DebianFamily(in.Target) || in.Folder == nil || at < 0 || p.From != "/etc/ssh/sshd_config" {
		return
	}
	added := []string{p.Lines[at]}
	for _, f := range in.Folder("/etc/ssh/sshd_config.d", ".conf") {
		if slices.ContainsFunc(in.Files, func(own convert.File) bool { return own.Path == f.Path }) {
			continue
		}
		for _, line := range s.Convert(f).Active() {
			if convert.Lists("sshd-shipped", strings.ToLower(strings.Fields(line)[0])) { // a file that is closed to others says no more than that
				added = append(added, line)
			}
		}
	}
	if len(added) > 1 {
		p.Replace(at, strings.Join(added, "\n"), "The source's package sets these in files of the folder, which the target's does not have.")
	}
}

// sshdGroups are the names of groups as the target has them: those that AllowGroups,
// DenyGroups and Match Group name.
func sshdGroups(in convert.Input, option, value string) string {
	table := map[bool]string{true: "accounts-debian", false: "accounts-rpm"}[convert.DebianFamily(in.Target)]
	if convert.FromRPM(in) == !convert.DebianFamily(in.Target) || convert.Apart(in) {
		return value
	}
	words, group := strings.Fields(value), option == "allowgroups" || option == "denygroups"
	for i, word := range words {
		names := strings.Split(word, ",")
		for n := range names {
			if group {
				names[n] = cmp.Or(convert.WordsOf(table)[names[n]].Now, names[n])
			}
		}
		words[i] = strings.Join(names, ",")
		if option == "match" {
			group = strings.EqualFold(word, "group")
		}
	}
	if now := strings.Join(words, " "); now != strings.Join(strings.Fields(value), " ") {
		return now
	}
	return value
}

// sshdWhy names OpenSSH 10 to those who get it.
func sshdWhy(in convert.Input, why string) string {
	if convert.HasSince("sshd", "10", in.Target) {
		return why
	}
	return strings.ReplaceAll(why, "OpenSSH 10 has", "OpenSSH of the target has")
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
