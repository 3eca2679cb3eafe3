package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"svc/cmd/svc/exit"
	"svc/cmd/svc/help"
	"svc/cmd/svc/program"
)

// terminal is a pseudo-terminal of so many columns; its text is what it was sent.
func terminal(t *testing.T, columns uint16) (tty *os.File, text func() string) {
	t.Helper()
	is := is.New(t)
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	is.NoErr(unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	is.NoErr(err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	is.NoErr(unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	var got bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&got, main) // ends with an error when the other side is closed
	}()
	t.Cleanup(func() { main.Close() })
	return tty, func() string {
		tty.Close()
		<-read
		return strings.ReplaceAll(got.String(), "\r\n", "\n")
	}
}

// onTerminal runs svc with both streams on a terminal.
func onTerminal(t *testing.T, columns uint16, env map[string]string, args ...string) (int, string) {
	t.Helper()
	tty, text := terminal(t, columns)
	home := t.TempDir()
	lookup := func(name string) string {
		if name == "HOME" {
			return home
		}
		return env[name]
	}
	code := run(t.Context(), args, lookup, strings.NewReader(""), tty, tty)
	return code, text()
}

const fixture = "../../fixtures/hosts/debian-11-web"

func TestResultsFitTheTerminal(t *testing.T) {
	for _, columns := range []uint16{40, 80} {
		_, text := onTerminal(t, columns, map[string]string{"NO_COLOR": "1"}, "assess", "--root", fixture)
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if utf8.RuneCountInString(line) > int(columns) && len(strings.Fields(line)) > 2 {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
	}
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	is := is.New(t)
	_, text := onTerminal(t, 100, nil, "assess", "--root", fixture)
	is.True(strings.Contains(text, "\x1b[31mhigh\x1b[0m"))
	is.True(strings.Contains(text, "\x1b[1mFindings\x1b[0m"))
	for _, env := range []map[string]string{{"NO_COLOR": "1"}, {"TERM": "dumb"}} {
		_, text = onTerminal(t, 100, env, "assess", "--root", fixture)
		is.True(!strings.Contains(text, "\x1b["))
	}
	_, text = onTerminal(t, 100, nil, "assess")
	is.True(strings.HasPrefix(text, "\x1b[1;31msvc:\x1b[0m ")) // of errors too
	var plain bytes.Buffer
	run(t.Context(), []string{"assess", "--root", fixture}, func(string) string { return "" }, strings.NewReader(""), &plain, io.Discard)
	is.True(plain.Len() > 0 && !bytes.Contains(plain.Bytes(), []byte("\x1b[")))
}

func TestProgressIsOneLineOfTheTerminal(t *testing.T) {
	is := is.New(t)
	tty, text := terminal(t, 40)
	d := program.NewDrawing(tty)
	d.Report("a step whose name is longer than the line of a narrow terminal", 3, 12)
	d.Begin()
	d.Close()
	tty.WriteString("the result\n")
	got := text()
	is.True(strings.HasSuffix(got, "\r\x1b[Kthe result\n"))
	line, _, _ := strings.Cut(strings.TrimPrefix(got, "\r\x1b[K"), "\r")
	is.True(strings.HasSuffix(line, "…  3 of 12"))
	is.True(utf8.RuneCountInString(line) < 40)
}

func TestProgressIsLinesWhereThereIsNoTerminal(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	d := program.NewDrawing(&out)
	d.Report("reading", 0, 2)
	is.Equal(out.String(), "") // not before a second has passed
	d.Begin()
	d.Report("reading", 1, 2)
	d.Report("counting", 7, -1) // soon after: a log is not flooded
	d.Close()
	is.Equal(out.String(), "svc: reading  0 of 2\n")
}

func TestProgressSaysThatItWaits(t *testing.T) {
	is := is.New(t)
	tty, text := terminal(t, 100)
	d := program.NewDrawing(tty)
	d.Report("machines done", 3, 12)
	d.Begin()
	d.Limited(true)
	d.Limited(false)
	d.Report("machines done", 12, 12) // is over, but a call goes on
	d.Limited(true)
	d.Limited(false)
	d.Close()
	is.Equal(strings.Split(strings.TrimPrefix(text(), "\r\x1b[K"), "\r\x1b[K"), []string{
		"machines done  3 of 12", "it waits for the service's rate limit; machines done  3 of 12", "", "it waits for the service's rate limit …", "",
	})
}

func TestQuietShowsNoProgress(t *testing.T) {
	is := is.New(t)
	p := testProgram()
	p.Settings.Quiet = true
	is.True(p.ToolEnv().Progress == nil)
}

// TestAnInterruptedCallSaysWhatIsLeft has svc interrupted as Ctrl-C does, and looks
// at what each command says then.
func TestAnInterruptedCallSaysWhatIsLeft(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"assess", "--root", fixture}, help.LeftNothing},
		{[]string{"migrate", "--root", fixture, "--target", "debian-13", "--out", t.TempDir(), "--confirm"}, help.Pages()["svc migrate"].Left},
		{[]string{"readiness", "--roots", filepath.Dir(fixture), "--target", "debian-13"}, help.Pages()["svc readiness"].Left},
	} {
		var stderr bytes.Buffer
		ctx, interrupt := context.WithCancelCause(t.Context())
		interrupt(fmt.Errorf("somebody stopped it: %w", context.Canceled))
		home := t.TempDir()
		code := run(ctx, c.args, func(name string) string { return map[string]string{"HOME": home}[name] }, strings.NewReader(""), io.Discard, &stderr)
		is.Equal(code, exit.Interrupted)
		is.True(strings.HasPrefix(stderr.String(), "svc: interrupted"))
		is.True(strings.HasSuffix(stderr.String(), c.says+"\n"))
		is.True(!strings.Contains(stderr.String(), "context canceled"))
		is.True(!strings.Contains(stderr.String(), "somebody stopped it"))
	}
}

func TestWrappedLinesHaveAllWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`( {1,4}[a-zä→]{1,24}){0,20}`).Draw(t, "line")
		width := rapid.IntRange(help.MinWidth, 120).Draw(t, "width")
		lines := program.Hang(line, width)
		if got, want := strings.Fields(strings.Join(lines, " ")), strings.Fields(line); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q became %q", line, lines)
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > width {
				t.Fatalf("%q is longer than %d", l, width)
			}
		}
	})
}
