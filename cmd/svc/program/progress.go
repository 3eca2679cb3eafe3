package program

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"svc/backend/client"
	"svc/backend/visible"
)

// Patience is how long a person waits before being shown what is done. Tests that
// compare what is printed wait longer.
var Patience = time.Second

// How often a line of progress is drawn again on a terminal, and where there is none
// printed, at most.
const (
	redrawn = 100 * time.Millisecond
	printed = 10 * time.Second
	again   = 5 * time.Second // within which a call that waited for the rate limit is likely to wait again
)

// NewDrawing shows the progress of what takes longer than patience: on one line of a
// terminal, which is gone when the work is done, or else in lines that stay.
func NewDrawing(stderr io.Writer) *drawing {
	return &drawing{out: stderr, width: func() int { return TerminalWidth(stderr) }}
}

// drawing shows the step last reported. It begins after the first report, whether or
// not there was another one.
type drawing struct {
	mu          sync.Mutex
	out         io.Writer
	width       func() int  // of the terminal, which may change; 0 where there is none
	late        *time.Timer // calls begin
	begun       bool
	what        string
	done, total int
	waits       bool      // for the service's rate limit
	waited      time.Time // when it last began to
	shown       string    // the step on the screen; "" while there is none
	at          time.Time // when it was last drawn
}

// Report takes what is being done, and how far it is. A total below zero is one
// that is not known: what is done is counted.
func (d *drawing) Report(what string, done, total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.what, d.done, d.total = what, done, total
	d.soon()
}

// of has a client tell when it waits for the rate limit, where there is a drawing.
func (d *drawing) of(c *client.Client, err error) (*client.Client, error) {
	if err == nil && d != nil {
		c.OnLimit(d.Limited)
	}
	return c, err
}

// Limited takes whether the service's rate limit is waited for.
func (d *drawing) Limited(waits bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waits = waits; waits {
		d.waited = time.Now()
	}
	d.soon()
}

// soon draws what is new, once that has begun; the caller holds the lock.
func (d *drawing) soon() {
	if d.late == nil {
		d.late = time.AfterFunc(Patience, d.Begin)
	}
	if d.begun {
		d.draw()
	}
}

// Begin draws from now on.
func (d *drawing) Begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = true
	d.draw()
}

// draw shows the step last reported, unless that is over.
func (d *drawing) draw() {
	width, text, count := d.width(), d.what, d.count()
	switch over := d.total >= 0 && d.done >= d.total; {
	case over && !d.waits:
		d.clear()
		return
	case over:
		text, count = waiting, " …"
	case time.Since(d.waited) < again:
		text = waiting + "; " + text
	}
	pause := redrawn
	if width == 0 {
		pause = printed
	}
	if time.Since(d.at) < pause && (d.shown == text || width == 0) {
		return
	}
	d.shown, d.at = text, time.Now()
	if width == 0 {
		fmt.Fprintf(d.out, "svc: %s%s\n", visible.Text(text), count)
		return
	}
	fmt.Fprint(d.out, "\r\x1b[K", shorten(visible.Text(text), width-1-utf8.RuneCountInString(count)), count)
}

// waiting is said where the rate limit makes a step last.
const waiting = "it waits for the service's rate limit"

// count says how far a step is, where that can be told.
func (d *drawing) count() string {
	switch {
	case d.total < 0:
		return fmt.Sprintf("  %d", d.done)
	case d.total > 1:
		return fmt.Sprintf("  %d of %d", d.done, d.total)
	}
	return " …"
}

// shorten cuts a text that is longer than n characters, and says so.
func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:max(n-1, 0)]) + "…"
}

// clear takes the line off the terminal: what is printed next stands in its place.
func (d *drawing) clear() {
	if d.shown != "" && d.width() > 0 {
		fmt.Fprint(d.out, "\r\x1b[K")
	}
	d.shown = ""
}

// pause takes the line away until the next report.
func (d *drawing) pause() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
}

// Close takes away what is left, such as that of a step that failed.
func (d *drawing) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.late != nil {
		d.late.Stop()
	}
	d.clear()
	d.begun = false
}
