package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess/host"
)

// server is a real sshd on loopback, with keys of its own, for the user who
// runs the tests.
type server struct {
	dir, port, user string
	options         []string // that ssh needs to get there
}

// start runs sshd with more lines of configuration. Without an sshd there is no
// test.
func start(t *testing.T, address string, lines ...string) *server {
	t.Helper()
	is := is.New(t)
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("there is no sshd")
	}
	me, err := user.Current()
	is.NoErr(err)
	s := &server{dir: t.TempDir(), user: me.Username}
	is.NoErr(os.Chmod(s.dir, 0o700))
	if os.Getuid() == 0 {
		is.NoErr(os.MkdirAll("/run/sshd", 0o755)) // where sshd separates privileges
	}
	for _, key := range []string{"host", "client"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.path(key)).CombinedOutput()
		is.Equal(string(out), "")
		is.NoErr(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Skip("no such address here")
	}
	_, s.port, err = net.SplitHostPort(l.Addr().String())
	is.NoErr(err)
	is.NoErr(l.Close())
	s.write(t, "sshd_config", append([]string{
		"Port " + s.port, "ListenAddress " + address, "HostKey " + s.path("host"), "AuthorizedKeysFile " + s.path("client.pub"),
		"PidFile none", "StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
	}, lines...)...)
	known, err := os.ReadFile(s.path("host.pub"))
	is.NoErr(err)
	s.write(t, "known_hosts", fmt.Sprintf("[%s]:%s %s", address, s.port, known))
	s.write(t, "config", "IdentityFile "+s.path("client"), "IdentitiesOnly yes", "UserKnownHostsFile "+s.path("known_hosts"), "GlobalKnownHostsFile none")
	s.options = []string{"-F", s.path("config")}
	cmd := exec.Command(sshd, "-D", "-e", "-f", s.path("sshd_config"))
	log := &bytes.Buffer{}
	cmd.Stderr = log
	is.NoErr(cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it ends with the test
	for range 100 {
		if c, err := net.Dial("tcp", net.JoinHostPort(address, s.port)); err == nil {
			is.NoErr(c.Close())
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("sshd does not listen: %s", log)
	return nil
}

func (s *server) path(name string) string { return filepath.Join(s.dir, name) }

func (s *server) write(t *testing.T, name string, lines ...string) {
	t.Helper()
	is.New(t).NoErr(os.WriteFile(s.path(name), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

func (s *server) dial(ctx context.Context) (*remote, error) {
	return dialSSH(ctx, s.user+"@127.0.0.1:"+s.port, s.options...)
}

func (s *server) mustDial(t *testing.T) *remote {
	t.Helper()
	r, err := s.dial(t.Context())
	is.New(t).NoErr(err)
	t.Cleanup(func() { is.New(t).NoErr(r.Close()) })
	return r
}

// localShell is the same without ssh: a shell of this host, such as busybox.
func localShell(t *testing.T, argv ...string) *remote {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	s, err := startShell(ctx, cmd, "here")
	is.New(t).NoErr(err)
	r := newRemote(s, "here")
	is.New(t).NoErr(r.hello())
	t.Cleanup(func() { is.New(t).NoErr(r.Close()); cancel() })
	return r
}

// shells are those that are found on machines.
func shells(t *testing.T) map[string][]string {
	all := map[string][]string{"dash": {"dash"}, "bash": {"bash", "--posix"}, "sh": {"/bin/sh"}}
	for name, argv := range all {
		if _, err := exec.LookPath(argv[0]); err != nil {
			delete(all, name)
		}
	}
	if busybox, err := exec.LookPath("busybox"); err == nil && exec.Command(busybox, "unshare", "-mr", "true").Run() == nil {
		dir := t.TempDir()
		b, err := os.ReadFile(busybox)
		is.New(t).NoErr(err)
		is.New(t).NoErr(os.WriteFile(filepath.Join(dir, "busybox"), b, 0o755))
		for _, name := range []string{"stat", "head", "cat", "dd", "id", "readlink"} {
			is.New(t).NoErr(os.Symlink("busybox", filepath.Join(dir, name)))
		}
		// In a namespace of its own its programs are all that there are.
		all["busybox"] = []string{busybox, "unshare", "-mr", busybox, "sh", "-c", "mount --bind " + dir + " /usr/bin && exec " + dir + "/busybox sh"}
	}
	return all
}

// odd are names that a shell or a line could trip over.
var odd = []string{
	"plain", "with space", "new\nline", "quote'quote", `double"quote`, `back\slash`, "$(touch pwned)", "`id`", "-n", "*", "?x", "[a]", ".hidden", "..dots",
	"\xff\xfe bytes", "esc\x1b[31m", "semi;colon", "pipe|pipe", "ends//", "tab\there", "ünïcode", "!bang", "~tilde", "#hash", "a'//\n81a4|0|0|1|1|1|x|b",
}

// oddRoot is a folder of odd files, links and folders.
func oddRoot(t *testing.T) string {
	t.Helper()
	is := is.New(t)
	dir := t.TempDir()
	for _, name := range odd {
		name = strings.ReplaceAll(name, "/", "_")
		is.NoErr(os.MkdirAll(filepath.Join(dir, "dirs", name), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(dir, "dirs", name, name), []byte(name), 0o640))
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte("content of "+name+"\n"), 0o604))
		is.NoErr(os.Symlink(name, filepath.Join(dir, "link to "+name)))
	}
	for name, target := range map[string]string{"dangling": "nowhere", "loop": "loop", "up": "..", "deep": "dirs/plain/plain", "newline": "a\nb", "slashes": ".//plain", "record": "x'//\n81a4|0|0|1|1|1|y|z", "kmsg": "/proc/kmsg"} {
		is.NoErr(os.Symlink(target, filepath.Join(dir, name)))
	}
	is.NoErr(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	is.NoErr(os.WriteFile(filepath.Join(dir, "empty"), nil, 0o4755))
	is.NoErr(os.Chmod(filepath.Join(dir, "empty"), 0o755|fs.ModeSetuid|fs.ModeSticky))
	is.NoErr(os.WriteFile(filepath.Join(dir, "no newline"), []byte("\n\nx\n\ny"), 0o644))
	is.NoErr(os.WriteFile(filepath.Join(dir, "newlines"), []byte("\n\n\n"), 0o644))
	is.NoErr(os.Chtimes(filepath.Join(dir, "plain"), time.Time{}, time.Unix(1234567890, 123456789)))
	return dir
}

// TestTheSameAsARoot compares everything that the two ways say of a tree, in
// every shell.
func TestTheSameAsARoot(t *testing.T) {
	dir := oddRoot(t)
	local, err := host.OpenRoot("/")
	is.New(t).NoErr(err)
	defer local.Close()
	for name, argv := range shells(t) {
		t.Run(name, func(t *testing.T) {
			r := localShell(t, argv...)
			sameTree(t, local.FS(), r.FS(), strings.TrimPrefix(dir, "/"))
			same(t, local.FS(), r.FS(), strings.TrimPrefix(dir, "/")+"/absent/more")
			same(t, local.FS(), r.FS(), strings.TrimPrefix(dir, "/")+"/plain/under")
			same(t, local.FS(), r.FS(), strings.TrimPrefix(dir, "/")+"/deep/under")
			madeUpElsewhere(t, local.FS(), r.FS())
			_, err := os.Stat("pwned")
			is.New(t).True(errors.Is(err, fs.ErrNotExist))
		})
	}
}

// madeUpElsewhere asks for files of the kernel, by names that hide that and by
// their own: one that can be read only once, and not to its end.
func madeUpElsewhere(t *testing.T, a, b host.FS) {
	t.Helper()
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Symlink("/proc", filepath.Join(dir, "link")))
	_, err := b.ReadDir(dir[1:] + "/link") // its files are known as small ones from here on
	is.NoErr(err)
	for _, fsys := range []host.FS{a, b} {
		for _, name := range []string{dir[1:] + "/link/kmsg", dir[1:] + "/link/version", "proc/kmsg"} {
			_, err := host.ReadFile(fsys, name, 1<<20)
			is.True(errors.Is(err, host.ErrNotRegular))
		}
		release, err := host.ReadFile(fsys, "proc/sys/kernel/osrelease", 1<<20)
		is.NoErr(err)
		is.True(len(release) > 0)
	}
}

func TestTheSameAsARootOverSSH(t *testing.T) {
	dir := oddRoot(t)
	local, err := host.OpenRoot("/")
	is.New(t).NoErr(err)
	defer local.Close()
	r := start(t, "127.0.0.1").mustDial(t)
	sameTree(t, local.FS(), r.FS(), strings.TrimPrefix(dir, "/"))
	is.New(t).True(r.Live())
}

func sameTree(t *testing.T, a, b host.FS, dir string) {
	t.Helper()
	same(t, a, b, dir)
	entries, err := a.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.IsDir() {
			sameTree(t, a, b, name)
		} else {
			same(t, a, b, name)
		}
	}
}

// same compares what two file systems say of a name.
func same(t *testing.T, a, b host.FS, name string) {
	t.Helper()
	is := is.New(t)
	is.Equal(told(b.Stat(name)), told(a.Stat(name)))
	is.Equal(told(b.Lstat(name)), told(a.Lstat(name)))
	linkB, errB := b.ReadLink(name)
	linkA, errA := a.ReadLink(name)
	is.Equal([]string{linkB, fmt.Sprint(errB)}, []string{linkA, fmt.Sprint(errA)})
	bytesB, errB := host.ReadFile(b, name, 1<<20)
	bytesA, errA := host.ReadFile(a, name, 1<<20)
	is.Equal([]string{string(bytesB), fmt.Sprint(errB)}, []string{string(bytesA), fmt.Sprint(errA)})
	dirB, errB := b.ReadDir(name)
	dirA, errA := a.ReadDir(name)
	is.Equal(fmt.Sprint(errB), fmt.Sprint(errA))
	is.Equal(listed(dirB), listed(dirA))
}

func told(info fs.FileInfo, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Name(), info.Size(), info.Mode(), info.ModTime().UTC(), info.Sys())
}

func listed(entries []fs.DirEntry) (all []string) {
	for _, e := range entries {
		all = append(all, fmt.Sprint(e.Name(), e.Type(), e.IsDir()))
	}
	return all
}

func TestABigFileInAnyOrder(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	big := make([]byte, 5<<20+12345)
	for i := range big {
		big[i] = byte(i * i >> 7)
	}
	is.NoErr(os.WriteFile(filepath.Join(dir, "big"), big, 0o644))
	r := localShell(t, "/bin/sh")
	f, err := r.Open(strings.TrimPrefix(dir, "/") + "/big")
	is.NoErr(err)
	defer f.Close()
	is.NoErr(iotest.TestReader(f.(io.Reader), big))
	rapid.Check(t, func(t *rapid.T) {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		*f.(*remoteFile) = remoteFile{name: f.(*remoteFile).name, remote: r, info: f.(*remoteFile).info}
		for range 5 {
			off, n := rapid.Int64Range(0, int64(len(big)+10)).Draw(t, "off"), rapid.IntRange(1, 1<<20).Draw(t, "n")
			p := make([]byte, n)
			got, err := f.(io.ReaderAt).ReadAt(p, off)
			want := big[min(off, int64(len(big))):min(off+int64(n), int64(len(big)))]
			if !bytes.Equal(p[:got], want) || (got < n) != errors.Is(err, io.EOF) {
				t.Fatalf("%d at %d: %d, %v", n, off, got, err)
			}
		}
	})
}

func TestDestinations(t *testing.T) {
	is := is.New(t)
	for s, want := range map[string]destination{
		"host": {"host", ""}, "a@host": {"a@host", ""}, "a@host:22": {"a@host", "22"}, "::1": {"::1", ""}, "[::1]": {"::1", ""},
		"[::1]:2222": {"::1", "2222"}, "a@[fe80::1%eth0]:22": {"a@fe80::1%eth0", "22"}, "a@b@host": {"a@b@host", ""}, "my_alias.x": {"my_alias.x", ""},
		"a@fe80::1": {"a@fe80::1", ""},
	} {
		got, err := parseDestination(s)
		is.NoErr(err)
		is.Equal(got, want)
	}
	for _, s := range []string{
		"", "-oProxyCommand=id", "a@-oProxyCommand=id", "@", "@host", "a@", "host:", "host:0", "host:70000", "host:ssh", "ho st", "host\n", "a\x1b@host",
		"[::1", "[host]:22", "[::1]22", "1:2:3", "`id`", "a;b@host", "$(id)@host", "a@b|c", ":22", "host:22:23",
	} {
		_, err := parseDestination(s)
		is.True(errors.Is(err, ErrDestination))
	}
}

// TestAPersonConnectsByHand with what an error says.
func TestAPersonConnectsByHand(t *testing.T) {
	is := is.New(t)
	const unknown = "No ED25519 host key is known for [web1]:2222"
	for dest, command := range map[string]string{"root@web1": "`ssh root@web1`", "web1:2222": "`ssh -p 2222 web1`", "root@[fe80::1]:22": "`ssh -p 22 root@fe80::1`"} {
		is.True(strings.Contains(explain(dest, unknown, false).Error(), command))
	}
}

func TestHostKeys(t *testing.T) {
	is := is.New(t)
	s := start(t, "127.0.0.1")
	known, err := os.ReadFile(s.path("known_hosts"))
	is.NoErr(err)
	s.write(t, "config", "IdentityFile "+s.path("client"), "UserKnownHostsFile "+s.path("known_hosts"), "GlobalKnownHostsFile none", "StrictHostKeyChecking no")
	s.write(t, "known_hosts")
	_, err = s.dial(t.Context())
	is.True(strings.Contains(err.Error(), "its host key is not known"))
	is.True(strings.Contains(err.Error(), "ssh -p "+s.port+" "+s.user+"@127.0.0.1"))
	other, err := os.ReadFile(s.path("client.pub"))
	is.NoErr(err)
	changed := "[127.0.0.1]:" + s.port + " " + string(other)
	s.write(t, "known_hosts", changed)
	_, err = s.dial(t.Context())
	is.True(strings.Contains(err.Error(), "its host key is not the one that is known"))
	after, err := os.ReadFile(s.path("known_hosts"))
	is.NoErr(err)
	is.Equal(string(after), changed+"\n") // nothing was accepted
	is.NoErr(os.WriteFile(s.path("known_hosts"), known, 0o600))
	s.mustDial(t)
}

func TestNoKey(t *testing.T) {
	is := is.New(t)
	s := start(t, "127.0.0.1", "AuthorizedKeysFile none")
	s.write(t, "sshd_config") // already read
	is.NoErr(os.Remove(s.path("client")))
	_, err := s.dial(t.Context())
	is.True(strings.Contains(err.Error(), "ssh-add"))
}

func TestIPv6(t *testing.T) {
	s := start(t, "::1")
	r, err := dialSSH(t.Context(), s.user+"@[::1]:"+s.port, s.options...)
	is.New(t).NoErr(err)
	is.New(t).NoErr(r.Close())
}

func TestAJumpHost(t *testing.T) {
	is := is.New(t)
	jump, s := start(t, "127.0.0.1"), start(t, "127.0.0.1")
	known := []string{}
	for _, each := range []*server{jump, s} {
		b, err := os.ReadFile(each.path("known_hosts"))
		is.NoErr(err)
		known = append(known, strings.TrimSpace(string(b)))
	}
	s.write(t, "known_hosts", known...)
	s.write(t, "config",
		"Host target", "HostName 127.0.0.1", "Port "+s.port, "User "+s.user, "ProxyJump jump", "IdentityFile "+s.path("client"),
		"Host jump", "HostName 127.0.0.1", "Port "+jump.port, "User "+s.user, "IdentityFile "+jump.path("client"),
		"Host *", "IdentitiesOnly yes", "UserKnownHostsFile "+s.path("known_hosts"), "GlobalKnownHostsFile none")
	r, err := dialSSH(t.Context(), "target", s.options...)
	is.NoErr(err)
	_, err = r.Stat("etc/passwd")
	is.NoErr(err)
	is.NoErr(r.Close())
}

func TestALostConnection(t *testing.T) {
	is := is.New(t)
	r := start(t, "127.0.0.1").mustDial(t)
	is.NoErr(syscall.Kill(-r.shell.cmd.Process.Pid, syscall.SIGKILL))
	_, err := r.Stat("tmp/never asked")
	is.True(strings.Contains(err.Error(), "the connection was lost"))
	is.True(r.Lost() != nil)
}

func TestCancel(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := start(t, "127.0.0.1").dial(ctx)
	is.NoErr(err)
	cancel()
	for n, until := 0, time.Now().Add(10*time.Second); time.Now().Before(until); n++ {
		_, err = r.Stat(fmt.Sprint("tmp/never asked ", n))
		if !errors.Is(err, fs.ErrNotExist) { // what is asked before the end comes may be answered
			break
		}
	}
	is.True(errors.Is(err, context.Canceled))
	is.Equal(syscall.Kill(-r.shell.cmd.Process.Pid, 0), syscall.ESRCH) // no process is left
	is.NoErr(r.Close())
}

// TestShellsThatAreNone end in an error, not in waiting or in memory.
func TestShellsThatAreNone(t *testing.T) {
	is := is.New(t)
	for name, c := range map[string]struct{ script, want string }{
		"nologin":  {"echo 'This account is currently not available.\x1b[31m'; exit 1", `not available.\x1b[31m`},
		"floods":   {"exec yes", "more than was asked"},
		"binary":   {"exec cat /dev/zero", "more than was asked"},
		"no stat":  {"exec env -i PATH=/nowhere /bin/sh -c 'PATH=/nowhere; while read -r line; do eval \"$line\"; done'", ""},
		"says no":  {"echo no >&2; exit 255", "no"},
		"greeting": {"echo hello; echo there; exec /bin/sh", ""},
	} {
		if name == "no stat" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.script)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
			s, err := startShell(ctx, cmd, "here")
			if c.want == "" {
				is.NoErr(err)
				is.NoErr(s.Close())
				return
			}
			is.True(strings.Contains(err.Error(), c.want))
			is.True(!strings.ContainsRune(err.Error(), '\x1b'))
		})
	}
}

// FuzzListing reads what a hostile machine may say of its files.
func FuzzListing(f *testing.F) {
	f.Add([]byte("81a4|0|0|5|1234567890|1|2009-02-13 23:31:30.123456789 +0000|/etc/passwd//'/etc/passwd'//\n?/etc/x//\na1ff|0|0|7|1|1|x|/etc/l//'/etc/l' -> 'passwd'//"))
	f.Add([]byte("41ed|0|0|0|-1|1||/etc///////\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := parseListing("etc", b)
		for name, k := range files {
			if err != nil || name != k.info.Base || strings.Contains(name, "/") {
				t.Fatalf("%q, %v", name, err)
			}
			_ = k.info.ModTime()
		}
		names := []string{"etc/passwd", "etc/x"}
		for name := range cut(names, []frame{{body: b}, {body: b}, {body: b}}) {
			if !slices.Contains(names, name) {
				t.Fatal(name)
			}
		}
	})
}
