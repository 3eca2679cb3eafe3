package writecap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/tools/guide"
)

// TestMain is also the process that TestManyProcesses starts: it takes until
// it is refused and prints how often it got one.
func TestMain(m *testing.M) {
	file := os.Getenv("SVC_TEST_WRITECAP")
	if file == "" {
		os.Exit(m.Run())
	}
	n := 0
	for range 5 {
		if (Cap{File: file}).Take(context.Background()) == nil {
			n++
		}
	}
	fmt.Print(n)
}

func TestTenAMinute(t *testing.T) {
	is := is.New(t)
	now := Reading{Wall: time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC), Up: time.Hour, Boot: "a"}
	c := Cap{File: filepath.Join(t.TempDir(), "new", "writes"), Now: func() (Reading, error) { return now, nil }}
	for range 10 {
		is.NoErr(c.Take(t.Context()))
		now.Up += time.Second
	}
	var full *Full
	is.True(errors.As(c.Take(t.Context()), &full))
	is.Equal(full.Wait, 50*time.Second) // when the first is a minute old
	is.True(strings.Contains(full.Error(), "10 were filed: the next may go in 50s, at 12:00:50 UTC"))
	now.Up += 50 * time.Second
	is.NoErr(c.Take(t.Context()))
}

// TestAnyClocks checks against a model that knows the true time: neither clocks
// that are set nor machines that start anew let anybody file more.
func TestAnyClocks(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		truth, booted, wrong, boot := time.Duration(0), time.Duration(0), time.Duration(0), 0
		c := Cap{File: filepath.Join(dir, strconv.Itoa(run)), Now: func() (Reading, error) {
			return Reading{time.Unix(1e9, 0).Add(truth + wrong), truth - booted, strconv.Itoa(boot)}, nil
		}}
		starts := rapid.Bool().Draw(t, "starts")
		var made []time.Duration
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			truth += time.Duration(rapid.Int64Range(0, int64(15*time.Second)).Draw(t, "passes"))
			if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
				if starts { // then the clock is right
					boot, booted = boot+1, truth
				} else {
					wrong = time.Duration(rapid.Int64Range(int64(-1000*time.Hour), int64(1000*time.Hour)).Draw(t, "wrong"))
				}
			}
			if c.Take(t.Context()) == nil {
				made = append(made, truth)
			}
			check(t, made, truth)
		}
	})
}

func check(t *rapid.T, made []time.Duration, now time.Duration) {
	for _, l := range limits {
		n := 0
		for _, at := range made {
			if now-at < l.window {
				n++
			}
		}
		if n > l.most {
			t.Fatalf("%d in a %s", n, l.name)
		}
	}
}

// TestAWrongClockEnds: writes counted while the clock was years ahead don't
// stay for years.
func TestAWrongClockEnds(t *testing.T) {
	is := is.New(t)
	now := Reading{Wall: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC), Up: time.Minute, Boot: "a"}
	c := Cap{File: filepath.Join(t.TempDir(), "writes"), Now: func() (Reading, error) { return now, nil }}
	for range 10 {
		is.NoErr(c.Take(t.Context()))
	}
	now = Reading{Wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Up: time.Second, Boot: "b"}
	is.True(c.Take(t.Context()) != nil)
	now.Up = time.Minute
	is.NoErr(c.Take(t.Context()))
}

func TestADamagedCountRefuses(t *testing.T) {
	is := is.New(t)
	c := Cap{File: filepath.Join(t.TempDir(), "writes")}
	is.NoErr(os.WriteFile(c.File, []byte("{"), 0o600))
	err := c.Take(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "remove it"))
}

// TestManyProcesses has real processes take at once.
func TestManyProcesses(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "writes")
	var running []*exec.Cmd
	var outs []*strings.Builder
	for range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SVC_TEST_WRITECAP="+file)
		out := &strings.Builder{}
		cmd.Stdout = out
		is.NoErr(cmd.Start())
		running, outs = append(running, cmd), append(outs, out)
	}
	total := 0
	for i, cmd := range running {
		is.NoErr(cmd.Wait())
		n, err := strconv.Atoi(outs[i].String())
		is.NoErr(err)
		total += n
	}
	is.Equal(total, 10)
}

func TestAHeldCountIsNotWaitedForEver(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "writes")
	unlock, err := lock(t.Context(), file)
	is.NoErr(err)
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	is.True(errors.Is(Cap{File: file}.Take(ctx), context.DeadlineExceeded))
}

// TestTheGuideHasTheCap holds what the guide says against the limits.
func TestTheGuideHasTheCap(t *testing.T) {
	is := is.New(t)
	p, ok := guide.Find("write-cap")
	is.True(ok)
	is.True(strings.Contains(p.Text, fmt.Sprintf("file %d findings and questions a %s and %d a rolling %s", limits[0].most, limits[0].name, limits[1].most, limits[1].name)))
}
