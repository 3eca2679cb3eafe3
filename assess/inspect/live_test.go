package inspect

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
)

// awake is the root of a machine as if that ran: its proc and sys are files.
type awake struct{ host.Host }

func (awake) Live() bool { return true }

// kernelFiles are what a kernel shows of a machine with a web server, a database
// that was updated under its feet, and sshd, which systemd listens for.
var kernelFiles = map[string]string{
	"proc/sys/net/ipv4/ip_local_port_range": "10000\t65000\n",
	"proc/sys/kernel/osrelease":             "5.10.0-28-amd64\n",
	"proc/stat":                             "cpu  1 2 3\nbtime 1700000000\nprocesses 7\n",
	"proc/modules":                          "xfs 1 0 - Live 0x0\next4 1 0 - Live 0x0\n",
	"proc/1/mountinfo": "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n23 22 0:21 / /proc rw - proc proc rw\n" +
		"24 22 0:30 / /run/user/0 rw - tmpfs tmpfs rw\n25 22 0:31 / /srv/with\\040space rw,noexec - nfs4 nas:/export rw\nnonsense\n",
	"proc/net/tcp": "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   107        0 111 1 0 100 0 0 10 0\n" +
		"   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0 100 0 0 10 0\n" +
		"   2: 0100007F:9999 0100007F:0016 01 00000000:00000000 00:00000000 00000000     0        0 333 1 0 100 0 0 10 0\n",
	"proc/net/tcp6":                         "   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 33 0 444 1\n",
	"proc/net/udp":                          "",
	"proc/10/comm":                          "mysqld\n",
	"proc/10/cgroup":                        "1:name=systemd:/system.slice/mariadb.service\n0::/\n",
	"proc/20/comm":                          "sshd\n",
	"proc/20/cgroup":                        "0::/system.slice/ssh.service\n",
	"proc/1/comm":                           "systemd\n",
	"proc/1/cgroup":                         "0::/init.scope\n",
	"proc/30/comm":                          "nginx\n",
	"sys/fs/selinux/enforce":                "1",
	"var/lib/dpkg/info/openssh-server.list": "/.\n/lib/systemd/system/ssh.service\n",
	"var/lib/dpkg/status":                   status + "\nPackage: openssh-server\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:8.4p1-5\n\nPackage: mariadb-server-core-10.5\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:10.5.23-0+deb11u1\n",
}

// kernelLinks are the links among them.
var kernelLinks = map[string]string{
	"proc/10/exe": "/usr/sbin/mysqld (deleted)", "proc/10/fd/3": "socket:[111]", "proc/10/fd/4": "/var/lib/mysql/ibdata1",
	"proc/20/exe": "/usr/sbin/sshd", "proc/20/fd/3": "socket:[222]", "proc/1/exe": "/usr/lib/systemd/systemd", "proc/1/fd/9": "socket:[222]",
	"proc/30/exe": "/usr/sbin/nginx", "proc/30/fd/6": "socket:[444]",
}

