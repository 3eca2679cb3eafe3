package assess

import (
	"crypto/md5"
	"path"
	"strings"
)

// periods are the folders of scripts and when cron runs them.
var periods = []struct{ dir, schedule string }{
	{"etc/cron.hourly", "hourly"}, {"etc/cron.daily", "daily"}, {"etc/cron.weekly", "weekly"}, {"etc/cron.monthly", "monthly"},
}

// readCron lists all jobs: crontabs of the system, of packages and of users,
// and scripts.
func (m *machine) readCron() {
	if text, ok := m.text("cron.crontab", "etc/crontab"); ok {
		m.crontab("/etc/crontab", text, "", m.changedConffile("/etc/crontab"))
	}
	names, err := m.files("etc/cron.d")
	m.outcome("cron.cron.d", "etc/cron.d", err)
	for _, name := range names {
		if file := "/etc/cron.d/" + name; !strings.HasPrefix(name, ".") {
			m.crontab(file, m.peek(file[1:]), "", m.isLocal(file))
		}
	}
	for _, p := range periods {
		m.scripts(p.dir, p.schedule)
	}
	users, err := m.files("var/spool/cron/crontabs")
	m.outcome("cron.users", "var/spool/cron/crontabs", err)
	for _, user := range users {
		if text, ok := m.text("cron.users."+user, path.Join("var/spool/cron/crontabs", user)); ok {
			m.crontab("/var/spool/cron/crontabs/"+user, text, user, true)
		}
	}
}

// isLocal reports whether no package made the file.
func (m *machine) isLocal(file string) bool {
	_, conf := m.dpkg.conffiles[file]
	return !conf && m.dpkg.owned[file] == ""
}

func (m *machine) changedConffile(file string) bool {
	c, ok := m.dpkg.conffiles[file]
	return ok && m.digest(file[1:], md5.New()) != c.md5
}

func (m *machine) scripts(dir, schedule string) {
	names, err := m.files(dir)
	m.outcome("cron."+path.Base(dir), dir, err)
	for _, name := range names {
		if file := "/" + path.Join(dir, name); name != ".placeholder" {
			m.a.Cron = append(m.a.Cron, CronJob{schedule, "root", file, m.isLocal(file), Evidence{file, 0}})
		}
	}
}

// crontab reads a table; without a user, each line names one.
func (m *machine) crontab(file, text, user string, local bool) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if job, ok := parseCronLine(strings.TrimSpace(line), user); ok {
			job.Local, job.Evidence = local, Evidence{file, n}
			m.a.Cron = append(m.a.Cron, job)
		}
	}
}

func parseCronLine(line, user string) (job CronJob, ok bool) {
	if line == "" || line[0] == '#' {
		return job, false
	}
	fields := 5
	if line[0] == '@' {
		fields = 1
	} else if c := line[0]; c != '*' && (c < '0' || c > '9') {
		return job, false // a variable
	}
	schedule, rest := cutFields(line, fields)
	job.Schedule, job.User = schedule, user
	if user == "" {
		job.User, rest = cutFields(rest, 1)
	}
	job.Command = rest
	return job, job.User != "" && rest != ""
}

// cutFields splits off the first n fields, joined by single spaces.
func cutFields(s string, n int) (fields, rest string) {
	var got []string
	for range n {
		s = strings.TrimLeft(s, " \t")
		i := strings.IndexAny(s, " \t")
		if i < 0 {
			return strings.Join(append(got, s), " "), ""
		}
		got, s = append(got, s[:i]), s[i:]
	}
	return strings.Join(got, " "), strings.TrimSpace(s)
}
