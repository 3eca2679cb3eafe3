//go:build linux

// Package base makes fresh roots of releases by their own package managers, and
// keeps them: what a person has who installs a new machine. All that it runs comes
// from the release's archive. APT checks its signatures; dnf has no key of a release
// that it has not installed, and takes what TLS brings from the archive's host.
package base

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/tools/sandbox"
)

//go:embed bases.tsv
var basesTSV string

// Base says how a release's root is made.
type Base struct {
	Release string
	manager string
	suite   string
	archive string
	hosts   []string
	keyring string
}

var bases = tsv.List(basesTSV, 6, func(c []string) Base { return Base{c[0], c[1], c[2], c[3], strings.Split(c[4], ","), c[5]} })

// ErrUnknown means that no way is known to make a root of a release.
var ErrUnknown = errors.New("no way is known to make a fresh root of this release")

// Of is the base of a release, from another archive where one is named.
func Of(release, archive string) (Base, error) {
	for _, b := range bases() {
		if fits, _ := path.Match(b.Release, release); !fits { // the table's patterns are sound
			continue
		}
		version := release[strings.LastIndex(release, "-")+1:]
		b.Release, b.suite, b.archive = release, strings.ReplaceAll(b.suite, "*", version), strings.ReplaceAll(b.archive, "*", version)
		if archive != "" {
			b.archive = strings.TrimSuffix(archive, "/")
		}
		return b, nil
	}
	return Base{}, fmt.Errorf("%w: %s; nothing was done: make one, and name it by --base", ErrUnknown, release)
}

// Allowed reports whether a host is an archive's of this base.
func (b Base) Allowed(host string) bool {
	if u, err := url.Parse(b.archive); err == nil && (host == u.Hostname() || host == u.Host) {
		return true
	}
	return slices.Contains(b.hosts, host)
}

// way is a program that makes a root, with its words.
type way struct {
	program string
	words   []string
}

// ways are the ways of each manager, the best first. What is added to a release's
// own first packages is what a role takes: Python, and its library of the manager.
var ways = map[string][]way{
	"apt": {
		{"mmdebstrap", []string{"--mode=root", "--variant=important", "--include=" + debs, "{suite}", "{dir}", "{archive}"}},
		{"debootstrap", []string{"--include=" + debs, "{suite}", "{dir}", "{archive}"}},
	},
	"dnf": {{"dnf", slices.Concat([]string{
		"-y", "--installroot={dir}", "--releasever={suite}", "--setopt=install_weak_deps=False", "--setopt=reposdir=/nonexistent", "--disablerepo=*",
		"--repofrompath=svc-base,{archive}/BaseOS/{machine}/os/", "--repofrompath=svc-app,{archive}/AppStream/{machine}/os/", "--nogpgcheck", "install",
	}, rpms)}},
	"fedora": {{"dnf", slices.Concat([]string{
		"-y", "--installroot={dir}", "--releasever={suite}", "--setopt=install_weak_deps=False", "--setopt=reposdir=/nonexistent", "--disablerepo=*",
		"--repofrompath=svc-base,{archive}/{machine}/os/", "--nogpgcheck", "install",
	}, rpms)}},
	"zypper": {
		{"zypper", []string{"--root", "{dir}", "--non-interactive", "addrepo", "{archive}", "oss"}},
		{"zypper", slices.Concat([]string{"--root", "{dir}", "--non-interactive", "--gpg-auto-import-keys", "install", "--no-recommends"}, suses)},
	},
}

const debs = "systemd,systemd-sysv,dbus,python3,python3-apt,sudo,locales,ca-certificates,iproute2,netbase,procps,openssh-server,rsync"

var (
	rpms  = []string{"@core", "systemd", "python3", "python3-libdnf5", "sudo", "openssh-server", "rsync"}
	suses = []string{"patterns-base-base", "systemd", "python3", "python3-rpm", "sudo", "openssh-server", "rsync", "zypper"}
)

// maxAge is how long a root is kept before a new one is made.
const maxAge = 30 * 24 * time.Hour

// Makes says which program lacks here to make the base; nil where none does.
func (b Base) Makes() error {
	if len(b.use()) > 0 {
		return nil
	}
	return fmt.Errorf("a root of %s is made by %s, and none of them is here; nothing was done: install one, or name a root by --base", b.Release, programs(ways[b.manager]))
}

