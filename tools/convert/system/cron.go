package system

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// Cron carries tables of jobs over from cronie to Debian's cron, and scripts
// whose names Debian's run-parts would pass over. Debian's own /etc/crontab runs
// what is in /etc/cron.daily and the like, so that of the source stands beside
// it.
func Cron(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		if convert.FromRPM(in) && cronSkips(path.Base(f.Path)) {
			r.Note(f.Path, convert.Change{Line: 0, Was: "", Now: "", Why: "It is a leftover, which the source's cron passes over too."})
			continue
		}
		table := strings.HasPrefix(f.Path, "/var/") || path.Dir(f.Path) == "/etc/cron.d" || f.Path == "/etc/crontab"
		switch users := !strings.HasPrefix(f.Path, "/var/"); {
		case convert.WithinRPM(in):
			cronWithin(p, table && users, in)
		case table:
			cronTable(p, users, in)
		}
		to := cronPlace(in, f.Path)
		if was, now := path.Base(f.Path), path.Base(to); was != now {
			why := "Debian's cron passes over names with a dot."
			if strings.HasPrefix(f.Path, "/var/") {
				why = accountWhy(in)
			}
			p.Changes = append(p.Changes, convert.Change{Line: 0, Was: was, Now: now, Why: why})
		}
		r.Close(p, to)
	}
	return r
}

// cronWithin goes through a table or script that cronie had and has again, or SUSE's.
func cronWithin(p *convert.Page, users bool, in convert.Input) {
	if !convert.ToSUSE(in) {
		return
	}
	for i, line := range p.Active() {
		if fields, command := cutFields(line, times(line)+1); users && command != "" && !strings.Contains(fields[0], "=") {
			cronJob(p, i, fields[len(fields)-1], users, in)
		} else {
			reword(p, i, in)
		}
	}
}

// cronSkips reports whether cronie passes over a file of that name.
func cronSkips(name string) bool {
	return strings.HasPrefix(name, "#") || slices.ContainsFunc([]string{"~", ".rpmsave", ".rpmorig", ".rpmnew", ".swp", ",v", ".cfsaved"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// cronPlace is where a table or script stands on Debian.
func cronPlace(in convert.Input, file string) string {
	switch dir, name := path.Split(file); {
	case convert.ToRPM(in) && strings.HasPrefix(dir, "/var/"):
		return in.Target.Family.Conventions().Crontabs.Folder + "/" + cronAccount(in, name)
	case convert.ToRPM(in):
		return file
	case strings.HasPrefix(dir, "/var/"):
		return "/var/spool/cron/crontabs/" + convert.DebianAccount(name)
	case file == "/etc/crontab":
		return "/etc/cron.d/crontab"
	default:
		return dir + strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' {
				return c
			}
			return '_'
		}, name)
	}
}

// cronTable goes through a table of jobs; in those of the system a user stands
// before each command.
func cronTable(p *convert.Page, users bool, in convert.Input) {
	for i := range p.Active() {
		cronLine(p, i, users, in)
	}
	if !convert.FromDebian(in) {
		endWithNewline(p, "Debian's cron takes no line without an end.")
	}
}

// endWithNewline completes the last line of a file.
func endWithNewline(p *convert.Page, why string) {
	last := len(p.Lines) - 1
	if line := strings.TrimSpace(p.Lines[last]); line != "" {
		p.Lines = append(p.Lines, "")
		p.Changes = append(p.Changes, convert.Change{Line: last + 1, Was: line, Now: line, Why: why})
	}
}

// debianCommand is a job that calls Debian's own programs.
var debianCommand = lazyregexp.New(`(^|[\s;&|/(])(apt|apt-get|aptitude|dpkg|invoke-rc\.d|a2en\w+|a2dis\w+)(\s|$)`)

// cronLine carries a line over. cronie takes all that Debian's cron does.
func cronLine(p *convert.Page, i int, users bool, in convert.Input) {
	line, back := strings.TrimSpace(p.Lines[i]), convert.FromDebian(in)
	if name, _, ok := strings.Cut(line, "="); ok && cronName(strings.TrimSpace(name)) {
		if !back {
			cronVariable(p, i, strings.Trim(strings.TrimSpace(name), `"'`))
		}
		return
	}
	n := times(line)
	count := n
	if users {
		count++
	}
	fields, command := cutFields(line, count)
	switch bare := strings.TrimPrefix(line, "-"); {
	case len(fields) < count || command == "":
		p.Refuse(i, "It is no time, user and command.")
	case back && debianCommand.MatchString(command):
		p.Refuse(i, "It names a command that the target has not: say which of its own is meant.")
	case back:
		cronJob(p, i, fields[count-1], users, in)
	case n == 1 && !convert.Lists("cron-nicknames", fields[0]), strings.HasPrefix(bare, "-"):
		p.Refuse(i, "Debian's cron knows no such time.")
	case bare != line:
		p.Replace(i, bare, "Debian's cron logs every job.")
		cronLine(p, i, users, in)
	case n == 5 && !cronTimes(fields):
		p.Refuse(i, "Debian's cron does not take this time as cronie does.")
	case users && periodic(command):
		p.Drop(i, "Debian's /etc/crontab and anacron run these.")
	case foreign(command):
		p.Refuse(i, "It names a command that Debian has not: say which of apt's are meant.")
	default:
		cronJob(p, i, fields[count-1], users, in)
	}
}

