// Package snapshot_test copies data that are written to meanwhile, by the snapshot
// scripts of a data plan, from volumes of LVM, thick and thin, and from btrfs. The device
// mapper that this takes is that of a user-mode Linux, which runs this test a second time
// on the same files; whether the host has one does not matter.
package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

// other is the variable that has the svc to be tested, in the other kernel.
const other = "SVC_E2E_OTHER_KERNEL"

func TestMain(m *testing.M) {
	if os.Getenv(other) != "" {
		os.Exit(m.Run())
	}
	e2e.Main(m, "linux.uml:user-mode-linux", "lvm:lvm2", "thin_check:thin-provisioning-tools", "mke2fs:e2fsprogs", "mkfs.xfs:xfsprogs",
		"mkfs.btrfs:btrfs-progs", "rsync:rsync", "modprobe:kmod", "shellcheck:shellcheck")
}

func TestSnapshot(t *testing.T) {
	if svc := os.Getenv(other); svc != "" {
		moves(t, svc)
		return
	}
	is := is.New(t)
	w := e2e.New(t)
	log := otherKernel(t, w)
	t.Log(log)
	is.True(strings.HasSuffix(strings.TrimSpace(log), "PASS"))
	c := exec.Command("bash", "-c", "shellcheck -x snapshot.sh snapshots/*.sh") // here: the other kernel is slow
	c.Dir = w.Path("plan")
	w.Do(0, c)
}

const initScript = `#!/bin/bash
export PATH=%q XDG_CACHE_HOME=%q %s=%q SVC_E2E_PLAN=%q TMPDIR=/run DM_DISABLE_UDEV=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
cd %q
%q -test.v -test.run '^TestSnapshot$' >%q 2>&1
echo o >/proc/sysrq-trigger
sleep 60
`

// otherKernel makes the disks and starts the kernel, whose first process runs this test.
func otherKernel(t *testing.T, w *e2e.Work) (log string) {
	is := is.New(t)
	self, err := os.Executable()
	is.NoErr(err)
	here, err := os.Getwd()
	is.NoErr(err)
	w.Files(w.Dir, map[string]string{
		"volumes": "", "btrfs": "", "log": "",
		"init": fmt.Sprintf(initScript, os.Getenv("PATH"), filepath.Dir(e2e.Cache()), other, w.Command().Path, w.Path("plan"), here, self, w.Path("log")),
	})
	is.NoErr(os.Truncate(w.Path("volumes"), 1500<<20))
	is.NoErr(os.Truncate(w.Path("btrfs"), 200<<20))
	is.NoErr(os.Chmod(w.Path("init"), 0o755))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	kernel, err := exec.CommandContext(ctx, "linux.uml", "mem=512M", "rootfstype=hostfs", "rootflags=/", "rw", "init="+w.Path("init"),
		"ubda="+w.Path("volumes"), "ubdb="+w.Path("btrfs"), "con=null", "con0=null,fd:1", "quiet").CombinedOutput()
	text, readErr := os.ReadFile(w.Path("log"))
	is.NoErr(readErr)
	if bytes.Contains(kernel, []byte("ptrace set fp regs failed")) {
		t.Skip("NOT TESTED: this user-mode Linux knows fewer registers than the processor has")
	}
	if len(text) == 0 {
		t.Fatalf("the kernel did not come so far: %v\n%s", err, kernel)
	}
	return string(text)
}

// machine is a Debian 12 with a file system of each kind, a target, and the plan of the
// move of its data.
type machine struct {
	*e2e.Work
	source, target, plan string
}

// dir is a folder whose name shells and programs stumble over.
const dir = "it's\n-r"

// moves is the test in the other kernel.
func moves(t *testing.T, svc string) {
	m := newMachine(t)
	t.Run("a plan is made", func(t *testing.T) {
		m.In(t).Run(0, svc, "data", "plan", "--root", m.source, "--target", "debian-13", "--out", m.plan, "--confirm")
	})
	t.Run("nothing is copied before the check", func(t *testing.T) { m.step(t, 1, "snapshots/01-ubdb.sh", "move") })
	t.Run("the check passes", func(t *testing.T) { m.step(t, 0, "10-check.sh") })
	for _, volume := range [][2]string{{"btrfs", "01-ubdb.sh"}, {"thick", "02-thick.sh"}, {"thin", "03-thin.sh"}, {"xfs", "04-xfs.sh"}} {
		t.Run(volume[0], func(t *testing.T) { m.moved(t, volume[0], "snapshots/"+volume[1]) })
	}
	t.Run("where it fails, no snapshot stays", m.failsClean)
	t.Run("what more than its room is written over is refused", m.overflows)
	t.Run("a snapshot that a broken line left is taken away", func(t *testing.T) {
		m.In(t).Run(0, "lvcreate", "-y", "-s", "-l", "2", "-n", "svc-move-thick", "vg/thick")
		m.step(t, 0, "snapshots/02-thick.sh", "remove")
		is.New(t).Equal(m.left(t), nil)
	})
	t.Run("quiet, the source is counted", func(t *testing.T) { m.step(t, 0, "30-before.sh") })
	t.Run("the rest is copied", func(t *testing.T) { m.step(t, 0, "40-copy.sh") })
	t.Run("the target is what the source is", func(t *testing.T) { m.step(t, 0, "50-after.sh") })
	t.Run("it rolls back to nothing", func(t *testing.T) {
		is := is.New(t)
		m.step(t, 0, "90-roll-back.sh")
		stays, err := filepath.Glob(m.target + "/*")
		is.NoErr(err)
		is.Equal(stays, []string{m.target + "/etc", m.target + "/var"})
	})
}

