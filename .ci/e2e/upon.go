package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Memory has the folder in memory until the test ends, for what writes much, and often
// to the disk. A test that is killed leaves no mount there, and no program in a root there.
func (w *Work) Memory(size string) {
	w.t.Helper()
	w.Hold(`mount -t tmpfs -o mode=755,size="$1" tmpfs "$work"`, `leave "$work"`, size)
}

// End kills what runs in a root, and what that has just started.
func (w *Work) End(root string) {
	w.t.Helper()
	w.Call(0, `end_in "$1"`, root)
}

// Upon runs a command that says a certain line, and does something to its process when
// it says the first one. What it says is given whole, with its exit code, which is -1
// where a signal ended it.
func (w *Work) Upon(c *exec.Cmd, line func(string) bool, act func(*os.Process)) (said Said, code int) {
	w.t.Helper()
	// From a pipe of this kind a read waits in the kernel, and nothing of Go is between.
	var pipe [2]int
	w.no(unix.Pipe2(pipe[:], unix.O_CLOEXEC))
	out, in := os.NewFile(uintptr(pipe[0]), "out"), os.NewFile(uintptr(pipe[1]), "in")
	c.Stdout, c.Stderr = in, in
	err := c.Start()
	in.Close()
	w.no(err)
	lines, found := bufio.NewReader(out), false
	var text strings.Builder
	for err == nil && !found {
		var l string
		l, err = lines.ReadString('\n')
		text.WriteString(l)
		found = line(l)
	}
	if found {
		act(c.Process)
	}
	rest := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(lines)
		out.Close()
		rest <- b
	}()
	_ = c.Wait() // its exit code is given
	select {
	case b := <-rest:
		text.Write(b)
	case <-time.After(time.Second): // a program that it has started lives, and may write
	}
	said = Said{Out: text.String(), t: w.t, command: c.String()}
	if !found {
		w.t.Fatalf("%s ended with %d, and did not say that line:\n%s", c, c.ProcessState.ExitCode(), said.end())
	}
	return said, c.ProcessState.ExitCode()
}

// OnOneProcessor has a function and the commands that it starts share a processor. It goes
// to who waits for a line of a command, where that is nicer, the moment it is written.
func (w *Work) OnOneProcessor(do func()) {
	w.t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	w.no(unix.SchedGetaffinity(0, &all))
	first := 0
	for !all.IsSet(first) {
		first++
	}
	one.Set(first)
	w.no(unix.SchedSetaffinity(0, &one))
	defer func() { _ = unix.SchedSetaffinity(0, &all) }() // which it was
	do()
}
