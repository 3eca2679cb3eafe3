// Package services_test moves data to a machine whose services run: a Debian 13 under
// its own systemd, where Redis writes its own, empty data over a copy when it is
// stopped. The generated scripts stop it, refuse what no service of the system is, and
// start it after the comparison; its keys outlive a boot.
package services_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "capsh:libcap2-bin", "nsenter:util-linux", "rsync:rsync")
}

// machine is the target of a move, with the plan's scripts in it.
type machine struct {
	*e2e.Booted
	t *testing.T
}

// step runs one of the plan's scripts, as another move where variables say so.
func (m machine) step(code int, script string, variables ...string) e2e.Said {
	m.t.Helper()
	args := append([]string{"env", "SOURCE_ROOT=/srv-source"}, variables...)
	return m.Run(code, append(args, "bash", "/srv-plan/"+script)...)
}

func (m machine) keys() string { m.t.Helper(); return m.Run(0, "redis-cli", "dbsize").Line() }

func (m machine) active(unit string) string { return m.Says("systemctl", "is-active", unit) }

func TestServices(t *testing.T) {
	is := is.New(t)
	w := e2e.New(t)
	root := w.Copy(w.Kept("roots/trixie-redis", "trixie", "systemd,systemd-sysv,dbus,procps,rsync,redis-server"), "target")
	w.Files(root, map[string]string{"etc/machine-id": ""})
	target := machine{w.Boot("target", root), t}
	source := sourceRoot(w)
	fill(target)
	w.Run(0, "install", "-D", "-m", "640", filepath.Join(root, "var/lib/redis/dump.rdb"), filepath.Join(source, "var/lib/redis/dump.rdb"))
	empty(w, target, root)
	w.Shell(0, `chown -R 110:115 "$1/var/lib/redis" && chown -R 111:116 "$1/var/lib/agent" && chown -R 112:117 "$1/var/log/clock"`, source)

	w.SVC(0, "data", "plan", "--root", source, "--target", "debian-13", "--source-offline", "--out", w.Path("out"), "--confirm")
	w.Run(0, "cp", "-a", source, filepath.Join(root, "srv-source"))
	w.Run(0, "cp", "-a", w.Path("out"), filepath.Join(root, "srv-plan"))
	accounts(target)
	refuses(target)
	copies(target)

	target.Halt()
	target = machine{w.Boot("target", root), t}
	is.Equal(target.keys(), "200") // the keys outlive a boot
	target.step(0, "90-roll-back.sh")
	is.Equal(target.keys(), "0") // an empty Redis runs again
	cannotSave(target)
}

// sourceRoot is an older machine with a Redis, an account of its own and the owner of
// a folder of logs that the target has not.
func sourceRoot(w *e2e.Work) string {
	w.Files(w.Path("source"), map[string]string{
		"etc/os-release":       "ID=debian\nVERSION_ID=11\n",
		"etc/machine-id":       "0123456789abcdef0123456789abcdef\n",
		"etc/redis/redis.conf": "dir /var/lib/redis\nport 6379\n",
		"etc/passwd":           "root:x:0:0::/root:/bin/sh\nredis:x:110:115::/var/lib/redis:/usr/sbin/nologin\nagent:x:111:116::/var/lib/agent:/usr/sbin/nologin\nclock:x:112:117::/:/bin/false\n",
		"etc/group":            "root:x:0:\nredis:x:115:\nagent:x:116:\nclock:x:117:\n",
		"var/lib/dpkg/status":  "Package: redis-server\nStatus: install ok installed\nVersion: 5:6.0.16-1\nArchitecture: amd64\n",
		"var/lib/agent/state":  "state\n",
		"var/log/clock/log":    "log\n",
	})
	return w.Path("source")
}

// fill has the target's Redis write the keys that the source is to have.
func fill(target machine) {
	target.Run(0, "sh", "-c", `seq 200 | sed "s/.*/set key& value&/" | redis-cli >/dev/null && redis-cli save`)
}

