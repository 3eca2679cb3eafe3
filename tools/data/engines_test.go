package data

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// servers runs two of PostgreSQL, with the configuration in their folders: the source's has
// settings, accounts and maps of its own.
func servers(t *testing.T) (dir string) {
	is := is.New(t)
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(all) == 0 || os.Geteuid() != 0 {
		t.Skip("no PostgreSQL, or not root")
	}
	dir, err := os.MkdirTemp("/tmp", "svc-pg") // a socket's path is short
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	run := func(script string) {
		t.Helper()
		c := exec.Command("bash", "-euc", script)
		c.Env = append(os.Environ(), "D="+dir, "B="+filepath.Dir(all[0]))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run(`mkdir $D/bin; chown postgres $D; chmod 755 $D; for s in source target; do runuser -u postgres -- $B/initdb -A peer -D $D/$s; done
printf 'local all postgres peer\nlocal lager lager peer map=m\n' >$D/source/pg_hba.conf; echo 'm root lager' >$D/source/pg_ident.conf
printf "max_connections = 70\nwork_mem = 8MB\nsearch_path = 'a, b'\narchive_command = 'x'\nlog_directory = '/gone'\nlog_line_prefix = '%%m ''; drop %%p '\n" >>$D/source/postgresql.conf
printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nexec "$@"\n' >$D/bin/ssh; chmod 755 $D/bin/ssh`)
	t.Cleanup(func() {
		run(`for s in source target; do runuser -u postgres -- $B/pg_ctl -D $D/$s -m immediate stop; done`)
	})
	run(`port=6411; for s in source target; do runuser -u postgres -- $B/pg_ctl -w -D $D/$s -o "-p $port -k $D -c listen_addresses=" -l $D/$s.log start; port=$((port + 1)); done
runuser -u postgres -- psql -h $D -p 6411 postgres -c "create role lager login" -c "create database lager owner lager"`)
	return dir
}

// TestSettingsOfAServerComeWithItsDump, where they stand in its own folder: EL and SUSE have
// them there, and no role brings them.
func TestSettingsOfAServerComeWithItsDump(t *testing.T) {
	is := is.New(t)
	dir := servers(t)
	script, err := dumpScript(&Item{Path: dir + "/source", Name: "main", What: "postgresql", Script: "databases/x.sh"})
	is.NoErr(err)
	is.NoErr(os.WriteFile(dir+"/x.sh", script, 0o644))
	step := func(name string, env ...string) string {
		c := exec.Command("bash", "x.sh", name)
		c.Dir = dir
		c.Env = append(append(os.Environ(), "SOURCE_SSH=root@source", "PATH="+dir+"/bin:"+os.Getenv("PATH"), "PGHOST="+dir, "PGPORT=6412"), env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		return string(out)
	}
	for _, name := range []string{"dump", "load", "check"} {
		step(name)
	}
	text, err := os.ReadFile(dir + "/target/postgresql.auto.conf")
	is.NoErr(err)
	for words, has := range map[string]bool{"max_connections = '70'": true, "work_mem = '8MB'": true, "log_line_prefix = '%m ''; drop %p '": true, "search_path": false, "archive_command": false, "log_directory": false} {
		is.Equal(strings.Contains(string(text), words), has)
	}
	said, err := exec.Command("psql", "-h", dir, "-p", "6412", "-U", "lager", "-XAtc", "select current_user", "lager").CombinedOutput()
	is.NoErr(err)
	is.Equal(string(said), "lager\n") // root, by the map
}

// TestAccountsOfMySQLAsMariaDBTakesThem: what MySQL 8.0 says of accounts with each way to log
// in, roles and rights; MariaDB 11.8 took each line that is made of it.
func TestAccountsOfMySQLAsMariaDBTakesThem(t *testing.T) {
	is := is.New(t)
	for _, source := range []string{"mysql-8.0.accounts", "mysql-8.0.accounts.mariadb"} { // its own it leaves as they are
		c := exec.Command("bash", "-euc", `. scripts/engines/mysql-accounts.sh; without=() several=(); as_mariadb <testdata/$1; printf '%s\n' "${without[@]}" "${several[@]}" >&2`, "bash", source)
		var said strings.Builder
		c.Stderr = &said
		made, err := c.Output()
		is.NoErr(err)
		want, err := os.ReadFile("testdata/mysql-8.0.accounts.mariadb")
		is.NoErr(err)
		is.Equal(string(made), string(want))
		if source == "mysql-8.0.accounts" {
			is.Equal(said.String(), "`old`@`%`\n`shop`@`localhost`\n`shop`@`localhost` has `admins`, and not `readers`@`%`\n")
		}
	}
}
