//go:build linux

package sandbox

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestMain(m *testing.M) {
	Stage()
	os.Exit(m.Run())
}

// start starts a sandbox of this machine's own root, which is only read.
func start(t *testing.T, o Options) *Sandbox {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
	o.Lower, o.Dir, o.Name, o.Plain = []string{"/"}, t.TempDir(), "sandbox", true
	if o.Limits.Time == 0 {
		o.Limits.Time = time.Minute
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Skip(err) // a kernel or a file system that can't map ids
	}
	t.Cleanup(func() { is.New(t).NoErr(s.Close()) })
	return s
}

func said(t *testing.T, s *Sandbox, script string) string {
	t.Helper()
	r, err := s.Run(t.Context(), Command{Words: []string{"sh", "-c", script}})
	is.New(t).NoErr(err)
	return strings.TrimSpace(string(r.Text))
}

func TestItsRootIsNobody(t *testing.T) {
	is := is.New(t)
	s := start(t, Options{})
	is.Equal(said(t, s, "id -u; hostname; pwd"), "0\nsandbox\n/")
	is.Equal(said(t, s, "echo x >/written && stat -c %u /written"), "0")
	_, err := os.Stat("/written")
	is.True(os.IsNotExist(err)) // nothing of the host is changed
	is.Equal(said(t, s, "ls /dev | grep -E '^(sd|vd|nvme|loop|kvm|mem|fuse)'"), "")
	for _, attack := range []string{
		"echo h >/proc/sysrq-trigger", "echo x >/proc/sys/kernel/core_pattern", "mknod /disk b 8 0", "mount -o remount,rw /sys && echo 1 >/sys/kernel/mm/ksm/run",
		"mount --bind / /mnt && mount -o remount,rw,dev /mnt && mknod /mnt/disk b 8 0", "date -s 2001-01-01", "echo x >/dev/tcp/1.1.1.1/53",
	} {
		r, err := s.Run(t.Context(), Command{Words: []string{"sh", "-c", attack}})
		is.NoErr(err)
		is.True(r.Status != 0) // refused
	}
	is.Equal(said(t, s, "cat /proc/net/dev | grep -c :"), "1")                        // loopback alone
	is.True(strings.Contains(said(t, s, "cat /proc/1/task/*/status"), "Seccomp:\t2")) // keeps the kernel's keys away
}