func TestWhatRuns(t *testing.T) {
	is := is.New(t)
	dir := newMachine(t, kernelFiles)
	for name, target := range kernelLinks {
		is.NoErr(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		is.NoErr(os.Symlink(target, filepath.Join(dir, name)))
	}
	h, err := host.OpenRoot(dir)
	is.NoErr(err)
	defer h.Close()
	off, err := Assess(t.Context(), h, assess.Options{Now: today})
	is.NoErr(err)
	is.True(off.Running == nil)
	a, err := Assess(t.Context(), awake{h}, assess.Options{Now: today})
	is.NoErr(err)
	r := a.Running
	is.Equal(r.Kernel, "5.10.0-28-amd64")
	is.Equal(r.BootedAt, "2023-11-14T22:13:20Z")
	is.Equal(r.SELinux, "enforcing")
	is.Equal(r.AppArmor, "disabled")
	is.Equal(r.Draws, []int{10000, 65000})
	is.Equal(r.Modules, []string{"ext4", "xfs"})
	is.Equal(r.Sockets, []assess.Socket{
		{Protocol: "tcp", Address: "0.0.0.0", Port: 22, Program: "sshd", Path: "/usr/sbin/sshd", Unit: "ssh.service", Package: "openssh-server"},
		{Protocol: "tcp6", Address: "::1", Port: 80, Program: "nginx", Path: "/usr/sbin/nginx", Unit: "", Package: ""},
		{Protocol: "tcp", Address: "127.0.0.1", Port: 3306, Program: "mysqld", Path: "/usr/sbin/mysqld", Unit: "mariadb.service", Package: ""},
	})
	is.Equal(r.Databases, []assess.RunningDatabase{{Engine: "mariadb", Version: "10.5.23", Path: "/usr/sbin/mysqld", Package: "mariadb-server-core-10.5", Replaced: true}})
	is.Equal(len(r.Mounts), 2)
	is.Equal(r.Mounts[1].Path, "/srv/with space")
	is.Equal(r.Mounts[1].Options, []string{"rw", "noexec"})
	// Nothing else differs from the same machine read while it is off.
	a.Running = nil
	one, err := json.Marshal(off)
	is.NoErr(err)
	two, err := json.Marshal(a)
	is.NoErr(err)
	is.Equal(string(two), string(one))
}

func TestPortRange(t *testing.T) {
	is := is.New(t)
	is.Equal(portRange("49152 65535"), []int{49152, 65535})
	for _, no := range []string{"", "32768", "a b", "60999 32768", "0 70000", "-1 5"} {
		is.True(portRange(no) == nil)
	}
}

// TestPortsOfTheLockManager are those that no program holds, where they are alone.
func TestPortsOfTheLockManager(t *testing.T) {
	const udp = "   0: 00000000:A001 00000000:0000 07 0:0 0:0 0 0 0 555 1\n   1: 00000000:0801 00000000:0000 07 0:0 0:0 0 0 0 556 1\n"
	lockd := map[string]string{"proc/sys/fs/nfs/nlm_tcpport": "0\n", "proc/sys/fs/nfs/nlm_udpport": "0\n", "proc/net/udp": udp}
	drawn := func(more map[string]string) (ports []int) {
		is := is.New(t)
		files := maps.Clone(kernelFiles)
		maps.Copy(files, lockd)
		maps.Copy(files, more)
		dir := newMachine(t, files)
		for name, target := range kernelLinks {
			is.NoErr(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
			is.NoErr(os.Symlink(target, filepath.Join(dir, name)))
		}
		h, err := host.OpenRoot(dir)
		is.NoErr(err)
		defer h.Close()
		a, err := Assess(t.Context(), awake{h}, assess.Options{Now: today})
		is.NoErr(err)
		for _, s := range a.Running.Sockets {
			if s.Drawn {
				ports = append(ports, s.Port)
			}
		}
		return ports
	}
	is := is.New(t)
	is.Equal(drawn(nil), []int{0xA001})                                                                                         // 0x0801 is nfsd's, which is set
	is.Equal(drawn(map[string]string{"proc/sys/fs/nfs/nlm_udpport": "40961\n"}), nil)                                           // it was set to it
	is.Equal(drawn(map[string]string{"proc/sys/fs/nfs/nlm_udpport": ""}), nil)                                                  // it is not loaded
	is.Equal(drawn(map[string]string{"proc/net/udp": udp + "   2: 00000000:CA6C 00000000:0000 07 0:0 0:0 0 0 0 557 1\n"}), nil) // or WireGuard's
}

func TestUnitsThatRun(t *testing.T) {
	is := is.New(t)
	for line, want := range map[string]assess.RunningUnit{
		"ssh.service loaded active running OpenBSD Secure Shell server": {Name: "ssh.service", State: "active", Sub: "running"},
		"● shop.service   loaded    failed     failed    Shop":          {Name: "shop.service", State: "failed", Sub: "failed"},
		"* srv.mount loaded failed failed /srv":                         {Name: "srv.mount", State: "failed", Sub: "failed"},
		"logrotate.timer loaded active waiting Daily":                   {Name: "logrotate.timer", State: "active", Sub: "waiting"},
		"inbox@ann.path loaded active waiting Of ann":                   {Name: "inbox@ann.path", State: "active", Sub: "waiting"},
		"slow.service loaded activating start Slow":                     {Name: "slow.service", State: "activating", Sub: "start"},
	} {
		got, ok := parseRunningUnit(line)
		is.True(ok)
		is.Equal(got, want)
	}
	for _, line := range []string{"", "x.service not-found inactive dead x.service", "home.mount loaded active mounted /home", "LOAD = Reflects", "sys-x.device loaded active plugged x"} {
		_, ok := parseRunningUnit(line)
		is.True(!ok)
	}
}

// FuzzRunning reads what a hostile machine may say of what runs.
func FuzzRunning(f *testing.F) {
	for _, content := range kernelFiles {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bootTime(text)
		unitOf(text)
		for line := range strings.Lines(text) {
			if s, _, ok := parseSocket(line, "0A"); ok && (s.Port < 1 || s.Port > 65535 || s.Address == "") {
				t.Fatal(s)
			}
			if m, ok := parseMountInfo(line); ok && m.Type == "" {
				t.Fatal(m)
			}
			if u, ok := parseRunningUnit(line); ok && u.Name == "" {
				t.Fatal(u)
			}
		}
	})
}
