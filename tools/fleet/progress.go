package fleet

import (
	"fmt"
	"time"
)

// Progress counts the machines of a command that takes many, and guesses how long the
// others take by those that were read. Its methods give what a drawing of progress is
// told: what is being done, how many are done, and of how many. It is not safe for
// concurrent use.
type Progress struct {
	Total int

	began                       time.Time
	running, done, failed, kept int
}

// Begins counts a machine that is begun.
func (p *Progress) Begins(now time.Time) (what string, done, total int) {
	if p.began.IsZero() {
		p.began = now
	}
	p.running++
	return p.told(now)
}

// Ended is how the work on a machine ended.
type Ended int

// What becomes of a machine: it was read; what was kept of it was taken; or it failed.
const (
	WasRead Ended = iota
	WasKept
	HasFailed
)

// Ends counts a machine that was begun, and is done.
func (p *Progress) Ends(how Ended, now time.Time) (what string, done, total int) {
	p.running--
	p.done++
	switch how {
	case WasKept:
		p.kept++
	case HasFailed:
		p.failed++
	}
	return p.told(now)
}

func (p *Progress) told(now time.Time) (what string, done, total int) {
	what = fmt.Sprintf("%d running", p.running)
	if p.failed > 0 {
		what += fmt.Sprintf(", %d failed", p.failed)
	}
	if left := p.left(now); left > 0 {
		what += ", about " + lasting(left) + " left"
	}
	return what + "; machines done", p.done, p.Total
}

// left is how long the others take. Of those that are running, half is taken for done;
// those that were kept took no time.
func (p *Progress) left(now time.Time) time.Duration {
	if p.done == p.kept {
		return 0
	}
	half := float64(p.running) / 2
	return time.Duration(float64(now.Sub(p.began)) / (float64(p.done-p.kept) + half) * (float64(p.Total-p.done) - half))
}

// lasting is how long something lasts, as people say it.
func lasting(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(1, int(d.Seconds())))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Round(time.Hour).Hours()))
}