func TestItHasTheInterfacesOfItsMachine(t *testing.T) {
	is := is.New(t)
	s := start(t, Options{Interfaces: []Interface{
		{Name: "ens3", Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.7/24"), netip.MustParsePrefix("2001:db8::7/64")}},
		{Name: "br0", Bridge: true, Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.1/24"), netip.MustParsePrefix("198.51.100.1/24")}},
		{Name: "no/name", Addresses: []netip.Prefix{netip.MustParsePrefix("203.0.113.9/24")}},
	}})
	has := said(t, s, "cat /proc/net/dev; cat /proc/net/fib_trie; cat /proc/net/if_inet6 || true")
	for _, want := range []string{"192.0.2.7", "198.51.100.1", "203.0.113.9"} { // whatever this kernel makes
		is.True(strings.Contains(has, want))
	}
	is.True(!strings.Contains(has, "no/name"))
}

func TestIDsThatAUserMayGiveAway(t *testing.T) {
	is := is.New(t)
	is.Equal(idsOf("0 0 4294967295\n"), ids{first: First, count: Count})                   // root of the machine
	is.Equal(idsOf("0 1001 1\n1 100000 65536\n"), ids{first: 1, count: 65536, user: true}) // as unshare --map-auto has it
	is.Equal(idsOf("0 100000 65536\n"), ids{first: 1, count: 65535, user: true})           // root of somebody's container
	is.Equal(idsOf("0 1001 1\n"), ids{user: true})                                         // who has no others
}

func TestAFolderOfDevicesIsMadeWhereThereIsNone(t *testing.T) {
	is := is.New(t)
	if err := Available(); err != nil {
		t.Skip(err)
	}
	upper := t.TempDir()
	is.NoErr(os.Symlink("/etc", filepath.Join(upper, "dev"))) // as a hostile machine has it
	s, err := Start(t.Context(), Options{Lower: []string{upper, "/"}, Dir: t.TempDir(), Name: "sandbox", Plain: true})
	if err != nil {
		t.Skip(err) // a kernel or a file system that can't map ids
	}
	defer s.Close()
	is.Equal(said(t, s, "stat -c %F /dev; echo x >/dev/null && echo written"), "directory\nwritten")
}

func TestItIsAtRestWhenNothingWorks(t *testing.T) {
	is := is.New(t)
	s := start(t, Options{})
	begun := time.Now()
	s.Settle(t.Context(), time.Second, 30*time.Second)
	is.True(time.Since(begun) >= time.Second)
	before := s.worked()
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	is.NoErr(busy.Start())
	defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	is.NoErr(os.WriteFile(s.groups.Unified+boxGroup+"/cgroup.procs", []byte(strconv.Itoa(busy.Process.Pid)), 0))
	for s.worked() <= before+100*time.Millisecond && time.Since(begun) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	is.True(s.worked() > before+100*time.Millisecond)
}

func TestItsProcessesAreBounded(t *testing.T) {
	is := is.New(t)
	s := start(t, Options{Limits: Limits{Processes: 64}})
	written := func(below string, files ...string) (text string) { // to a group of whichever version
		for _, dir := range s.groups.each(below) {
			for _, file := range files {
				b, _ := os.ReadFile(dir + "/" + file)
				text += string(b)
			}
		}
		return text
	}
	is.Equal(written(boxGroup, "pids.max"), "64\n")
	is.Equal(written(runGroup, "pids.max"), "64\n")
	is.Equal(written("", "cgroup.max.descendants"), "4096\n")
	if share := written("", "cpu.weight", "cpu.shares"); share != "" { // a host may have no such controller
		is.True(share == "100\n" || share == "1024\n")
	}
	is.Equal(said(t, s, "echo asked"), "asked")
	is.NoErr(s.Close())
	_, err := os.Stat(s.groups.Unified)
	is.True(os.IsNotExist(err)) // nothing is left
}

func TestABombIsEndedAndTheRestGoesOn(t *testing.T) {
	is := is.New(t)
	ended := make(chan string, 100)
	s := start(t, Options{Limits: Limits{Processes: 64}, Thinned: func(group string) { ended <- group }})
	unit := s.groups.Unified + boxGroup + "/bomb.service" // as its systemd makes it
	is.NoErr(os.Mkdir(unit, 0o755))
	join := ""
	for _, dir := range append([]string{unit}, s.groups.each(boxGroup)[1:]...) {
		join += "echo $$ >" + dir + "/cgroup.procs && "
	}
	bomb := exec.CommandContext(t.Context(), "sh", "-c", join+"while :; do sleep 100 & done")
	is.NoErr(bomb.Start())
	select {
	case group := <-ended:
		is.Equal(group, "bomb.service")
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on")
	}
	is.True(bomb.Wait() != nil) // it was killed
	is.Equal(said(t, s, "echo asked"), "asked")
	is.NoErr(s.Exceeded())
	_, err := s.Run(t.Context(), Command{Words: []string{"sh", "-c", "while :; do sleep 100 & done"}, Time: 20 * time.Second})
	is.NoErr(err)
	is.Equal(<-ended, "run") // what enters is hostile, too
	is.Equal(said(t, s, "echo asked"), "asked")
}

func TestItsDiskIsBounded(t *testing.T) {
	is := is.New(t)
	s := start(t, Options{Limits: Limits{Disk: 64 << 20}})
	_, _ = s.Run(t.Context(), Command{Words: []string{"sh", "-c", "head -c 300m /dev/zero >/big; sleep 20"}})
	select {
	case <-s.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on")
	}
	is.True(s.Exceeded() != nil)
}

func TestOnlyArchivesAreReached(t *testing.T) {
	is := is.New(t)
	archive := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "package") }))
	defer archive.Close()
	at, err := url.Parse(archive.URL)
	is.NoErr(err)
	proxy := httptest.NewServer(Archives(func(host string) bool { return host == at.Host || host == at.Hostname() }, slog.New(slog.DiscardHandler)))
	defer proxy.Close()
	by, err := url.Parse(proxy.URL)
	is.NoErr(err)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(by)}}
	status := func(method, address, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		is.NoErr(err)
		r, err := client.Do(request)
		is.NoErr(err)
		defer r.Body.Close()
		return r.StatusCode
	}
	is.Equal(status("GET", archive.URL, ""), 200)
	is.Equal(status("GET", archive.URL, "stolen"), 403)
	is.Equal(status("POST", archive.URL, "stolen"), 403)
	is.Equal(status("GET", "http://example.net/", ""), 403)
	conn, err := net.Dial("tcp", by.Host)
	is.NoErr(err)
	defer conn.Close()
	_, err = io.WriteString(conn, "CONNECT example.net:443 HTTP/1.1\r\nHost: example.net:443\r\n\r\n")
	is.NoErr(err)
	b := make([]byte, 12)
	_, err = io.ReadFull(conn, b)
	is.NoErr(err)
	is.Equal(string(b), "HTTP/1.1 403")
}

func TestWhatAKilledProcessLeftIsTakenAway(t *testing.T) {
	is := is.New(t)
	parent := t.TempDir()
	left := filepath.Join(parent, "sandbox-1")
	is.NoErr(os.MkdirAll(left+"/data", 0o755))
	is.NoErr(os.WriteFile(left+".lock", nil, 0o600)) // nobody holds it
	dir, release, err := Claim(parent)
	is.NoErr(err)
	_, err = os.Stat(left)
	is.True(os.IsNotExist(err))
	other, releaseOther, err := Claim(parent)
	is.NoErr(err)
	_, err = os.Stat(dir)
	is.NoErr(err) // it is somebody's
	is.NoErr(releaseOther())
	is.NoErr(release())
	_, err = os.Stat(other)
	is.True(os.IsNotExist(err))
}
