package ssh_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/cmd/svc/exit"
)

var (
	all  = flag.Bool("all", false, "have the machine's shell lie in every way")
	lies = flag.String("lies", "", "be the shell of the machine in this folder, which lies as its file way says")
)

// TestHostile reads a machine whose shell floods, lies about sizes and names, writes to
// the terminal, closes midway. Each time svc ends soon, in bounded memory, with an error or
// with what a terminal can show.
func TestHostile(t *testing.T) {
	w := e2e.New(t)
	box(w)
	self, err := os.Executable()
	is.New(t).NoErr(err)
	w.Serve("ForceCommand " + self + " -lies " + w.Dir)
	for _, way := range ways {
		if way.slow && !*all {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			w.Files(w.Dir, map[string]string{"way": way.name})
			code := bounded(t, w.Command("assess", "--ssh", "source"), 160<<20)
			is.New(t).True(code == exit.Done || way.name != "honest")
		})
	}
}

// raw is what a terminal obeys or turns round.
var raw = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{202a}-\x{202e}]`)

// bounded runs svc, which ends soon, with what may be shown, and took no more memory.
func bounded(t *testing.T, c *exec.Cmd, memory int64) (code int) {
	t.Helper()
	var out, said bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &out, &said, time.Second
	began := time.Now()
	is.New(t).NoErr(c.Start())
	stop := time.AfterFunc(150*time.Second, func() { _ = c.Process.Kill() })
	defer stop.Stop()
	_ = c.Wait() // its exit code is looked at
	code = c.ProcessState.ExitCode()
	peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	t.Logf("exit %d, %v, %.1f MB, %d bytes", code, time.Since(began).Round(100*time.Millisecond), float64(peak)/(1<<20), out.Len())
	panicked := bytes.Contains(said.Bytes(), []byte("panic")) || bytes.Contains(said.Bytes(), []byte("goroutine"))
	if !slices.Contains([]int{exit.Done, exit.Failed, exit.Differ}, code) || panicked || peak > memory || raw.Match(out.Bytes()) || raw.Match(said.Bytes()) {
		t.Errorf("%q", said.Bytes()[max(0, said.Len()-600):])
	}
	return code
}

// ways are those in which the machine's shell lies; root is the machine.
var ways = []struct {
	name string
	slow bool // or it is of a sort that another one stands for
	lie  func(root string)
}{
	{name: "honest", lie: changed(func(b []byte) []byte { return b })},
	{name: "flood", lie: func(string) { endless(os.Stdout, "A", 0) }},
	{name: "escapes", lie: func(string) {
		os.Stderr.WriteString("\x1b]0;owned\a\x1b[2J\u202eowned\u009b31m\r\n")
		os.Exit(7)
	}},
	{name: "names", lie: replaced(`(/etc/)(hostname|fstab|hosts)//`, "${1}../../../../${2}//")},
	{name: "sizes", lie: replaced(size, "${1}9223372036854775807")},
	{name: "midway", lie: midway(func(b []byte) { os.Stdout.Write(b[:min(len(b), 100)]) })},
	{name: "endless", lie: midway(func([]byte) { endless(os.Stdout, "\n0000 0\n", 0) })},
	{name: "silent", slow: true, lie: func(string) { time.Sleep(10 * time.Minute) }},
	{name: "errors", slow: true, lie: func(string) { endless(os.Stderr, "\x1b]0;owned\a\x1b[2J\u009b31m", 0) }},
	{name: "drip", slow: true, lie: func(string) { endless(os.Stdout, ".", time.Second) }},
	{name: "slash", slow: true, lie: replaced(`/hostname//`, "/a/../../host\x00name//")},
	{name: "short", slow: true, lie: replaced(size, "${1}1")},
	{name: "negative", slow: true, lie: replaced(size, "${1}-5")},
	{name: "types", slow: true, lie: replaced(`(?m)^81a4\|`, "41ed|")},
	{name: "noise", slow: true, lie: changed(func(b []byte) []byte {
		for i, c := range b {
			b[i] ^= byte((int(c)*31 + i) & 1)
		}
		return b
	})},
	{name: "escaped", slow: true, lie: replaced(`web1`, "\x1b[2J\a\u202e\u009bx")},
}

// size is where what stat says of a file has its size.
const size = `(?m)^(81a4\|\d+\|\d+\|)\d+`

// lie is the shell of the machine in a folder. Where no way is asked for yet, it only ends.
func lie(folder string) {
	name, _ := os.ReadFile(filepath.Join(folder, "way"))
	for _, way := range ways {
		if way.name == string(name) {
			way.lie(filepath.Join(folder, "box"))
		}
	}
}

// endless writes a text again and again, with a pause or in large pieces.
func endless(to io.Writer, text string, pause time.Duration) {
	if pause == 0 {
		text = strings.Repeat(text, 4096)
	}
	for ; ; time.Sleep(pause) {
		if _, err := io.WriteString(to, text); err != nil {
			os.Exit(1)
		}
	}
}

// changed has something change all that the machine's shell says.
func changed(change func([]byte) []byte) func(root string) {
	return func(root string) {
		shell := exec.Command("chroot", root, "/bin/busybox", "sh")
		shell.Stdin = os.Stdin
		said, err := shell.StdoutPipe()
		if err != nil || shell.Start() != nil {
			os.Exit(1)
		}
		for b := make([]byte, 1<<16); ; {
			n, err := said.Read(b)
			os.Stdout.Write(change(b[:n]))
			if err != nil {
				return
			}
		}
	}
}

func replaced(pattern, by string) func(root string) {
	search := regexp.MustCompile(pattern)
	return changed(func(b []byte) []byte { return search.ReplaceAll(b, []byte(by)) })
}

// midway is honest for a while, and then does something else.
func midway(then func([]byte)) func(root string) {
	sent := 0
	return changed(func(b []byte) []byte {
		if sent += len(b); sent > 20_000 {
			then(b)
			os.Exit(0)
		}
		return b
	})
}
