package postgresql

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/matryer/is"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/postgresql/session"
)

const lsclusters = `13 main  5432 online postgres /var/lib/postgresql/13/main /var/log/postgresql/postgresql-13-main.log
15 other 5433 down   postgres /srv/pg/15/other             /var/log/postgresql/postgresql-15-other.log
9.6 x y z
13 odd   5434 online postgres /srv/$(reboot)              /var/log/x
`

func TestClusters(t *testing.T) {
	is := is.New(t)
	all := parseClusters(lsclusters)
	is.Equal(len(all), 2) // what a shell could take for a command is none
	is.Equal(all[0], foundCluster{"13", "main", "online", "postgres", "/var/lib/postgresql/13/main", 5432})
	for _, c := range []struct{ instance, to, want string }{
		{"", "15", "main"},
		{"15/other", "17", "other"},
		{"", "17", "which cluster is meant is not clear"},
		{"13/none", "17", "name one with --instance"},
	} {
		got, err := choose(all, c.instance, c.to)
		if err != nil {
			is.True(strings.Contains(err.Error(), c.want))
			continue
		}
		is.Equal(got.name, c.want)
	}
}

func TestThePlaceOfANewCluster(t *testing.T) {
	is := is.New(t)
	p := Upgrade{Layout: "debian"}
	p.place(parseClusters(lsclusters)[1], "17")
	is.Equal(p.New, session.Cluster{Version: "17", Bin: "/usr/lib/postgresql/17/bin", Data: "/srv/pg/17/other", Config: "/etc/postgresql/17/other"})
	is.Equal(p.Absent, []string{"/srv/pg/17", "/srv/pg", "/etc/postgresql/17"}[:len(p.Absent)])
	p = Upgrade{Layout: "debian"}
	p.place(foundCluster{version: "13", name: "main", data: "/data"}, "17")
	is.Equal(p.New.Data, "/var/lib/postgresql/17/main") // where the old one's place says no version
	p = Upgrade{Layout: "pgdg"}
	p.place(foundCluster{version: "13", data: "/var/lib/pgsql/13/data"}, "17")
	is.Equal(p.New, session.Cluster{Version: "17", Bin: "/usr/pgsql-17/bin"}.At("/var/lib/pgsql/17/data"))
	is.Equal(p.Absent, []string{"/var/lib/pgsql/17", "/var/lib/pgsql"}[:len(p.Absent)])
	is.Equal(p.called(p.New), "17")
}

// TestTheDiskOfANewCluster has data behind a link stay on the disk where they are.
func TestTheDiskOfANewCluster(t *testing.T) {
	is := is.New(t)
	other, err := os.MkdirTemp("/dev/shm", "svc")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(other)
	here := t.TempDir()
	one, err := engine.DiskOf(other)
	is.NoErr(err)
	two, err := engine.DiskOf(here)
	is.NoErr(err)
	if one.Device == two.Device {
		t.Skip("there is one disk")
	}
	for behind, want := range map[string]string{"/13/main": "/17/main", "/pgdata": "/pgdata-17"} {
		link := filepath.Join(here, filepath.Base(behind))
		is.NoErr(errors.Join(os.MkdirAll(other+behind, 0o700), os.Symlink(other+behind, link)))
		is.Equal(besideLinked(foundCluster{version: "13", data: link}, "17", filepath.Join(here, "17", "main")), other+want)
		is.Equal(besideLinked(foundCluster{version: "13", data: link}, "17", other+"/usual"), other+"/usual")         // the same disk
		is.Equal(besideLinked(foundCluster{version: "13", data: other + behind}, "17", here+"/usual"), here+"/usual") // no link
	}
}