// empty takes the keys from the target. It gets a person's timer, which the role
// brought: what it calls writes into a place, and ends.
func empty(w *e2e.Work, target machine, root string) {
	w.Files(filepath.Join(root, "etc/systemd/system"), map[string]string{
		// One that loses sight of a program, as init scripts do: it goes on when the unit ends.
		"lost.service": "[Service]\nKillMode=process\nExecStart=/bin/sh -c \"(cd /var/lib/redis && exec tail -f /dev/null) & exec tail -f /dev/null\"\n",
		"tick.timer":   "[Timer]\nOnActiveSec=1\nOnUnitActiveSec=1\nAccuracySec=100ms\n[Install]\nWantedBy=timers.target\n",
		"tick.service": "[Service]\nType=oneshot\nExecStart=/bin/sh -c \"[ -e /run/quiet ] || { mkdir -p /var/lib/agent && date +%%N >/var/lib/agent/state; }\"\n",
	})
	target.Run(0, "sh", "-c", "systemctl daemon-reload && systemctl enable -q --now tick.timer && systemctl start lost && redis-cli flushall && redis-cli save")
	is.New(target.t).Equal(target.keys(), "0") // Redis runs on the target, and is empty
}

func accounts(target machine) {
	is := is.New(target.t)
	said := target.step(1, "10-check.sh") // an account that no release has is asked for
	said.Has("no agent in /etc/passwd")
	is.True(!strings.Contains(said.Out+said.Err, "clock")) // but not the owner of what stays
	target.step(0, "05-accounts.sh")
	said = target.step(0, "10-check.sh")
	said.Has("the copy will stop lost.service redis-server.service")
	said.Has("The copy will stop tick.timer") // it would call programs meanwhile
}

// refuses: a process of no service has its working directory in a place.
func refuses(target machine) {
	is := is.New(target.t)
	target.Run(0, "sh", "-c", "cd /var/lib/redis && setsid sleep 1000 >/dev/null 2>&1 & until pgrep -x sleep; do sleep 0.05; done")
	target.step(1, "20-first-copy.sh").Has(" - sleep")
	is.Equal(target.Says("grep", "-sx", "state", "/var/lib/agent/state"), "") // nothing was copied
	target.Run(0, "pkill", "-x", "sleep")
}

func copies(target machine) {
	is := is.New(target.t)
	target.step(0, "20-first-copy.sh")
	is.Equal(target.active("redis-server"), "inactive")
	target.step(0, "30-before.sh")
	target.step(0, "40-copy.sh")
	target.Run(0, "systemctl", "start", "redis-server")
	is.Equal(target.active("redis-server"), "inactive") // what wants it does not bring it back
	target.Run(0, "sh", "-c", "rm /run/systemd/system/redis-server.service.d/data-move.conf && systemctl daemon-reload && systemctl start redis-server")
	target.step(1, "50-after.sh").Has("redis-server.service") // somebody brought it back
	target.Run(0, "systemctl", "stop", "redis-server")
	target.step(0, "40-copy.sh")
	target.Run(0, "touch", "/run/quiet")
	target.step(0, "50-after.sh")
	is.Equal(target.keys(), "200")                  // the service serves the source's
	is.Equal(target.active("tick.timer"), "active") // and the timer waits again
	target.Run(0, "systemctl", "disable", "-q", "--now", "tick.timer")
	target.step(0, "50-after.sh").Has("run since the last comparison") // a later one says that services run, and write
}

// cannotSave has the target's Redis unable to write its file, so that it does not end.
func cannotSave(target machine) {
	is := is.New(target.t)
	another := []string{"STATE=/var/lib/svc/another", "STOP_SECONDS=5"}
	target.step(0, "10-check.sh", another...)
	target.Run(0, "sh", "-c", "chown root: /var/lib/redis && redis-cli set precious 1")
	target.step(1, "20-first-copy.sh", another...).Has("end it by: systemctl kill")
	is.Equal(target.keys(), "1") // what it has is not lost
	target.Run(0, "redis-cli", "del", "precious")
	target.step(0, "20-first-copy.sh", another...).Has("it is ended") // one that has nothing is
}
