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
	if p.settings.json {
		// It goes out while it is made: a machine's document may have many megabytes.
		err := json.MarshalWrite(visible.JSONWriter(p.stdout), v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
		if err == nil {
			_, err = fmt.Fprintln(p.stdout)
		}
		return err
	}
	w := &view{out: p.stdout}
	person(w)
	return w.err
}

// view writes lines for a person and keeps the first error. What comes from a
// machine is shown with its control characters spelt out: a terminal obeys them.
type view struct {
	out io.Writer
	err error
}

func (v *view) line(format string, args ...any) {
	if v.err != nil {
		return
	}
	_, v.err = fmt.Fprintln(v.out, strings.TrimRight(visible.Text(fmt.Sprintf(format, args...)), " "))
}

// title starts a section.
func (v *view) title(format string, args ...any) {
	v.line("")
	v.line(format, args...)
}

// table writes rows in aligned columns.
func (v *view) table(rows [][]string) {
	if v.err != nil {
		return
	}
	w := tabwriter.NewWriter(v.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = visible.Text(row[i])
		}
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	v.err = w.Flush()
}

// plural is "1 file" or "2 files".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
