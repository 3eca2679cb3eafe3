package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"svc/backend/visible"
)

// patience is how long a person waits before being shown what is done.
const patience = time.Second

// newDrawing draws bars on a terminal for what takes longer than a second; it is
// nil where stderr is no terminal.
func newDrawing(stderr io.Writer) *drawing {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &drawing{out: f}
}

// drawing is one bar at a time: that of the step last reported. It begins a
// second after the first report, whether or not there was another one.
type drawing struct {
	mu          sync.Mutex
	out         io.Writer
	late        *time.Timer // calls begin
	begun       bool
	what        string
	done, total int
	bars        *mpb.Progress // nil while there is none
	bar         *mpb.Bar
	drawn       string // what the bar is of
}

// report takes what is being done, and how far it is. A total below zero is one
// that nobody knows: what is done is counted.
func (d *drawing) report(what string, done, total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.what, d.done, d.total = what, done, total
	if d.late == nil {
		d.late = time.AfterFunc(patience, d.begin)
	}
	if d.begun {
		d.draw()
	}
}

func (d *drawing) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = true
	d.draw()
}

// draw shows the step last reported.
func (d *drawing) draw() {
	over := d.total >= 0 && d.done >= d.total
	if over || d.drawn != d.what {
		d.finish()
	}
	if over {
		return
	}
	if d.bars == nil {
		d.drawn, d.bars = d.what, mpb.New(mpb.WithOutput(d.out), mpb.WithWidth(40))
		d.bar = d.newBar(decor.Name(visible.Text(d.what)))
	}
	if d.total >= 0 {
		d.bar.SetTotal(int64(d.total), false)
	}
	d.bar.SetCurrent(int64(d.done))
}

// newBar begins a bar of a total, or a count where there is none.
func (d *drawing) newBar(name decor.Decorator) *mpb.Bar {
	if d.total < 0 {
		return d.bars.New(0, mpb.NopStyle(), mpb.PrependDecorators(name), mpb.AppendDecorators(decor.CurrentNoUnit("%d")))
	}
	return d.bars.AddBar(int64(d.total), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(name), mpb.AppendDecorators(decor.CountersNoUnit("%d of %d")))
}

// finish takes the bar away, for good by when it returns: what is printed then
// stands.
func (d *drawing) finish() {
	if d.bars == nil {
		return
	}
	d.bar.Abort(true)
	d.bars.Wait()
	d.bars = nil
}

// close takes away what is left, such as that of a step that failed.
func (d *drawing) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.late != nil {
		d.late.Stop()
	}
	d.done, d.total = 0, 0
	d.finish()
}
