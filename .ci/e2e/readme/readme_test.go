// Package readme_test runs what README has a person type, as it stands, from a fresh clone
// and with a home of its own.
package readme_test

import (
	"bytes"
	"context"
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
)

// said is what README has svc print, of which a line is compared.
var said = regexp.MustCompile(`(differences|nothing changed|could not be read|each accounted for|places move, .*)$`)

// TestReadme types each line that begins with "$ " in a block of the console, in their
// order, in one shell. Each must succeed, and print what README says below.
func TestReadme(t *testing.T) {
	is := is.New(t)
	readme, err := os.ReadFile("../../../README.md")
	is.NoErr(err)
	var typed []string
	for _, line := range blocks(string(readme), "console") {
		if command, ok := strings.CutPrefix(line, "$ "); ok && command != "go test ./..." {
			typed = append(typed, command)
		}
	}
	is.True(len(typed) > 0)
	printed := slices.DeleteFunc(blocks(string(readme), ""), func(line string) bool { return !said.MatchString(line) })
	is.True(len(printed) > 0)
	out := strings.Split(run(t, typed), "\n")
	for _, line := range printed {
		if !slices.Contains(out, line) {
			t.Errorf("README has svc print this, and it did not: %s", line)
		}
	}
	t.Logf("%d lines run as they stand, and print the %d that are compared", len(typed), len(printed))
}

// blocks are the lines of all blocks of a kind.
func blocks(text, kind string) (lines []string) {
	within, open := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if begins, fence := strings.CutPrefix(line, "```"); fence {
			within, open = begins, !open
		} else if open && within == kind {
			lines = append(lines, line)
		}
	}
	return lines
}

// run types lines in a fresh clone, and gives what they print. Go's caches are those of
// who tests: a module that is there is not fetched again.
func run(t *testing.T, typed []string) string {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(exec.Command("git", "clone", "-q", "../../..", filepath.Join(dir, "svc")).Run())
	is.NoErr(os.Mkdir(filepath.Join(dir, "home"), 0o755))
	caches, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	is.NoErr(err)
	modules, built, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")

	script := "set -e; trap 'kill $(jobs -p) 2>/dev/null' EXIT\n" + strings.Join(typed, "\n") + "\n"
	is.NoErr(os.WriteFile(filepath.Join(dir, "typed.sh"), []byte(script), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-v", "../typed.sh")
	c.Dir, c.SysProcAttr, c.WaitDelay = filepath.Join(dir, "svc"), &syscall.SysProcAttr{Setpgid: true}, time.Second
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // with what the lines have started
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "SVC_") }),
		"HOME="+filepath.Join(dir, "home"), "GOMODCACHE="+modules, "GOCACHE="+built, "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(dir, "no-bus"))
	var out, progress bytes.Buffer
	c.Stdout, c.Stderr = &out, &progress
	if err := c.Run(); err != nil {
		t.Fatalf("README does not run as it stands: %v\n%s\n%s", err, tail(out.String()), tail(progress.String()))
	}
	return out.String()
}

// tail is the end of a text, for a person.
func tail(text string) string { return text[max(0, len(text)-2000):] }