func TestConfigurationsAreAdapted(t *testing.T) {
	is := is.New(t)
	a := adaption{
		session.Cluster{Version: "12", Data: "/var/lib/postgresql/12/main", Config: "/etc/postgresql/12/main"},
		session.Cluster{Version: "17", Data: "/var/lib/postgresql/17/main", Config: "/etc/postgresql/17/main"},
		"main",
	}
	got := a.text(`data_directory = '/var/lib/postgresql/12/main'		# use data in another directory
hba_file = '/etc/postgresql/12/main/pg_hba.conf'
external_pid_file = '/var/run/postgresql/12-main.pid'
cluster_name = '12/main'
archive_command = 'cp %p /backup/12/main/%f'
wal_keep_segments 4
#wal_keep_segments = 5
other = '/var/lib/postgresql/12/main2'
Force_Parallel_Mode = on
`)
	is.Equal(got, `data_directory = '/var/lib/postgresql/17/main'		# use data in another directory
hba_file = '/etc/postgresql/17/main/pg_hba.conf'
external_pid_file = '/var/run/postgresql/17-main.pid'
cluster_name = '17/main'
archive_command = 'cp %p /backup/12/main/%f'
wal_keep_size = 64MB # was wal_keep_segments = 4
#wal_keep_segments = 5
other = '/var/lib/postgresql/12/main2'
debug_parallel_query = on # was force_parallel_mode
`)
}

func TestSettingsThatAServerDoesNotTake(t *testing.T) {
	is := is.New(t)
	names := untaken(`LOG:  unrecognized configuration parameter "stats_temp_directory" in file "/etc/x" line 644; LOG:  invalid value for parameter "password_encryption": "on"; unrecognized configuration parameter "stats_temp_directory"`)
	is.Equal(names, []string{"stats_temp_directory", "password_encryption"})
	text := "stats_temp_directory = '/run/x'\nwork_mem = 1MB\n# stats_temp_directory\nPassword_Encryption on\n"
	is.Equal(commented("work_mem = 1MB # password_encryption\n", names, "17"), "work_mem = 1MB # password_encryption\n")
	is.Equal(commented(text, names, "17"),
		"# not taken by PostgreSQL 17: stats_temp_directory = '/run/x'\nwork_mem = 1MB\n# stats_temp_directory\n# not taken by PostgreSQL 17: Password_Encryption on\n")
}

func TestDifferences(t *testing.T) {
	is := is.New(t)
	before := map[string]string{`shop: "rows" "public.a"`: "1", `shop: "rows" "public.b"`: "2"}
	is.NoErr(inplace.Differences("the copy", before, map[string]string{`shop: "rows" "public.a"`: "1", `shop: "rows" "public.b"`: "2"}))
	err := inplace.Differences("the copy", before, map[string]string{`shop: "rows" "public.a"`: "9", `shop: "rows" "public.c"`: "3"})
	is.Equal(err.Error(), `the copy differs from the old one in 3 things, such as shop: "rows" "public.a" (9, was 1); shop: "rows" "public.b" (not there, was 2); shop: "rows" "public.c" (new)`)
}

func TestClustersOfTheSameForm(t *testing.T) {
	is := is.New(t)
	s := pgState{Encoding: "UTF8", Collate: "C", CType: "de_DE.UTF-8", Provider: "i", ICU: "de-DE", Checksums: "on", Segment: 64 << 20}
	p := Upgrade{Answers: Answers{Initdb: s.initdb(session.Cluster{Version: "15"})}}
	is.Equal(p.initdb(18), []string{"--encoding", "UTF8", "--lc-collate", "C", "--lc-ctype", "de_DE.UTF-8", "--locale-provider", "icu", "--icu-locale", "de-DE", "--data-checksums", "--wal-segsize", "64"})
	p.Initdb = pgState{Encoding: "UTF8", Collate: "C", CType: "C", Provider: "c", Checksums: "off", Segment: 16 << 20}.initdb(session.Cluster{Version: "13"})
	is.Equal(p.initdb(17), []string{"--encoding", "UTF8", "--lc-collate", "C", "--lc-ctype", "C"})
	is.Equal(p.initdb(18)[6:], []string{"--no-data-checksums"}) // they are on by default from then on
}

