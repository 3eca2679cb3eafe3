package powercut_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// cluster makes one of 13, and shop.sh on the machine, which fills it, and has sums of it.
func (m *machine) cluster() {
	m.host("install", "-d", "-m", "0711", "/srv/pg")
	m.host("pg_createcluster", "13", "main", "-e", "UTF8", "--locale", "en_US.UTF-8", "--", "--data-checksums")
	m.Call(0, `. .ci/e2e/shop.sh
		sql() { setpriv --reuid postgres --regid postgres --init-groups psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
		{ declare -f sql fill sums as_distribution; echo '"$@"'; } >"$1/root/shop.sh"
		echo 'work_mem = 5MB' >>"$1/etc/postgresql/13/main/postgresql.conf"`, m.root)
	m.host("pg_ctlcluster", "13", "main", "start")
	m.host("bash", "-e", "/root/shop.sh", "fill")
	m.sums = m.host("bash", "-e", "/root/shop.sh", "sums").Line()
	m.host("pg_ctlcluster", "13", "main", "stop")
}

// sql is what the machine's PostgreSQL answers.
func (m *machine) sql(args ...string) string {
	m.t.Helper()
	return m.order(append([]string{"bash", "-e", "/root/shop.sh", "sql"}, args...)...)
}

// cutOff has the power cut, and goes on. In some moments PostgreSQL empties unlogged tables
// then: that is the loss of nobody but where svc does not say so.
func (m *machine) cutOff(step string, after time.Duration, svc, then []string) {
	m.t.Helper()
	m.cut(step, after, svc)
	m.runs("postgresql@13-main", "inactive") // a boot does not start the old server
	if said := m.order(then...); strings.Contains(said, "public.scratch in shop") {
		m.recovered()
	}
}

// recovered: PostgreSQL may have emptied what is unlogged, and no more.
func (m *machine) recovered() {
	m.t.Helper()
	now := m.order("bash", "-e", "/root/shop.sh", "sums")
	if now != m.sums {
		m.is.Equal(without(m.sums, now), "scratch|1")
		m.is.Equal(without(now, m.sums), "scratch|0")
	}
	m.sums = now
}

// holds: this version serves the port, with everything in it.
func (m *machine) holds(version string) {
	m.t.Helper()
	got, _, _ := strings.Cut(m.sql("-p", "5432", "-c", "show server_version"), ".")
	m.is.Equal(got, version)
	m.is.Equal(m.order("bash", "-e", "/root/shop.sh", "sums"), m.sums)
}

func TestPostgreSQL(t *testing.T) {
	long(t)
	m := newMachine(t, (*machine).cluster)
	m.runs("postgresql@13-main", "active")
	if m.panicked {
		m.recovered()
	}
	m.holds("13")
	m.cutOff("upgrade", 3*time.Second, upgrade("postgresql", "17", "/srv/pg"), again("--resume", "/srv/pg"))
	m.runs("postgresql@17-main", "active")
	m.holds("17")
	m.order(again("--roll-back", "/srv/pg")...)
	m.runs("postgresql@13-main", "active")
	m.holds("13")
	m.cuts()
}

// cuts: the power is cut in every other step, and in the roll-back. Before, it is cut while
// nobody upgrades: PostgreSQL empties unlogged tables then, which is no loss of svc's.
func (m *machine) cuts() {
	m.cutPower()
	m.boot()
	m.recovered()
	m.order("install", "-d", "-m", "0711", "/srv/cuts")
	m.cut("close", 0, upgrade("postgresql", "17", "/srv/cuts"))
	for _, step := range []string{"sums", "index", "compare", "open"} {
		m.cut(step, 0, again("--resume", "/srv/cuts"))
	}
	m.order(again("--resume", "/srv/cuts")...)
	m.runs("postgresql@17-main", "active")
	m.holds("17")
	m.cut("upgrade", 0, again("--roll-back", "/srv/cuts"))
	m.order(again("--roll-back", "/srv/cuts")...)
	m.runs("postgresql@13-main", "active")
	m.holds("13")
}

// without are the tables and their rows that some sums have and others lack.
func without(sums, others string) string {
	var all []string
	for line := range strings.Lines(sums + "\n") {
		if !strings.Contains("\n"+others+"\n", "\n"+line) {
			table, rows, _ := strings.Cut(strings.TrimSpace(line), "|")
			rows, _, _ = strings.Cut(rows, "|")
			all = append(all, table+"|"+rows)
		}
	}
	return strings.Join(all, " ")
}

// TestPGDG is the same in the layout of PostgreSQL's own packages for Red Hat and the like,
// in which units are switched on and off.
func TestPGDG(t *testing.T) {
	long(t)
	m := newMachine(t, (*machine).cluster, (*machine).pgdg)
	units := func() string {
		return strings.Join(strings.Fields(m.says("systemctl", "is-enabled", "postgresql-13", "postgresql-17")), " ")
	}
	m.order("pg_dropcluster", "--stop", "13", "main")
	m.order("systemctl", "-q", "enable", "--now", "postgresql-13")
	m.holds("13")
	m.order("install", "-d", "-m", "711", "/srv/pgdg")
	m.order(upgrade("postgresql", "17", "/srv/pgdg")...)
	m.runs("postgresql-17", "active")
	m.holds("17")
	m.is.Equal(units(), "disabled enabled")
	m.is.Equal(strings.Fields(m.sql("-c", "show shared_buffers", "-c", "show work_mem")), []string{"64MB", "5MB"}) // carried over
	m.order(again("--roll-back", "/srv/pgdg")...)
	m.holds("13")
	m.is.Equal(units(), "enabled disabled")
	m.order("rmdir", "/var/lib/pgsql/17/data") // which is empty again
}