// Make gives the folder of the base's root below cache, made where it is not there
// or too old, and a word on how it is made.
func (b Base) Make(ctx context.Context, cache string) (dir, how string, err error) {
	if err := b.Makes(); err != nil {
		return "", "", err
	}
	use := b.use()
	how = fmt.Sprintf("%s from %s", use[0].program, b.archive)
	sum := sha256.Sum256(fmt.Append(nil, use, b))
	dir = filepath.Join(cache, b.Release+"-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return "", "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", "", err
	}
	if info, err := os.Stat(dir + ".made"); err == nil && time.Since(info.ModTime()) < maxAge {
		return dir, how, nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+".made"), os.Mkdir(dir, 0o755), sandbox.Give(dir)); err != nil {
		return "", "", err
	}
	for _, w := range use {
		if err := b.run(ctx, w, dir, lock); err != nil {
			return "", "", err
		}
	}
	if err := b.settle(dir); err != nil {
		return "", "", err
	}
	return dir, how, os.WriteFile(dir+".made", nil, 0o600)
}

// use is the first way of apt that is here, or all steps of another manager.
func (b Base) use() []way {
	all := ways[b.manager]
	for i, w := range all {
		if _, err := exec.LookPath(w.program); err == nil && b.manager == "apt" {
			return all[i : i+1]
		} else if err != nil && b.manager != "apt" {
			return nil
		}
	}
	if b.manager == "apt" {
		return nil
	}
	return all
}

func programs(all []way) string {
	return strings.Join(slices.Compact(sliced.Map(all, func(w way) string { return w.program })), " or ")
}

// words are those of a step.
func (b Base) words(w way, dir string) (words []string) {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	fill := strings.NewReplacer("{suite}", b.suite, "{dir}", dir, "{archive}", b.archive, "{machine}", machine)
	return sliced.Map(w.words, fill.Replace)
}

// reached is where a step finds the folder, whose root has no way to it.
const reached = "/mnt"

// failed says which step failed, with the end of what it printed.
func (b Base) failed(w way, err error, text []byte) error {
	if b.keyring != "" && bytes.Contains(text, []byte("NO_PUBKEY")) {
		return fmt.Errorf("%s could not make a root of %s: apt here has no key for %s; nothing was done: install the package %s here, or name a root by --base", w.program, b.Release, b.archive, b.keyring)
	}
	return fmt.Errorf("%s could not make a root of %s (%w): %s", w.program, b.Release, err, bytes.TrimSpace(text[max(0, len(text)-800):]))
}

// run runs a step. Its mounts are its own, so that none stays where it is killed. It holds
// the lock too: where svc alone is killed, the next one waits until nobody writes there.
func (b Base) run(ctx context.Context, w way, dir string, lock *os.File) error {
	cmd := exec.CommandContext(ctx, w.program, b.words(w, dir)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Setsid: true}
	if sandbox.User() {
		cmd = sandbox.AsNobody(ctx, dir, reached, append([]string{w.program}, b.words(w, reached)...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, lock)
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return b.failed(w, err, said.Bytes())
	}
	return nil
}

// settle makes of a fresh root one that boots as a new machine.
func (b Base) settle(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files := map[string]string{"etc/machine-id": "", "etc/hostname": "target\n", "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 target\n", "etc/resolv.conf": ""}
	if b.manager == "apt" {
		files["etc/apt/sources.list"] = b.sources()
	}
	for name, content := range files {
		_ = root.Remove(name)
		owner, _ := sandbox.OnDisk(0)
		if err := errors.Join(root.WriteFile(name, []byte(content), 0o644), root.Lchown(name, owner, owner)); err != nil {
			return err
		}
	}
	return nil
}

// sources are the archives of a Debian or Ubuntu: the release, its updates, and
// what its security team brings.
func (b Base) sources() string {
	components, security := "main", b.archive+"-security"
	if strings.HasPrefix(b.Release, "ubuntu-") {
		components, security = "main restricted universe multiverse", b.archive
	}
	return fmt.Sprintf("deb %[1]s %[2]s %[3]s\ndeb %[1]s %[2]s-updates %[3]s\ndeb %[4]s %[2]s-security %[3]s\n", b.archive, b.suite, components, security)
}
