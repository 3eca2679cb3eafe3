package rehearse_test

import (
	"path/filepath"
	"strconv"
	"time"

	"svc/.ci/e2e"
)

// running is where rehearsals that run have what they need.
func running() string { return filepath.Join(filepath.Dir(e2e.Cache()), "svc/rehearsals/running") }

// left is what no rehearsal that runs has: others may run beside this one.
func (m *machine) left() string {
	m.t.Helper()
	return m.Call(0, `
		for at in "$(group)"/svc-sandbox-*; do
			pid=${at##*/svc-sandbox-}
			[ ! -e "$at" ] || kill -0 "${pid%%-*}" 2>/dev/null || echo "$at"
		done
		for pid in $(pgrep -f '^svc-sandbox' || true); do
			ps -o args= -p "$(ps -o ppid= -p "$pid" | tr -d ' ')" | grep -E '^svc-sandbox| rehearse |[.]test' >/dev/null || echo "process $pid"
		done 2>/dev/null
		for at in "$1"/*.lock; do
			[ ! -e "$at" ] || ! flock -n "$at" true || echo "$at"
		done`, running()).Line()
}

// killed kills a rehearsal, which the next one takes away.
func (m *machine) killed() {
	c := m.Command(m.words("killed")...)
	m.is.NoErr(c.Start())
	svc := strconv.Itoa(c.Process.Pid)
	m.Until("pgrep", "-P", svc, "-f", "^svc-sandbox-mount")
	sandbox := m.Run(0, "pgrep", "-P", svc, "-f", "^svc-sandbox-mount").Line()
	time.Sleep(3 * time.Second)
	m.is.NoErr(c.Process.Kill())
	_ = c.Wait() // it was killed
	m.Until("sh", "-c", `! grep -qs svc-sandbox "/proc/$0/cmdline"`, sandbox)
}

// interrupted interrupts one, which ends at once and leaves nothing.
func (m *machine) interrupted() {
	m.Run(124, "timeout", append([]string{"-s", "INT", "6", m.Command().Path}, m.words("interrupted")...)...)
	m.is.Equal(m.left(), "")
}
