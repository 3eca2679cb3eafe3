package account

import (
	"context"
	"encoding/csv"
	"fmt"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/cmd/svc/program"
)

// linesAtOnce is how many lines of a statement are asked for in one request.
const linesAtOnce = 10_000

func (p Commands) statementCommand() *ffcli.Command {
	var in api.StatementRequest
	var table bool
	fs := p.FlagSet("statement")
	fs.IntVar(&in.Limit, "limit", 0, "lines to list; all without it")
	fs.StringVar(&in.Cursor, "cursor", "", "where a list with --limit went on, as it said")
	fs.BoolVar(&table, "csv", false, "print the lines alone, as CSV")
	return p.Command(fs, "svc account statement", "show the billing statement", program.NoArgs(func(ctx context.Context) error {
		if table {
			return statementTable(ctx, p.Program, in)
		}
		s, lines := api.Statement{}, []api.StatementLine{}
		err := eachPage(ctx, p.Program, in, func(page api.Statement) error {
			s, lines = page, append(lines, page.Lines...)
			return nil
		})
		s.Lines = lines
		return p.Answer(s, err, func(w *program.View) { viewStatement(w, s) })
	}))
}

// eachPage asks for a statement page by page: a whole one may be longer than an answer.
func eachPage(ctx context.Context, p *program.Program, in api.StatementRequest, use func(api.Statement) error) error {
	for left := in.Limit; ; {
		if in.Limit = linesAtOnce; left > 0 {
			in.Limit = min(left, linesAtOnce)
		}
		page, err := call(ctx, p, api.GetStatement, in)
		if err != nil {
			return err
		}
		if err := use(page); err != nil {
			return err
		}
		done := left > 0 && len(page.Lines) >= left
		if page.NextCursor == "" || done {
			return nil
		}
		in.Cursor = page.NextCursor
		if left > 0 {
			left -= len(page.Lines)
		}
	}
}

// statementTable prints the lines as they come.
func statementTable(ctx context.Context, p *program.Program, in api.StatementRequest) error {
	w := csv.NewWriter(p.Stdout)
	if err := w.Write(api.StatementColumns); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return eachPage(ctx, p, in, func(page api.Statement) error {
		for _, l := range page.Lines {
			if err := w.Write(l.Cells()); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
		}
		if w.Flush(); w.Error() != nil {
			return fmt.Errorf("printing: %w", w.Error())
		}
		return nil
	})
}

func viewStatement(w *program.View, s api.Statement) {
	w.Line("Account %d, plan %s, as of %s", s.AccountID, s.Plan, s.AsOf)
	w.Table([][]string{
		{"instances", fmt.Sprintf("%d, %d free, %d paid", s.Instances, s.FreeInstances, s.PaidInstances)},
		{"subscription", fmt.Sprintf("%d at %d %s", s.Quantity, s.Rate, s.Currency)},
		{"overage", fmt.Sprintf("%d at %d %s", s.OverageInstances, s.OverageRate, s.Currency)},
		{"annual total", fmt.Sprintf("%d %s", s.AnnualTotal, s.Currency)},
		{"period", program.OrDash(s.PeriodFrom) + " to " + program.OrDash(s.PeriodUntil)},
		{"renewal", program.OrDash(s.RenewsOn)},
	})
	program.List(w, []string{"VM", "SINCE", "SOURCE", "CLAIMED BY", "TAKEN FROM"}, s.Lines, func(l api.StatementLine) []string {
		return []string{l.VM, l.Since, l.Source, string(l.Kind), program.OrDash(l.Pool)}
	})
	if s.NextCursor != "" {
		w.Line("more: --cursor %s", s.NextCursor)
	}
}
