package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/host"
)

// TestWhatConfigurationKeepsAmongLogs: programs are told to keep beside logs and in
// caches what nothing makes anew; their logs and what they make anew stay behind.
func TestWhatConfigurationKeepsAmongLogs(t *testing.T) {
	is := is.New(t)
	times := strings.Repeat("2026-01-01 10:00:00 it runs\n", 5)
	root := machine(t, map[string]string{
		"etc/gate/gate.conf": "pool-persist /var/log/gate/pool.txt\nstatus /var/log/gate/status.log\nlog-append /var/log/gate/out\nwritepid /var/log/gate/p\n# old /var/log/gate/none\n", "etc/notes/notes.ini": "leases=\"/var/log/notes.leases\"\nTempFile=/var/cache/notes/t\nErrorLog /var/log/notes/errors\nlookup file:/var/cache/notes/map\n",
		"etc/watch/watch.yml": "databaseDir: /var/cache/watch/files\nreports: /var/cache/watch/pages\ninput:\n  - /var/log/watch/input\n  - /var/log/watch/rotated\n", "etc/cron.d/own": "1 * * * * root /usr/local/bin/own --state /var/tmp/own.state >> /var/log/own 2>&1\n",
		"etc/logrotate.d/watch": "\"/var/log/watch/rot*\" {\n weekly\n}\n/var/log/turned\n{\n daily\n}\n", "usr/local/bin/own": "#!/bin/sh\ncat /var/lib/misc/own.last >/dev/null\necho 1 >/var/tmp/own.out\n", "etc/rsyslog.d/far.conf": "$template FarLog,\"/var/log/far/%HOSTNAME%/all.log\"\ntemplate(name=\"own\" type=\"string\" string=\"/var/log/near/%programname%.log\")\n", "var/log/far/a/all.log": times, "var/log/near/a.log": times,
		"etc/lease/l":           "file /var/lib/dhcp/dhcpd.leases\nnew /srv/x/var/log/not\nturned /var/log/turned\n",
		"var/log/gate/pool.txt": "laptop,10.0.0.5\n", "var/log/gate/status.log": "x\n", "var/log/gate/out": "x\n", "var/log/gate/p": "12\n", "var/log/gate/none": "x\n", "var/log/notes.leases": "1700000000 a b\n1700000001 a b\n1700000002 c d\n", "var/cache/notes/t": "x\n", "var/log/notes/errors": "x\n", "var/cache/notes/map.db": "x\n",
		"var/cache/watch/files/a": "x\n", "var/cache/watch/pages/a": "x\n", "var/log/watch/input": times, "var/log/watch/rotated": "x\n", "var/tmp/own.state": "x\n", "var/log/own": "x\n", "var/lib/misc/own.last": "x\n", "var/lib/misc/dnsmasq.leases": "x\n", "var/tmp/own.out": "x\n", "var/lib/dhcp/dhcpd.leases": "x\n", "var/log/turned": "x\n", "var/log/not": "x\n",
	})
	is.NoErr(os.Chmod(filepath.Join(root, "usr/local/bin/own"), 0o755))
	found := []string{}
	for _, p := range discovered(t, root).Places {
		if p.Kind == Service {
			found = append(found, strings.Join(append([]string{p.What, p.Path}, p.Names...), " "))
		}
	}
	slices.Sort(found)
	is.Equal(found, []string{
		"gate /var/log/gate pool.txt", "leases of dhcpd /var/lib/dhcp dhcpd.leases", "leases of dnsmasq /var/lib/misc dnsmasq.leases own.last", "notes /var/cache/notes map.db", "notes /var/log notes.leases", "own /var/tmp own.state", "rsyslog /var/log/far", "watch /var/cache/watch/files",
	})
}

func TestLogsAreToldByTheirTimes(t *testing.T) {
	is := is.New(t)
	for _, line := range []string{
		"2026-01-01T10:00:00+00:00 host sshd[1]: x", "2026/01/01 10:00:00 [error] 1#1: x", "[Thu Jan 01 10:00:00.1 2026] [mpm] x", "Jan  1 10:00:00 host x", "01-Jan-2026 10:00:00.000 queries: info: x", `10.0.0.1 - - [01/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1`, "<30>Jan  1 10:00:00 x", "10:00:00 x",
	} {
		is.True(isLog([]byte(strings.Repeat(line+"\n", 4)))) // it is a log
	}
	for _, text := range []string{"laptop,10.70.0.50\nphone,10.70.0.51\ntablet,10.70.0.52\n", "1700000000 00:11:22:33:44:55 10.0.0.5 host *\n1700000001 00:11:22:33:44:56 10.0.0.6 host *\n1700000002 00:11:22:33:44:57 10.0.0.7 host *\n", "lease 10.0.0.1 {\n  starts 4 2024/01/01 00:00:00;\n  ends never;\n}\n", "V\t280101000000Z\t\t01\tunknown\t/CN=a\n", "", "SQLite format 3\x00"} {
		is.True(!isLog([]byte(text))) // it is none
	}
}

func FuzzStated(f *testing.F) {
	f.Add("pool /var/log/../../etc/shadow\nx=/var/log/a/../b")
	f.Add("\x00 /var/cache/a")
	h, err := host.OpenRoot(machine(f, map[string]string{"var/log/a": "x", "var/log/b": "x", "var/cache/a": "x"}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { h.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		s := &statements{fs: h.FS(), seen: map[string]bool{}}
		s.read(carriedText{"etc/a", "a"}, text)
		for _, c := range s.found {
			if !below(c.path, "/var") || c.names == nil || len(s.found) > maxStated {
				t.Fatalf("the place %q %q", c.path, c.names)
			}
		}
	})
}
