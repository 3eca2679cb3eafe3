package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// patience is how long a step may take before a person is shown its progress.
const patience = time.Second

// newProgress draws bars on a terminal for what takes longer than a second; it
// is nil where stderr is no terminal.
func newProgress(stderr io.Writer) func(what string, done, total int) {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	d := &drawing{out: f, began: time.Now()}
	return d.report
}

// drawing is one bar at a time: that of the step last reported.
type drawing struct {
	mu    sync.Mutex
	out   io.Writer
	began time.Time
	bars  *mpb.Progress
	bar   *mpb.Bar
	what  string
}

func (d *drawing) report(what string, done, total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.began) < patience {
		return
	}
	if d.bars == nil {
		d.bars = mpb.New(mpb.WithOutput(d.out), mpb.WithWidth(40))
	}
	if d.bar == nil || d.what != what {
		d.finish()
		d.what = what
		d.bar = d.bars.AddBar(int64(total), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(printable(what))),
			mpb.AppendDecorators(decor.CountersNoUnit("%d of %d")))
	}
	d.bar.SetTotal(int64(total), false)
	d.bar.SetCurrent(int64(done))
	if done >= total {
		d.finish()
	}
}

// finish takes the bar away.
func (d *drawing) finish() {
	if d.bar == nil {
		return
	}
	d.bar.Abort(true)
	d.bar.Wait()
	d.bar = nil
}