// pgdg has the cluster once more, in that layout.
func (m *machine) pgdg() {
	m.host("bash", "-ec", "install -d -o postgres -g postgres -m 0700 /var/lib/pgsql{,/13,/17,/17/data}")
	for _, version := range []string{"13", "17"} {
		m.Files(m.root, map[string]string{"etc/systemd/system/postgresql-" + version + ".service": fmt.Sprintf(`[Service]
Type=notify
User=postgres
Environment=PGDATA=/var/lib/pgsql/%[1]s/data/
Environment=PG_OOM_ADJUST_FILE=/proc/self/oom_score_adj
ExecStart=/usr/pgsql-%[1]s/bin/postgres -D ${PGDATA}
KillMode=mixed
KillSignal=SIGINT
TimeoutSec=0
[Install]
WantedBy=multi-user.target
`, version)})
		m.Shell(0, `cd "$1/usr"
			mkdir "pgsql-$2"
			cp -a "lib/postgresql/$2"/{bin,lib} "pgsql-$2/"
			ln -s "../share/postgresql/$2" "pgsql-$2/share"`, m.root, version)
	}
	m.Shell(0, `cd "$1"
		data=var/lib/pgsql/13/data
		cp -a var/lib/postgresql/13/main "$data"
		cp -a etc/postgresql/13/main/*.conf "$data/"
		rm "$data"/start.conf "$data"/pg_ctl.conf
		sed -i -E '/^(data_directory|hba_file|ident_file|external_pid_file|cluster_name|include_dir)/d' "$data/postgresql.conf"
		echo 'shared_buffers = 64MB' >"$data/own.conf"
		echo "include 'own.conf'" >>"$data/postgresql.conf"`, m.root)
}

// TestDistribution is in the layout of Red Hat's own packages, in which a host has one
// version, with SELinux, which forbids nothing.
func TestDistribution(t *testing.T) {
	long(t)
	m := newMachine(t, (*machine).cluster, (*machine).distribution, (*machine).labels)
	m.order("bash", "-e", "/root/distribution.sh")
	m.order("selinuxenabled")
	m.refuses("systemctl", "start", "postgresql") // the new server, on the old data
	before := m.order("bash", "/root/state.sh")
	m.order("install", "-d", "-m", "711", "/srv/el")
	m.cut("upgrade", 5*time.Second, upgrade("postgresql", "17", "/srv/el"))
	m.refuses("systemctl", "start", "postgresql") // nor does anybody meanwhile
	m.cut("start", 0, again("--resume", "/srv/el"))
	m.order(again("--resume", "/srv/el")...)
	m.runs("postgresql", "active")
	m.holds("17")
	m.is.Equal(m.order("restorecon", "-R", "-n", "-v", "/var/lib/pgsql/data"), "") // labels are the policy's
	m.cut("exchange", 0, again("--roll-back", "/srv/el"))
	m.order(again("--roll-back", "/srv/el")...)
	m.order("rm", "-rf", "/var/lib/pgsql/data.svc-undone")
	m.is.Equal(m.order("bash", "/root/state.sh"), before) // byte for byte, with their labels
	m.order(strings.Fields("runuser -u postgres -- /usr/lib64/pgsql/postgresql-13/bin/pg_ctl -D /var/lib/pgsql/data -w -s -l /tmp/log start")...)
	m.holds("13")
}

// distribution has what puts the cluster into that layout, with the unit: it refuses data
// of another version.
func (m *machine) distribution() {
	m.Files(m.root, map[string]string{
		"root/postgresql.service": `[Service]
Type=notify
User=postgres
Environment=PGDATA=/var/lib/pgsql/data
ExecStartPre=/bin/sh -c 'test "$(cat $PGDATA/PG_VERSION)" = 17'
ExecStart=/usr/bin/postgres -D ${PGDATA}
KillMode=mixed
KillSignal=SIGINT
[Install]
WantedBy=multi-user.target
`,
		"root/distribution.sh": `systemctl -q disable --now postgresql
pg_ctlcluster 13 main stop
bash -e /root/shop.sh as_distribution ""
rm /usr/bin/pg_lsclusters
restorecon -R /var/lib/pgsql /usr/bin /usr/lib64/pgsql
mv /root/postgresql.service /etc/systemd/system/
systemctl daemon-reload
systemctl -q enable postgresql
`,
		"root/state.sh": `cd /var/lib/pgsql && ls && cd data
find . -type f -exec sha256sum {} + | sort
find . -printf '%p %m %U %G %s %T@ %Z\n' | sort
`,
	})
}

// labels has SELinux on the machine, and the labels of its policy on files.
func (m *machine) labels() {
	m.Shell(0, `chroot "$1" apt-get update -qq
		DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get install -y -qq --no-install-recommends selinux-policy-default policycoreutils selinux-utils
		printf 'SELINUX=permissive\nSELINUXTYPE=default\n' >"$1/etc/selinux/config"`, m.root)
	m.host("setfiles", "-F", "/etc/selinux/default/contexts/files/file_contexts", "/")
	m.kernel = "security=selinux selinux=1"
}