func TestWhatAServerTellsIsRefused(t *testing.T) {
	is := is.New(t)
	p := &Upgrade{Owner: "postgres"}
	is.NoErr(pgState{Super: true, Superuser: "postgres"}.refuse(p))
	for _, c := range []struct {
		state pgState
		want  string
	}{
		{pgState{Superuser: "postgres"}, "no superuser"},
		{pgState{Super: true, Superuser: "o'd"}, "letters and digits"},
		{pgState{Super: true, Superuser: "a", Recovery: true}, "is a replica"},
		{pgState{Super: true, Superuser: "a", Replicas: 2}, "2 replicas"},
		{pgState{Super: true, Superuser: "a", Slots: 1}, "replication slots"},
		{pgState{Super: true, Superuser: "a", Incoming: 1}, "subscriptions"},
		{pgState{Super: true, Superuser: "a", Prepared: 1}, "prepared transactions"},
		{pgState{Super: true, Superuser: "a", Spaces: 1}, "tablespaces"},
		{pgState{Super: true, Superuser: "a", Hidden: 1}, "let nobody connect"},
	} {
		err := c.state.refuse(p)
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), c.want))
	}
}

// TestWhatIsRemoved has the commands that a result prints, by layout: each is of one
// version or one cluster, and a shell reads it as it is.
func TestWhatIsRemoved(t *testing.T) {
	for _, c := range []struct {
		layout, name, data string
		drop, uninstall    string
	}{
		{"debian", "main", "/var/lib/postgresql/13/main", "pg_dropcluster --stop 13 main", "apt-get remove postgresql-13"},
		{"pgdg", "", "/var/lib/pgsql/13/data", "systemctl disable --now postgresql-13.service; rm -r /var/lib/pgsql/13/data", "dnf remove postgresql13-server"},
		{"pgdg", "", "/srv/it's 13/data", `systemctl disable --now postgresql-13.service; rm -r '/srv/it'\''s 13/data'`, "dnf remove postgresql13-server"},
	} {
		t.Run(c.layout+c.data, func(t *testing.T) {
			is := is.New(t)
			l := layouts[c.layout]
			is.Equal(l.drop(session.Cluster{Version: "13", Data: c.data}, c.name), c.drop)
			is.Equal(l.uninstall("13"), c.uninstall)
			is.True(l.own("postgresql-13.service", "13") == (c.layout == "pgdg"))
			is.True(!l.own("postgresql-17.service", "13"))
			is.True(!l.own("postgresql-13-of-another.service", "13")) // it would stay without its server
		})
	}
}

// TestGoingBackTwice has a roll-back that was cut short done again: what was set
// aside stays, and nothing stands in the way.
func TestGoingBackTwice(t *testing.T) {
	is := is.New(t)
	me, err := user.Current()
	is.NoErr(err)
	p := &Upgrade{Layout: "pgdg", Owner: me.Username, Brought: true, New: session.Cluster{Data: filepath.Join(t.TempDir(), "data")}}
	p.New.Config = p.New.Data
	g := &pgRun{&engine.Host{Backup: t.TempDir()}, p}
	is.NoErr(errors.Join(os.Mkdir(p.New.Data, 0o700), os.WriteFile(filepath.Join(p.New.Data, "PG_VERSION"), nil, 0o600)))
	for range 2 {
		is.NoErr(g.WriteFile("opened.json", true)) // the last to go
		is.NoErr(g.drop(t.Context()))
		is.True(isCluster(p.aside()))
		is.True(!isCluster(p.New.Data))
	}
}

// sleeper is a program in a folder of its own, which sleeps for the seconds that it is given.
func sleeper(t *testing.T) (dir, program string) {
	t.Helper()
	is := is.New(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep")
	}
	text, err := os.ReadFile(sleep)
	is.NoErr(err)
	dir, err = filepath.EvalSymlinks(t.TempDir())
	is.NoErr(err)
	program = filepath.Join(dir, "sleep") // where one file has many programs, this is its name
	is.NoErr(os.WriteFile(program, text, 0o700))
	return dir, program
}

