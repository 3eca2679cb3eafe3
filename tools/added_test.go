package tools

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/tools/machine"
	"svc/tools/tool"
	"svc/tools/verification"
)

// extend adds to a file of a machine. Other machines may have the old one too.
func extend(file, text string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		b, err := os.ReadFile(filepath.Join(root, file))
		is.New(t).NoErr(err)
		put(file, string(b)+text)(t, root)
	}
}

// program makes a file of a machine that runs, with a mode.
func program(file string, mode os.FileMode) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		put(file, "#!/bin/sh\n")(t, root)
		is.New(t).NoErr(os.Chmod(filepath.Join(root, file), mode))
	}
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl eve\n"

// addition is something that a machine gets, and what it is called.
type addition struct {
	add  func(*testing.T, string)
	want string
}

// unannounced are additions that no plan brings, of each kind.
var unannounced = []addition{
	{extend("etc/passwd", "toor:x:0:0::/root:/bin/bash\n"), "users toor"},
	{extend("etc/group", "docker:x:0:\n"), "groups docker"},
	{put("root/.ssh/authorized_keys", publicKey), "authorized_keys root SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"},
	{put("etc/sudoers.d/evil", "mallory ALL=(ALL) NOPASSWD: ALL\n"), "sudoers mallory"},
	{put("etc/ld.so.preload", "/opt/evil.so\n"), "configuration /etc/ld.so.preload"},
	{put("etc/profile.d/evil.sh", "true\n"), "configuration /etc/profile.d/evil.sh"},
	{put("etc/pam.d/evil", "auth sufficient pam_permit.so\n"), "pam /etc/pam.d/evil"},
	{put("etc/modprobe.d/evil.conf", "options evil x=1\n"), "modules options"},
	{put("etc/sysctl.d/99-evil.conf", "kernel.yama.ptrace_scope = 0\n"), "sysctl kernel.yama.ptrace_scope"},
	{put("etc/cron.d/evil", "* * * * * root /opt/evil\n"), "jobs root: /opt/evil"},
	{put("var/spool/cron/crontabs/root", "@reboot /opt/evil2\n"), "jobs root: /opt/evil2"},
	{put("etc/cron.daily/evil", "#!/bin/sh\n"), "jobs root: /etc/cron.daily/evil"},
	{put("etc/systemd/system/evil.service", "[Service]\nExecStart=/opt/evil\n"), "services evil.service"},
	{put("etc/systemd/system/evil.timer", "[Timer]\nOnBootSec=1\n"), "timers evil.timer"},
	{put("etc/apt/sources.list.d/evil.list", "deb [trusted=yes] http://evil.example/debian x main\n"), "archives http://evil.example/debian x main"},
	{put("etc/apt/trusted.gpg.d/evil.gpg", "x"), "archives /etc/apt/trusted.gpg.d/evil.gpg"},
	{put("etc/apt/keyrings/evil.gpg", "x"), "archives /etc/apt/keyrings/evil.gpg"},
	{extend("var/lib/dpkg/status", "\nPackage: evil\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n"), "packages evil"},
	{program("usr/local/bin/evil", 0o755), "programs /usr/local/bin/evil"},
	{program("usr/local/lib/evil.so", 0o644), "programs /usr/local/lib/evil.so"},
	{program("usr/bin/evil", 0o755), "programs /usr/bin/evil"},
	{program("opt/evil/tool", 0o755|os.ModeSetuid), "programs /opt/evil/tool"},
	{program("usr/lib/evil/helper", 0o755|os.ModeSetgid), "programs /usr/lib/evil/helper"},
	{program("usr/local/bin/shop-worker", 0o755), "programs /usr/local/bin/shop-worker"}, // replaced
}

// TestWhatWasAddedIsNamed draws sets of additions to a machine: each is named,
// by its own dimension and once, by whatever the machine is compared with, and
// nothing else is.
func TestWhatWasAddedIsNamed(t *testing.T) {
	env := newEnv(t)
	root, migrated, verifiedOut := verified(t, env)
	sets := rapid.SliceOfNDistinct(rapid.IntRange(0, len(unannounced)-1), 1, 8, rapid.ID[int])
	every := make([]int, len(unannounced))
	for i := range every {
		every[i] = i
	}
	for seed, set := range [][]int{every, sets.Example(1), sets.Example(2), sets.Example(3)} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			is := is.New(t)
			dir := filepath.Join(t.TempDir(), "host")
			is.NoErr(exec.Command("cp", "-al", root, dir).Run())
			var want []string
			for _, i := range set {
				unannounced[i].add(t, dir)
				want = append(want, unannounced[i].want)
			}
			slices.Sort(want)
			in := verification.Input{Machine: machine.Machine{Root: dir}, Detail: tool.DetailFull, Accept: accept(t, "")}
			for _, source := range []string{migrated, verifiedOut} {
				in.Source = source
				r, err := verification.Drift(t.Context(), env, in)
				is.NoErr(err)
				got := named(r.Differences())
				slices.Sort(got)
				is.Equal(got, want)
				is.True(!r.Parity)
			}
			in.Source = migrated
			r, err := verification.Verify(t.Context(), env, in)
			is.NoErr(err)
			got := named(r.Differences())
			slices.Sort(got)
			is.Equal(got, want)
			is.True(!r.Parity)
		})
	}
}

// TestACertificateWithoutItsKeyIsNamed puts another key where the configuration
// has the certificate's.
func TestACertificateWithoutItsKeyIsNamed(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	root, migrated, _ := verified(t, env)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	is.NoErr(err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	is.NoErr(err)
	put("etc/ssl/private/shop.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))(t, root)
	r, err := verification.Verify(t.Context(), env, verification.Input{Machine: machine.Machine{Root: root}, Source: migrated, Detail: tool.DetailFull, Accept: accept(t, "")})
	is.NoErr(err)
	is.True(slices.Contains(named(r.Differences()), "certificates /etc/ssl/certs/shop.pem (key)"))
}
