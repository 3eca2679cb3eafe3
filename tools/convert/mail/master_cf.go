package mail

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// masterHomes are where the families keep the programs that pipes of master.cf
// call, the longer first.
var masterHomes = convert.HomesOf("master.cf")

// PostfixMaster carries master.cf over: programs stand in another place, and
// what Postfix 3 takes for granted is said where an earlier one took another.
func PostfixMaster(in convert.Input) convert.Result {
	s := convert.Settings{Program: "postfix", Equals: true, Homes: postfixHomes}.Towards(in)
	old := strings.HasPrefix(in.VersionOf("postfix"), "2.")
	return convert.EachLine(in, convert.Stays, func(_ *convert.Result, p *convert.Page, i int) {
		if convert.Continues(p.Lines[i]) {
			masterOption(s, p, i, in)
		} else {
			masterService(p, i, old, in)
		}
	})
}

// masterService converts the line of a service: name, kind, private,
// unprivileged, chroot, wakeup, how many, program.
func masterService(p *convert.Page, i int, old bool, in convert.Input) {
	line := strings.TrimSpace(p.Lines[i])
	words := strings.Fields(line)
	switch {
	case len(words) < 8 || !convert.Lists("postfix-sockets", words[1]):
		p.Refuse(i, "It is no line of a service: eight columns are wanted.")
		return
	case !convert.Lists("postfix-daemons", words[7]):
		p.Refuse(i, "Postfix has no program "+words[7]+".")
		return
	}
	if words[1] == "fifo" {
		line = column(line, 1, "unix")
		p.Replace(i, line, "Postfix 2.10 wakes its queue by a socket.")
	}
	if words[7] == "nqmgr" {
		line = column(line, 7, "qmgr")
		p.Replace(i, line, "The new queue manager is the only one.")
	}
	if words[4] == "-" && old {
		line = column(line, 4, "y")
		p.Replace(i, line, "Postfix 3.0 runs nothing in a chroot unless told; 2.x did.")
	}
	if convert.FromDebian(in) && words[4] == "y" {
		line = column(line, 4, "n")
		p.Replace(i, line, convert.Whose(in.Target)+" package makes no folder to run it in a chroot.")
	}
	masterCommand(p, i, line, in)
}

// pipeUser is the account of a pipe, with its group: pipe(8). It stands before the command.
var pipeUser = lazyregexp.New(`^(.*?\buser=)([A-Za-z_][A-Za-z0-9_-]*)(?:(:)([A-Za-z_][A-Za-z0-9_-]*))?(\s.*)?$`)

// masterCommand moves the programs of a line, and gives a pipe its account as the target has it.
func masterCommand(p *convert.Page, i int, line string, in convert.Input) {
	p.Replace(i, masterHomes.Between(in).Move(line), convert.Elsewhere(in))
	m := pipeUser.FindStringSubmatch(strings.TrimSpace(p.Lines[i]))
	if m == nil || strings.Contains(m[1], "argv=") || !convert.FromRPM(in) {
		return
	}
	p.Replace(i, m[1]+convert.DebianAccount(m[2])+m[3]+convert.DebianAccount(m[4])+m[5], "Debian's account has another name.")
}

// column puts another word in a column of a line.
func column(line string, n int, now string) string {
	at := 0
	for range n {
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
		at += strings.IndexAny(line[at:]+" ", " \t")
	}
	at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
	end := at + strings.IndexAny(line[at:]+" ", " \t")
	return line[:at] + now + line[end:]
}

// masterOption converts what goes on with a service: parameters of its own, or
// the command of a pipe.
func masterOption(s convert.Settings, p *convert.Page, i int, in convert.Input) {
	line := strings.TrimSpace(p.Lines[i])
	rest, ok := strings.CutPrefix(line, "-o")
	if !ok {
		masterCommand(p, i, line, in)
		return
	}
	if rest = strings.TrimSpace(rest); strings.Contains(rest, " -o ") || strings.HasPrefix(rest, "{") {
		p.Refuse(i, "Several parameters stand in one line: give each a line of its own.")
		return
	}
	name, _, value := s.Setting(rest)
	switch r, isGone := s.Gone(name); {
	case isGone && r.Now != "":
		p.Replace(i, "-o "+r.Now+"="+s.Places.Move(value), r.Why)
	case isGone && r.Why != "":
		p.Drop(i, r.Why)
	case isGone, !s.Takes(name) && !masterDefined(name):
		p.Refuse(i, "Postfix does not know this parameter.")
	default:
		p.Replace(i, s.Places.Move(line), convert.Elsewhere(in))
	}
}

// masterDefined reports whether a parameter is one that a person defines for a
// service and uses in others: Debian's own are mua_…_restrictions.
func masterDefined(name string) bool {
	return strings.HasSuffix(name, "_restrictions") || transportSetting.MatchString(name)
}