// step runs a script of the plan.
func (m machine) step(t *testing.T, code int, script string, args ...string) e2e.Said {
	t.Helper()
	c := exec.Command("bash", append([]string{filepath.Join(m.plan, script)}, args...)...)
	c.Env = append(os.Environ(), "SOURCE_ROOT="+m.source, "TARGET_ROOT="+m.target)
	return m.In(t).Do(code, c)
}

// moved copies a file system from a snapshot, while it is written to.
func (m machine) moved(t *testing.T, name, script string) {
	is := is.New(t)
	stop := m.numbers(t, filepath.Join(m.source, name, dir))
	said := m.step(t, 0, script, "move")
	stop()
	said.Has("as they were at the snapshot")
	copied := filepath.Join(m.target, name, dir)
	a, z := number(t, copied+"/a"), number(t, copied+"/z")
	is.True(a == z || a == z+1) // one moment
	files, err := os.ReadDir(copied + "/middle")
	is.NoErr(err)
	is.Equal(len(files), 100) // all of it is there
	is.Equal(m.left(t), nil)
}

// numbers writes a number into two files, one after the other, again and again.
func (m machine) numbers(t *testing.T, folder string) (stop func()) {
	begun := make(chan struct{})
	n := 0
	stop = repeat(t, func() error {
		n++
		for _, name := range []string{"a", "z"} {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path+".new", []byte(strconv.Itoa(n)), 0o644); err != nil {
				return err
			}
			if err := os.Rename(path+".new", path); err != nil {
				return err
			}
		}
		if n == 1 {
			close(begun)
		}
		time.Sleep(100 * time.Millisecond)
		return nil
	})
	<-begun
	return stop
}

// repeat does something in the background until it is stopped.
func repeat(t *testing.T, do func() error) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil && ctx.Err() == nil {
			err = do()
		}
		ended <- err
	}()
	return func() {
		cancel()
		is.New(t).NoErr(<-ended)
	}
}

func number(t *testing.T, file string) int {
	is := is.New(t)
	text, err := os.ReadFile(file)
	is.NoErr(err)
	n, err := strconv.Atoi(string(text))
	is.NoErr(err)
	return n
}

// left is what there is of snapshots.
func (m machine) left(t *testing.T) (lines []string) {
	w := m.In(t)
	mounts, err := os.ReadFile("/proc/mounts")
	is.New(t).NoErr(err)
	all := w.Run(0, "lvs", "--noheadings", "-o", "lv_name", "vg").Out + w.Run(0, "btrfs", "subvolume", "list", m.source+"/btrfs").Out + string(mounts)
	for line := range strings.Lines(all) {
		if strings.Contains(line, "svc-move") {
			lines = append(lines, line)
		}
	}
	return lines
}

// failsClean has a file be where a folder is to be copied to.
func (m machine) failsClean(t *testing.T) {
	is := is.New(t)
	at := m.target + "/thick"
	is.NoErr(os.RemoveAll(at))
	is.NoErr(os.WriteFile(at, nil, 0o644))
	said := m.step(t, 1, "snapshots/02-thick.sh", "move")
	said.Has("File exists")
	is.True(!strings.Contains(said.Out+said.Err, "More was written")) // but nothing else
	is.True(!strings.Contains(said.Out+said.Err, "is left"))
	is.Equal(m.left(t), nil)
	is.NoErr(os.Remove(at))
}

// overflows leaves a snapshot little room, and writes more than that meanwhile.
func (m machine) overflows(t *testing.T) {
	is := is.New(t)
	w := m.In(t)
	free, err := strconv.Atoi(w.Run(0, "lvs", "--noheadings", "-o", "vg_free_count", "vg/thick").Line())
	is.NoErr(err)
	w.Run(0, "lvcreate", "-y", "-l", strconv.Itoa(free-2), "-n", "full", "vg")
	big := filepath.Join(m.source, "thick", dir, "big")
	write := func() error {
		return exec.Command("dd", "if=/dev/urandom", "of="+big, "bs=1M", "count=40", "conv=notrunc,fsync").Run()
	}
	is.NoErr(write())
	stop := repeat(t, write)
	said := m.step(t, 1, "snapshots/02-thick.sh", "move")
	stop()
	said.Has("More was written to the source")
	is.Equal(m.left(t), nil)
	w.Run(0, "lvremove", "-y", "vg/full")
}
