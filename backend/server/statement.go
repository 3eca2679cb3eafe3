package server

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
	"svc/backend/store"
)

// linesAtOnce is how many lines of a statement are read at once. A statement may have
// a million: no more of it than that is ever in memory.
const linesAtOnce = 1000

// statement answers with a page, or, without a limit, with all lines. All are of one
// order to which time only adds at the end: what is claimed while they are read does
// not belong to the bill that was begun.
func (s *Server) statement(ctx context.Context, c caller, in api.StatementRequest) (any, error) {
	page, err := pageOf(in.Limit, in.Offset, in.Cursor)
	if err != nil {
		return nil, err
	}
	whole := in.Limit == 0
	if whole {
		page.Limit = linesAtOnce
	}
	bill, err := s.cfg.Store.Statement(ctx, c.AccountID, page)
	if err != nil {
		return nil, tooFar(page, err)
	}
	next, left := bill.NextCursor, "" // a page ends here, and names the next
	if whole {
		next, left = left, next
	}
	rest := &statementRest{s.cfg.Store, c.AccountID, max(0, bill.Instances-page.Offset), left}
	if page.From != nil { // which says no number
		rest.most = bill.Instances
	}
	switch {
	case in.Format == api.StatementCSV:
		return streamed{map[string]string{
			"Content-Type":        csvType,
			"Content-Disposition": fmt.Sprintf(`attachment; filename="statement-%d-%s.csv"`, bill.AccountID, bill.AsOf),
			"Next-Cursor":         next,
		}, func(ctx context.Context, w io.Writer) error { return writeTable(ctx, w, bill.Lines, rest) }}, nil
	case left == "":
		return bill, nil
	}
	return streamed{map[string]string{"Content-Type": jsonType[0]}, func(ctx context.Context, w io.Writer) error { return writeBill(ctx, w, bill, rest) }}, nil
}

// statementRest are the lines of a statement that were not read yet.
type statementRest struct {
	store   store.Store
	account int64
	most    int    // lines of the whole
	next    string // cursor; "" at the end
}

// each gives all lines to use, so many at once: first those that were read.
func (r *statementRest) each(ctx context.Context, lines []api.StatementLine, use func([]api.StatementLine) error) error {
	for {
		lines = lines[:min(len(lines), r.most)]
		if err := use(lines); err != nil {
			return err
		}
		r.most -= len(lines)
		if r.next == "" || r.most == 0 {
			return nil
		}
		page, err := store.PageAt(r.next, linesAtOnce)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, workTimeout)
		bill, err := r.store.Statement(ctx, r.account, page)
		cancel()
		if err != nil {
			return err
		}
		lines, r.next = bill.Lines, bill.NextCursor
	}
}

// writeBill writes a statement as encoding it whole would.
func writeBill(ctx context.Context, w io.Writer, bill api.Statement, rest *statementRest) error {
	lines := bill.Lines
	bill.Lines, bill.NextCursor = []api.StatementLine{}, ""
	head, err := json.Marshal(bill)
	if err != nil {
		return err
	}
	const end = "]}" // the lines come last
	if _, err := w.Write(bytes.TrimSuffix(head, []byte(end))); err != nil {
		return err
	}
	var b bytes.Buffer
	first := true
	err = rest.each(ctx, lines, func(lines []api.StatementLine) error {
		b.Reset()
		for _, l := range lines {
			if !first {
				b.WriteByte(',')
			}
			first = false
			if err := json.MarshalWrite(&b, l); err != nil {
				return err
			}
		}
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, end)
	return err
}

// writeTable writes the lines of a statement for spreadsheets.
func writeTable(ctx context.Context, w io.Writer, lines []api.StatementLine, rest *statementRest) error {
	table := csv.NewWriter(w)
	if err := table.Write(api.StatementColumns); err != nil {
		return err
	}
	return rest.each(ctx, lines, func(lines []api.StatementLine) error {
		for _, l := range lines {
			if err := table.Write(l.Cells()); err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	})
}
