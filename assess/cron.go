package assess

import (
	"path"
	"strconv"
	"strings"
	"time"

	"svc/backend/lazyregexp"
)

// periods are the folders of scripts and when cron runs them.
var periods = []struct{ dir, schedule string }{
	{"etc/cron.hourly", "hourly"},
	{"etc/cron.daily", "daily"},
	{"etc/cron.weekly", "weekly"},
	{"etc/cron.monthly", "monthly"},
	{"etc/periodic/15min", "15min"},
	{"etc/periodic/hourly", "hourly"},
	{"etc/periodic/daily", "daily"},
	{"etc/periodic/weekly", "weekly"},
	{"etc/periodic/monthly", "monthly"},
}

// userTables are where the families keep users' own tables: Debian, SUSE, EL
// and Alpine. Only one of them is there, or one leads to another.
var userTables = []string{"var/spool/cron/crontabs", "var/spool/cron/tabs", "var/spool/cron", "etc/crontabs"}

// readCron lists all jobs: crontabs of the system, of packages and of users,
// scripts, and jobs that run once.
func (m *machine) readCron() {
	if text, ok := m.text("cron.crontab", "etc/crontab"); ok {
		m.crontab("/etc/crontab", text, "", m.isLocal("/etc/crontab") || m.changedConffile("/etc/crontab"))
	}
	m.eachFile("cron.cron.d", "etc/cron.d", "", func(file string) {
		text, _ := m.text("cron.cron.d."+path.Base(file), file)
		m.crontab("/"+file, text, "", m.isLocal("/"+file))
	})
	for _, p := range periods {
		m.scripts(p.dir, p.schedule)
	}
	m.anacron()
	m.userCrontabs()
	m.atJobs()
}

// userCrontabs reads the tables of users. Cron itself closes them to others.
func (m *machine) userCrontabs() {
	for _, dir := range userTables {
		entries, err := m.fs.ReadDir(dir)
		m.outcome("cron.users", dir, err)
		if err != nil {
			continue
		}
		found := false
		for _, e := range entries {
			user := e.Name()
			if !e.Type().IsRegular() || strings.HasPrefix(user, ".") {
				continue
			}
			found = true
			if text, ok := m.text("cron.users."+user, path.Join(dir, user)); ok {
				m.search("/"+path.Join(dir, user), int64(len(text)))
				m.crontab("/"+path.Join(dir, user), text, user, true)
			}
		}
		if found || dir == userTables[0] {
			return
		}
	}
}

// anacron reads the jobs of machines that are not always on.
func (m *machine) anacron() {
	text, ok := m.text("cron.anacrontab", "etc/anacrontab")
	if !ok {
		return
	}
	local := m.isLocal("/etc/anacrontab") || m.changedConffile("/etc/anacrontab")
	for s := range parseSettings("/etc/anacrontab", text, "") {
		if period := s.Key; digits(period) == len(period) || period[0] == '@' {
			fields, command := cutFields(s.Value, 2)
			_, id, _ := strings.Cut(fields, " ")
			grow(m, "cron", &m.a.Cron, CronJob{Schedule: "anacron " + period + " " + id, User: "root", Command: command, Local: local, Evidence: s.Evidence})
		}
	}
}

// atFolders are where at keeps jobs that run once: Debian, SUSE and EL.
var atFolders = []string{"var/spool/cron/atjobs", "var/spool/atjobs", "var/spool/at"}

// atJobs lists what waits to run once. A job is a script with the environment
// that it was made in; it is closed to others.
func (m *machine) atJobs() {
	for _, dir := range atFolders {
		entries, err := m.fs.ReadDir(dir)
		m.outcome("cron.at", dir, err)
		for _, e := range entries {
			at, ok := parseAtName(e.Name())
			if !ok || !e.Type().IsRegular() {
				continue
			}
			file := path.Join(dir, e.Name())
			job := CronJob{Schedule: "at " + at.UTC().Format(time.RFC3339), Local: true, Hidden: true, Evidence: Evidence{"/" + file, 0}}
			if f := atUser.FindSubmatch(m.start(file)); f != nil {
				uid, _ := strconv.Atoi(string(f[1])) // no user has an id that is too long
				job.User = m.users[uid]
			}
			grow(m, "cron", &m.a.Cron, job)
		}
	}
}

// atUser is the line of a job that says whose it is.
var atUser = lazyregexp.New(`(?m)^# atrun uid=([0-9]+)`)

// start is the first lines of a file, or nothing where it can't be read.
func (m *machine) start(name string) []byte {
	b, _ := m.head(name, 512)
	return b
}

// parseAtName reads the name of a job: its queue, five digits of its number,
// and eight of the minute it is for.
func parseAtName(name string) (at time.Time, ok bool) {
	if len(name) != 14 || name[0] == '=' {
		return at, false
	}
	minutes, err := strconv.ParseUint(name[6:], 16, 32)
	return time.Unix(int64(minutes)*60, 0), err == nil
}

// isLocal reports whether no package made the file.
func (m *machine) isLocal(file string) bool {
	_, conf := m.dpkg.conffiles[file]
	return !conf && m.dpkg.owned[file] == ""
}

func (m *machine) changedConffile(file string) bool {
	c, ok := m.dpkg.conffiles[file]
	return ok && !m.pristine(file[1:], c)
}

func (m *machine) scripts(dir, schedule string) {
	names, err := m.files(dir)
	m.outcome("cron."+path.Base(dir), dir, err)
	for _, name := range names {
		if file := "/" + path.Join(dir, name); !strings.HasPrefix(name, ".") && !leftover(name) {
			grow(m, "cron", &m.a.Cron, CronJob{Schedule: schedule, User: "root", Command: file, Local: m.isLocal(file), Evidence: Evidence{file, 0}})
		}
	}
}

// crontab reads a table; without a user, each line names one.
func (m *machine) crontab(file, text, user string, local bool) {
	n, hidden := 0, local && user == "" && m.closed(file)
	for line := range strings.Lines(text) {
		n++
		if job, ok := parseCronLine(strings.TrimSpace(line), user); ok {
			job.Local, job.Hidden, job.Evidence = local, hidden, Evidence{file, n}
			if hidden {
				job.Command = ""
			}
			grow(m, "cron", &m.a.Cron, job)
		}
	}
}

// closed reports whether others may not come to a file, as to what holds a password.
func (m *machine) closed(file string) bool {
	info, err := m.fs.Stat(file[1:])
	return err != nil || info.Mode().Perm()&0o004 == 0 || !m.passable(path.Dir(file))
}

func parseCronLine(line, user string) (job CronJob, ok bool) {
	if line == "" || line[0] == '#' {
		return job, false
	}
	fields := 5
	if line[0] == '@' {
		fields = 1
	} else if line = strings.TrimPrefix(line, "-"); line == "" || !strings.ContainsRune("*~0123456789", rune(line[0])) {
		return job, false // a variable; a - before a line means that it is not logged
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
	got := make([]string, 0, n)
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