// times is how many fields of a job say when: five, or one that is a name.
func times(line string) int {
	if line[0] == '@' {
		return 1
	}
	return 5
}

// cronName reports whether the left of an equals sign is a variable's name.
func cronName(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t*/,@") && (name[0] < '0' || name[0] > '9') && name[0] != '-'
}

// cronVariable takes the variables by which cronie is told what Debian's cron
// can't be told.
func cronVariable(p *convert.Page, i int, name string) {
	switch name {
	case "CRON_TZ":
		p.Refuse(i, "Debian's cron has one time zone for all: say when the jobs below shall run in it.")
	case "RANDOM_DELAY":
		p.Drop(i, "Debian's cron starts jobs at the minute.")
	case "NO_MAIL_OUTPUT":
		p.Refuse(i, "Debian's cron logs no output; it mails it.")
	}
}

// cronJob rewrites the account and the places of a job.
func cronJob(p *convert.Page, i int, user string, users bool, in convert.Input) {
	line := strings.TrimSpace(p.Lines[i])
	if now := cronAccount(in, user); users && now != user {
		at := len(line) - len(convert.AfterFields(line, times(line)))
		p.Replace(i, line[:at]+now+line[at+len(user):], accountWhy(in))
	}
	reword(p, i, in)
}

func accountWhy(in convert.Input) string {
	if convert.ToRPM(in) {
		return convert.Whose(in.Target) + " account has another name."
	}
	return "Debian's account has another name."
}

// cronAccount is what the target calls the owner of jobs.
func cronAccount(in convert.Input, name string) string {
	web := in.Source.Family.Conventions().Web.Account
	switch {
	case !convert.ToRPM(in):
		return convert.DebianAccount(name)
	case name == web:
		now, _ := in.WebAccount()
		return now
	case convert.FromDebian(in) && convert.WordsOf("accounts-rpm")[name].Now != "":
		return convert.WordsOf("accounts-rpm")[name].Now
	}
	return name
}

// cutFields gives the first n fields of a line, and what comes after them.
func cutFields(line string, n int) (fields []string, rest string) {
	fields = strings.Fields(line)
	return fields[:min(n, len(fields))], convert.AfterFields(line, n)
}

// periodic reports whether a command runs the scripts of a period.
func periodic(command string) bool {
	return strings.Contains(command, "run-parts") && slices.ContainsFunc([]string{"hourly", "daily", "weekly", "monthly"}, func(period string) bool {
		return strings.HasSuffix(strings.TrimSpace(command), "/etc/cron."+period)
	})
}

// foreign reports whether a command names the rpm families' package managers.
func foreign(command string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t;&|()", c) }), func(word string) bool {
		return slices.Contains([]string{"yum", "dnf", "rpm", "microdnf"}, path.Base(word))
	})
}

// cronField are the bounds of a field of a time, with the names that stand for
// numbers.
type cronField struct {
	least, most int
	names       string
}

var cronFields = []cronField{{0, 59, ""}, {0, 23, ""}, {1, 31, ""}, {1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"}, {0, 7, "sun mon tue wed thu fri sat"}}

// cronTimes reports whether both crons understand five fields alike: Debian's
// takes the part of a field that it understands, and passes over the rest.
func cronTimes(fields []string) bool {
	for i, f := range cronFields {
		if !f.takes(fields[i]) {
			return false
		}
	}
	return true
}

func (f cronField) takes(field string) bool {
	for part := range strings.SplitSeq(field, ",") {
		span, step, stepped := strings.Cut(part, "/")
		first, last, isSpan := strings.Cut(span, "-")
		n, err := strconv.Atoi(step)
		switch {
		case stepped && (err != nil || n < 1 || !isSpan && span != "*"):
			return false
		case span == "*":
		case !f.number(first), isSpan && !f.number(last):
			return false
		}
	}
	return true
}

func (f cronField) number(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= f.least && n <= f.most || s != "" && slices.Contains(strings.Fields(f.names), strings.ToLower(s))
}

// Anacron carries the table of jobs of machines that are not always on over.
func Anacron(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Active() {
			anacronLine(p, i)
		}
		endWithNewline(p, "Debian's anacron takes no line without an end.")
		r.Close(p, f.Path)
	}
	return r
}

func anacronLine(p *convert.Page, i int) {
	line := strings.TrimSpace(p.Lines[i])
	if name, _, ok := strings.Cut(line, "="); ok && cronName(strings.TrimSpace(name)) {
		switch strings.TrimSpace(name) {
		case "START_HOURS_RANGE", "RANDOM_DELAY":
			p.Drop(i, "Debian's anacron has no such setting: anacron.timer says when it starts.")
		}
		return
	}
	fields, command := cutFields(line, 3)
	switch {
	case len(fields) < 3 || command == "":
		p.Refuse(i, "It is no period, delay, name and command.")
	case !convert.Number(fields[0]) && !slices.Contains([]string{"@daily", "@weekly", "@monthly", "@yearly", "@annually"}, fields[0]), !convert.Number(fields[1]):
		p.Refuse(i, "Debian's anacron knows no such period.")
	case foreign(command):
		p.Refuse(i, "It names a command that Debian has not: say which of apt's are meant.")
	}
}
