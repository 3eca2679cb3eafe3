package program

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"svc/backend/sliced"
	"svc/backend/visible"
)

// Print writes a result to stdout: as JSON, or as a person's view.
func (p *Program) Print(v any, person func(*View)) error {
	if p.Settings.JSON {
		return p.PrintJSON(v)
	}
	w := p.View()
	person(w)
	return w.Err
}

// PrintJSON writes a result to stdout as JSON, while it is made: a machine's document may
// have many megabytes.
func (p *Program) PrintJSON(v any) error {
	p.ClearLine()
	err := json.MarshalWrite(visible.JSONWriter(p.Stdout), v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err == nil {
		_, err = fmt.Fprintln(p.Stdout)
	}
	return err
}

// Answer prints what a call gave, unless the call failed.
func (p *Program) Answer(v any, err error, person func(*View)) error {
	if err != nil {
		return err
	}
	return p.Print(v, person)
}

// ClearLine has what is printed next begin a line of its own.
func (p *Program) ClearLine() {
	if p.Drawing != nil {
		p.Drawing.pause()
	}
}

// View writes to stdout: as wide as its terminal, and coloured, where it is one.
func (p *Program) View() *View {
	p.ClearLine()
	return &View{out: p.Stdout, width: TerminalWidth(p.Stdout), colour: p.colours(p.Stdout)}
}

// View writes lines for a person and keeps the first error. What comes from a
// machine is shown with its control characters spelt out: a terminal obeys them.
type View struct {
	out    io.Writer
	width  int // that lines are wrapped to; 0 for no wrapping
	colour bool
	Err    error
}

// Line writes a line, in as many as it needs.
func (v *View) Line(format string, args ...any) {
	v.emit(visible.Text(fmt.Sprintf(format, args...)), "")
}

// Title starts a section.
func (v *View) Title(format string, args ...any) {
	v.Line("")
	v.emit(visible.Text(fmt.Sprintf(format, args...)), bold)
}

// emit writes a line that is safe to show, in lines that fit.
func (v *View) emit(text, style string) {
	for _, line := range Hang(strings.TrimRight(text, " "), v.width) {
		if v.Err != nil {
			return
		}
		if v.colour {
			line = painted(line, style)
		}
		_, v.Err = fmt.Fprintln(v.out, line)
	}
}

// Table writes rows in aligned columns.
func (v *View) Table(rows [][]string) {
	if v.Err != nil {
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
	v.Err = w.Flush()
	for line := range strings.Lines(aligned.String()) {
		v.emit(strings.TrimSuffix(line, "\n"), "")
	}
}

// List writes a row for each of some things, below a head where there is one.
func List[T any](v *View, head []string, all []T, row func(T) []string) {
	rows := [][]string{}
	if head != nil {
		rows = append(rows, head)
	}
	rows = append(rows, sliced.Map(all, row)...)
	v.Table(rows)
}

// OrNone is a text, or that there is none.
func OrNone(s string) string {
	return cmp.Or(s, "none")
}

// OrDash is a text, or the dash that stands for none.
func OrDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// Unlimited is what stands behind the plan of an account without limits.
func Unlimited(yes bool) string {
	if yes {
		return ", unlimited"
	}
	return ""
}

// colours reports whether what is written to w may be coloured: on a terminal,
// unless the person wants none (https://no-color.org).
func (p *Program) colours(w io.Writer) bool {
	return TerminalWidth(w) > 0 && p.Env("NO_COLOR") == "" && p.Env("TERM") != "dumb"
}
