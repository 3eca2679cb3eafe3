package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"svc/backend/visible"
)

// print writes a result to stdout: as JSON, or as a person's view.
func (p *program) print(v any, person func(*view)) error {
	p.clearLine()
	if p.settings.json {
		// It goes out while it is made: a machine's document may have many megabytes.
		err := json.MarshalWrite(visible.JSONWriter(p.stdout), v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
		if err == nil {
			_, err = fmt.Fprintln(p.stdout)
		}
		return err
	}
	w := p.view()
	person(w)
	return w.err
}

// clearLine has what is printed next begin a line of its own.
func (p *program) clearLine() {
	if p.drawing != nil {
		p.drawing.pause()
	}
}

// view writes to stdout: as wide as its terminal, and coloured, where it is one.
func (p *program) view() *view {
	p.clearLine()
	return &view{out: p.stdout, width: terminalWidth(p.stdout), colour: p.colours(p.stdout)}
}

// view writes lines for a person and keeps the first error. What comes from a
// machine is shown with its control characters spelt out: a terminal obeys them.
type view struct {
	out    io.Writer
	width  int // that lines are wrapped to; 0 for no wrapping
	colour bool
	err    error
}

func (v *view) line(format string, args ...any) {
	v.emit(visible.Text(fmt.Sprintf(format, args...)), "")
}

// title starts a section.
func (v *view) title(format string, args ...any) {
	v.line("")
	v.emit(visible.Text(fmt.Sprintf(format, args...)), bold)
}

// emit writes a line that is safe to show, in lines that fit.
func (v *view) emit(text, style string) {
	for _, line := range hang(strings.TrimRight(text, " "), v.width) {
		if v.err != nil {
			return
		}
		if v.colour {
			line = painted(line, style)
		}
		_, v.err = fmt.Fprintln(v.out, line)
	}
}

// table writes rows in aligned columns.
func (v *view) table(rows [][]string) {
	if v.err != nil {
		return
	}
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = visible.Text(row[i])
		}
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	v.err = w.Flush()
	for line := range strings.Lines(aligned.String()) {
		v.emit(strings.TrimSuffix(line, "\n"), "")
	}
}

// plural is "1 file" or "2 files".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
