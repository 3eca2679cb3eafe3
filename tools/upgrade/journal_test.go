package upgrade

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/tools/upgrade/engine"
)

const (
	beginLine   = `{"at":"2026-01-02T03:04:05Z","schema":"svc.db-upgrade/v1","id":"a","engine":"folder","job":{"Directory":"/d"}}` + "\n"
	startedLine = `{"at":"2026-01-02T03:04:05Z","step":"dump","state":"started"}` + "\n"
	doneLine    = `{"at":"2026-01-02T03:04:05Z","step":"dump","state":"done"}` + "\n"
	endLine     = `{"at":"2026-01-02T03:04:05Z","outcome":"upgraded"}` + "\n"
)

func TestJournals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		state      State
		outcome    Outcome
		torn       int // bytes at the end that are not sound
		want       error
	}{
		{"whole", beginLine + startedLine + doneLine + endLine, Done, Upgraded, 0, nil},
		{"cut off", beginLine + startedLine + doneLine[:20], Started, "", 20, nil},
		{"without its end of line", beginLine + startedLine + strings.TrimSuffix(doneLine, "\n"), Started, "", len(doneLine) - 1, nil},
		{"zeros after a power cut", beginLine + startedLine + "\x00\x00\x00", Started, "", 3, nil},
		{"a line of zeros", beginLine + startedLine + "\x00\x00\n\x00", Started, "", 4, nil},
		{"a step after the end", beginLine + endLine + startedLine, Started, "", 0, nil},
		{"empty", "", "", "", 0, ErrNoJournal},
		{"cut off in the first line", beginLine[:30], "", "", 30, ErrNoJournal},
		{"damaged", beginLine + "nothing\n" + doneLine, "", "", len("nothing\n" + doneLine), ErrJournal},
		{"another form", `{"at":"2026-01-02T03:04:05Z","schema":"v9","id":"a","engine":"b"}` + "\n" + doneLine, "", "", 0, ErrJournal},
		{"two beginnings", beginLine + beginLine + doneLine, "", "", len(beginLine + doneLine), ErrJournal},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			so, whole, err := parseJournal([]byte(c.text))
			is.True(errors.Is(err, c.want))
			if c.want == nil {
				is.Equal(so.steps["dump"], c.state)
				is.Equal(so.outcome, c.outcome)
				is.Equal(len(c.text)-whole, c.torn)
			}
		})
	}
}

// FuzzJournal parses anything; what it says is sound is so by itself.
func FuzzJournal(f *testing.F) {
	for _, s := range []string{"", beginLine, beginLine + startedLine + doneLine + endLine, beginLine + startedLine[:9], beginLine + "\x00\n", beginLine + "{}\n" + doneLine} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		so, whole, err := parseJournal(b)
		if err != nil {
			return
		}
		again, rest, err := parseJournal(b[:whole])
		if err != nil || rest != whole || again.outcome != so.outcome || len(again.steps) != len(so.steps) {
			t.Fatalf("of %q, %d bytes are sound, but by themselves they are not: %v", b, whole, err)
		}
	})
}

// TestHowLongClientsWait takes the times from a journal's lines.
func TestHowLongClientsWait(t *testing.T) {
	is := is.New(t)
	steps := []engine.Step{{Name: "try"}, {Name: "close", Cuts: true}, {Name: "copy"}, {Name: "open", Serves: true}}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		states []string // a second after each other
		want   time.Duration
	}{
		{[]string{"try started", "try done"}, 0},
		{[]string{"close started", "close done", "copy started", "copy done", "open started", "open done"}, 5 * time.Second},
		{[]string{"close started", "close done", "copy started", "copy undoing", "copy undone", "close undoing", "close undone"}, 6 * time.Second},
		{[]string{"close started", "close done"}, 0}, // they wait still
	} {
		at := map[string]time.Time{}
		for i, s := range c.states {
			at[s] = begin.Add(time.Duration(i) * time.Second)
		}
		is.Equal(waited(steps, at), c.want)
	}
}

// TestForgedJournalsAreNotRead has journals that root has not written alone.
func TestForgedJournalsAreNotRead(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	name := filepath.Join(dir, journalFile)
	is.NoErr(os.WriteFile(name, []byte(beginLine), 0o600))
	_, _, err := readJournal(dir)
	is.NoErr(err)
	is.NoErr(os.Chmod(name, 0o644))
	_, _, err = readJournal(dir)
	is.True(strings.Contains(err.Error(), "is open to others"))
	is.NoErr(os.Rename(name, filepath.Join(dir, "elsewhere")))
	is.NoErr(os.Symlink("elsewhere", name))
	_, _, err = readJournal(dir)
	is.True(strings.Contains(err.Error(), "is a link"))
	if os.Geteuid() == 0 {
		is.NoErr(errors.Join(os.Remove(name), os.WriteFile(name, []byte(beginLine), 0o600), os.Chown(name, 65534, 65534)))
		_, _, err = readJournal(dir)
		is.True(strings.Contains(err.Error(), "belongs to the account"))
	}
}
