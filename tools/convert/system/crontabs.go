package system

import (
	"path"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/tools/convert"
)

var (
	cronSetting = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)\s*=`)
	runsFolder  = lazyregexp.New(`\srun-parts\s+/etc/periodic/(hourly|daily|weekly|monthly)\s*$`)
)

// Crontabs carries users' own tables of jobs between Debian's cron and crond of Busybox,
// which takes the same times and commands, and next to no settings.
func Crontabs(in convert.Input) convert.Result {
	to := in.Target.Family.Conventions()
	busybox := to.Userland == release.Busybox
	return convert.EachLine(in, func(file string) string { return path.Join(to.Crontabs.Folder, path.Base(file)) }, func(_ *convert.Result, p *convert.Page, i int) {
		line := strings.TrimSpace(p.Lines[i])
		setting := cronSetting.FindStringSubmatch(line)
		switch {
		case busybox && setting != nil && setting[1] == "MAILTO":
			p.Drop(i, "crond of Busybox mails nothing: what a job prints goes to the log.")
		case busybox && setting != nil:
			p.Refuse(i, "crond of Busybox takes no such setting: put it into the commands, or install cronie.")
		case !busybox && runsFolder.MatchString(line):
			p.Drop(i, "Debian's own /etc/crontab runs what is in /etc/cron.hourly and the like.")
		}
	})
}
