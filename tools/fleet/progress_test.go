package fleet

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestProgressSaysWhatIsLeft(t *testing.T) {
	is := is.New(t)
	p := Progress{Total: 200}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	told := func(want string, wantDone int) func(what string, done, total int) {
		return func(what string, done, total int) {
			t.Helper()
			is.Equal(what, want)
			is.Equal(done, wantDone)
			is.Equal(total, 200)
		}
	}
	told("1 running; machines done", 0)(p.Begins(at))
	told("2 running; machines done", 0)(p.Begins(at))
	told("1 running; machines done", 1)(p.Ends(WasKept, at)) // nothing to go by yet
	told("0 running, about 13 min left; machines done", 2)(p.Ends(WasRead, at.Add(4*time.Second)))
	told("1 running, about 9 min left; machines done", 2)(p.Begins(at.Add(4 * time.Second)))
	told("0 running, 1 failed, about 7 min left; machines done", 3)(p.Ends(HasFailed, at.Add(4*time.Second)))
	for n := 4; n < 200; n++ {
		p.Begins(at)
		p.Ends(WasKept, at)
	}
	p.Begins(at)
	told("0 running, 1 failed; machines done", 200)(p.Ends(WasRead, at.Add(time.Hour)))
}

func TestLasting(t *testing.T) {
	is := is.New(t)
	for want, d := range map[string]time.Duration{"1 s": time.Millisecond, "59 s": 59 * time.Second, "1 min": 80 * time.Second, "99 min": 99 * time.Minute, "2 h": 100 * time.Minute} {
		is.Equal(lasting(d), want)
	}
}
