package services

import (
	"path"
	"strconv"
	"strings"
	"time"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// periods are the folders of scripts, each called by when cron runs them.
var periods = []string{
	"etc/cron.hourly", "etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly",
	"etc/periodic/15min", "etc/periodic/hourly", "etc/periodic/daily", "etc/periodic/weekly", "etc/periodic/monthly",
}

// userTables are where the families keep users' own tables: Debian, SUSE, EL
// and Alpine. Only one of them is there, or one leads to another.
var userTables = []string{"var/spool/cron/crontabs", "var/spool/cron/tabs", "var/spool/cron", "etc/crontabs"}

// ReadCron lists all jobs: crontabs of the system, of packages and of users,
// scripts, and jobs that run once.
func ReadCron(m *assess.Machine) {
	if text, ok := m.Text("cron.crontab", "etc/crontab"); ok {
		crontab(m, "/etc/crontab", text, "", m.IsLocal("/etc/crontab") || m.ChangedConffile("/etc/crontab"))
	}
	m.EachFile("cron.cron.d", "etc/cron.d", "", func(file string) {
		text, _ := m.Text("cron.cron.d."+path.Base(file), file)
		crontab(m, "/"+file, text, "", m.IsLocal("/"+file))
	})
	for _, dir := range periods {
		jobScripts(m, dir, strings.TrimPrefix(path.Base(dir), "cron."))
	}
	anacron(m)
	userCrontabs(m)
	atJobs(m)
}

// userCrontabs reads the tables of users. Cron itself closes them to others.
func userCrontabs(m *assess.Machine) {
	for _, dir := range userTables {
		entries, err := m.FS.ReadDir(dir)
		m.Outcome("cron.users", dir, err)
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
			if text, ok := m.Text("cron.users."+user, path.Join(dir, user)); ok {
				m.Search("/"+path.Join(dir, user), int64(len(text)))
				crontab(m, "/"+path.Join(dir, user), text, user, true)
			}
		}
		if found || dir == userTables[0] {
			return
		}
	}
}

// anacron reads the jobs of machines that are not always on.
func anacron(m *assess.Machine) {
	text, ok := m.Text("cron.anacrontab", "etc/anacrontab")
	if !ok {
		return
	}
	local := m.IsLocal("/etc/anacrontab") || m.ChangedConffile("/etc/anacrontab")
	for s := range assess.ParseSettings("/etc/anacrontab", text, "") {
		if period := s.Key; assess.Digits(period) == len(period) || period[0] == '@' {
			fields, command := cutFields(s.Value, 2)
			_, id, _ := strings.Cut(fields, " ")
			assess.Grow(m, "cron", &m.A.Cron, assess.CronJob{Schedule: "anacron " + period + " " + id, User: "root", Command: command, Local: local, Evidence: s.Evidence})
		}
	}
}

// atFolders are where at keeps jobs that run once: Debian, SUSE and EL.
var atFolders = []string{"var/spool/cron/atjobs", "var/spool/atjobs", "var/spool/at"}

// atJobs lists what waits to run once. A job is a script with the environment
// that it was made in; it is closed to others.
func atJobs(m *assess.Machine) {
	for _, dir := range atFolders {
		entries, err := m.FS.ReadDir(dir)
		m.Outcome("cron.at", dir, err)
		for _, e := range entries {
			at, ok := parseAtName(e.Name())
			if !ok || !e.Type().IsRegular() {
				continue
			}
			file := path.Join(dir, e.Name())
			job := assess.CronJob{Schedule: "at " + at.UTC().Format(time.RFC3339), Local: true, Hidden: true, Evidence: assess.Evidence{Path: "/" + file, Line: 0}}
			if f := atUser.FindSubmatch(m.Start(file)); f != nil {
				uid, _ := strconv.Atoi(string(f[1])) // no user has an id that is too long
				job.User = m.Users[uid]
			}
			assess.Grow(m, "cron", &m.A.Cron, job)
		}
	}
}

// atUser is the line of a job that says whose it is.
var atUser = lazyregexp.New(`(?m)^# atrun uid=([0-9]+)`)

// parseAtName reads the name of a job: its queue, five digits of its number,
// and eight of the minute it is for.
func parseAtName(name string) (at time.Time, ok bool) {
	if len(name) != 14 || name[0] == '=' {
		return at, false
	}
	minutes, err := strconv.ParseUint(name[6:], 16, 32)
	return time.Unix(int64(minutes)*60, 0), err == nil
}

func jobScripts(m *assess.Machine, dir, schedule string) {
	names, err := m.Files(dir)
	m.Outcome("cron."+path.Base(dir), dir, err)
	for _, name := range names {
		if file := "/" + path.Join(dir, name); !strings.HasPrefix(name, ".") && !assess.Leftover(name) {
			assess.Grow(m, "cron", &m.A.Cron, assess.CronJob{Schedule: schedule, User: "root", Command: file, Local: m.IsLocal(file), Evidence: assess.Evidence{Path: file, Line: 0}})
		}
	}
}

// crontab reads a table; without a user, each line names one.
func crontab(m *assess.Machine, file, text, user string, local bool) {
	hidden := local && user == "" && isClosed(m, file)
	for n, line := range assess.NumberedLines(text) {
		if job, ok := parseCronLine(line, user); ok {
			job.Local, job.Hidden, job.Evidence = local, hidden, assess.Evidence{Path: file, Line: n}
			if hidden {
				job.Command = ""
			}
			assess.Grow(m, "cron", &m.A.Cron, job)
		}
	}
}

// closed reports whether others may not come to a file, as to what holds a password.
func isClosed(m *assess.Machine, file string) bool {
	info, err := m.FS.Stat(file[1:])
	return err != nil || info.Mode().Perm()&0o004 == 0 || !m.Passable(path.Dir(file))
}

func parseCronLine(line, user string) (job assess.CronJob, ok bool) {
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
