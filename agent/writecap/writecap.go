// Package writecap bounds how many words agents file: 10 in a minute and 50 in
// a rolling day, counted for the OS user over all processes and restarts.
package writecap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"svc/backend/osfile"
	"svc/backend/sliced"
)

// limit is how many writes a rolling window has room for.
type limit struct {
	most   int
	window time.Duration
	name   string
}

// limits go from the shortest window to the longest.
var limits = []limit{{10, time.Minute, "minute"}, {50, 24 * time.Hour, "day"}}

// lockPatience is how long another process may hold the count.
const lockPatience = 5 * time.Second

// maxState bounds the file of the count, in bytes.
const maxState = 1 << 20

// Full is a write that must wait. It was not made.
type Full struct {
	Used, Most int
	Window     string
	Wait       time.Duration // until the next write may go
	At         time.Time     // that moment by the clock of now
}

func (e *Full) Error() string {
	return fmt.Sprintf("agents may file %d findings and questions a %s, and %d were filed: the next may go in %s, at %s; nothing was sent",
		e.Most, e.Window, e.Used, e.Wait.Round(time.Second), e.At.UTC().Format("15:04:05 UTC on 2006-01-02"))
}

// Cap counts in one file. Every process of the user makes one over the same
// file.
type Cap struct {
	File string
	// Now reads the clocks; Clock where nil.
	Now func() (Reading, error)
}

// Reading is a moment by the machine's clocks.
type Reading struct {
	Wall time.Time `json:"wall"`
	// Up is the time since the machine started, sleep included: nobody can
	// change it. Boot says which start that was.
	Up   time.Duration `json:"up"`
	Boot string        `json:"boot"`
}

// age is how long before now the reading was made. Within one run of the
// machine the changeable clock is not asked. Across a restart there is no other;
// a reading of an earlier run is at least as old as this run, so that no wrong
// clock locks anybody out for long.
func (r Reading) age(now Reading) time.Duration {
	if r.Boot == now.Boot && r.Boot != "" {
		return now.Up - r.Up
	}
	return max(now.Up, now.Wall.Sub(r.Wall))
}

// Take counts one write, or says by *Full when the next may go. The write
// itself follows: a crash between the two costs one of the day's.
func (c Cap) Take(ctx context.Context) error {
	unlock, err := lock(ctx, c.File)
	if err != nil {
		return fmt.Errorf("counting writes: %w; nothing was sent", err)
	}
	defer unlock()
	clock := c.Now
	if clock == nil {
		clock = Clock
	}
	now, err := clock()
	if err != nil {
		return fmt.Errorf("counting writes: %w; nothing was sent", err)
	}
	made, err := c.load()
	if err != nil {
		return fmt.Errorf("counting writes: %w; nothing was sent", err)
	}
	made = recent(made, now)
	if full := refusal(made, now); full != nil {
		return full
	}
	if err := c.save(append(made, now)); err != nil {
		return fmt.Errorf("counting writes: %w; nothing was sent", err)
	}
	return nil
}

// recent are the writes that still count: those of the longest window.
func recent(made []Reading, now Reading) []Reading {
	return append([]Reading{}, sliced.Filter(made, func(r Reading) bool { return r.age(now) < limits[len(limits)-1].window })...)
}

// refusal is why a write must wait, for the longest of the waits; nil where it
// may go.
func refusal(made []Reading, now Reading) *Full {
	var full *Full
	for _, l := range limits {
		used, oldest := 0, time.Duration(0)
		for _, r := range made {
			if age := r.age(now); age < l.window {
				used++
				oldest = max(oldest, age)
			}
		}
		if used < l.most {
			continue
		}
		if wait := l.window - oldest; full == nil || wait > full.Wait {
			full = &Full{used, l.most, l.name, wait, now.Wall.Add(wait)}
		}
	}
	return full
}

func (c Cap) load() (made []Reading, err error) {
	info, err := os.Stat(c.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Size() > maxState:
		return nil, fmt.Errorf("%s is no count of svc's: remove it", c.File)
	}
	b, err := os.ReadFile(c.File)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &made); err != nil {
		return nil, fmt.Errorf("%s is no count of svc's: remove it", c.File)
	}
	return made, nil
}

// save is on the disk, whole, when it returns: a crash loses no count.
func (c Cap) save(made []Reading) error {
	b, err := json.Marshal(made)
	if err != nil {
		return err
	}
	return osfile.Write(c.File, b, 0o600)
}

// lock waits for the user's other processes. The lock is the kernel's, so it
// ends with its holder.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file+".lock", os.O_CREATE|os.O_RDWR|osfile.NoFollow, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		locked, err := osfile.TryLock(f)
		if locked {
			return func() { f.Close() }, nil
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another process holds %s: %w", f.Name(), ctx.Err())
		}
	}
}