func TestProcessesOfAFolder(t *testing.T) {
	is := is.New(t)
	bin, program := sleeper(t)
	cmd := exec.Command(program, "60")
	is.NoErr(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	proc := fmt.Sprintf("/proc/%d", cmd.Process.Pid)

	users, err := runningFrom(bin)
	is.NoErr(err)
	is.Equal(users, []string{fmt.Sprintf("process %d, of %s", cmd.Process.Pid, program)})
	users, err = runningFrom(bin + "/none")
	is.NoErr(err)
	is.Equal(len(users), 0)

	another, err := os.Stat(bin)
	is.NoErr(err)
	is.True(runsFrom(proc, program, bin, another)) // of another root, but this very file

	is.NoErr(os.Remove(program))
	is.NoErr(os.WriteFile(program, []byte("another"), 0o700)) // as when its package is updated
	here, err := os.Stat("/")
	is.NoErr(err)
	is.True(runsFrom(proc, program+" (deleted)", bin, here))
	is.True(!runsFrom(proc, program, bin, another)) // another root's, by the same name

	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	is.True(!runsFrom(proc, program, bin, here)) // it has ended since it was found
}

// TestServersOfAProgram finds clusters by the folder that their servers run in.
func TestServersOfAProgram(t *testing.T) {
	is := is.New(t)
	dir, program := sleeper(t)
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for _, data := range []string{one, two, two} {
		is.NoErr(os.MkdirAll(data, 0o700))
		cmd := exec.Command(program, "60")
		cmd.Dir = data
		is.NoErr(cmd.Start())
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	}
	is.NoErr(os.Symlink(one, filepath.Join(dir, "data")))
	got, err := servedBy(program, filepath.Join(dir, "data"))
	is.NoErr(err)
	is.Equal(got, []string{"the cluster in " + two})
}

// TestUnitsOfADistributionsServer tells those of people from those of the packages.
func TestUnitsOfADistributionsServer(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"postgresql.service":                      "ExecStart=/usr/bin/postmaster -D ${PGDATA}",
		"postgresql@.service":                     "ExecStart=/usr/bin/postmaster -D ${PGDATA}",
		"postgresql@shop.service.d/30-setup.conf": "Environment=PGDATA=/srv/shop",
		"postgresql.service.d/override.conf":      "Environment=PGPORT=5434\nExecStart=/usr/bin/postgres -D /x",
		"second.service":                          "ExecStart=/usr/bin/postgres -D /srv/second",
		"other.service":                           "ExecStart=/usr/pgsql-13/bin/postgres -D /srv/other",
		"exporter.service":                        "ExecStart=/usr/bin/postgres_exporter",
	} {
		name = filepath.Join(dir, name)
		is.NoErr(os.MkdirAll(filepath.Dir(name), 0o700))
		is.NoErr(os.WriteFile(name, []byte(text), 0o600))
	}
	got, err := unitsOf([]string{dir}, distributionUnit)
	is.NoErr(err)
	is.Equal(got, []string{"the unit second.service", "the unit postgresql@shop.service"})
}

// TestTheWayBackToADistributionsRelease has a command for a release of a module, and
// one for a release that has none, which leaves the packages of others alone.
func TestTheWayBackToADistributionsRelease(t *testing.T) {
	is := is.New(t)
	m := &pgDistribution{Old: session.Cluster{Version: "13"}}
	notes := strings.Join(m.About().Notes, "\n")
	is.True(strings.Contains(notes, "`dnf module switch-to postgresql:13; systemctl start postgresql`"))
	is.True(strings.Contains(notes, "`dnf module reset postgresql; dnf distro-sync postgresql 'postgresql-*'; systemctl start postgresql`"))
}

// TestWhatAJobKeeps has a journal give back what Look found out, embedded or not.
func TestWhatAJobKeeps(t *testing.T) {
	is := is.New(t)
	had := &Upgrade{Answers: Answers{Locks: 7}, Paces: engine.Paces{ReadPace: 1, WritePace: 2, BackupPace: 3}}
	b, err := json.Marshal(had)
	is.NoErr(err)
	has := &Upgrade{}
	is.NoErr(json.Unmarshal(b, has, json.RejectUnknownMembers(true)))
	is.Equal(has.Paces, had.Paces)
	is.Equal(has.Locks, had.Locks)
}
