package session

import (
	"context"
	"fmt"
	"strings"

	"svc/backend/sliced"
)

// Rows that were right in one order of text may not be so in another: a constraint
// compares them with a word, a partition has bounds. To look at them the server has to
// evaluate what an owner of tables wrote, and to plan that it may run what expressions
// of indexes call. It does so as that owner, who can't become anybody else within a
// function of his, and nothing of it is kept.

// pgSuspect is what an owner wrote, and may no longer be right.
type pgSuspect struct {
	Name  string `json:"name"`  // for people, as what would be wrong
	Owner string `json:"owner"` // of the table, quoted
	Ask   string `json:"ask"`   // SQL that is true where a row breaks a condition, or that makes a table
}

// pgBroken is what became of suspects.
type pgBroken struct {
	rows    []string // that break something
	unknown []string // what could not be evaluated, with the reason
}

// bounded has the bounds of a table's partitions made once more.
func (s Session) bounded(ctx context.Context, database, table string) error {
	tables, err := Query[pgSuspect](ctx, s, database, fmt.Sprintf(question("bounds"), literal(table)))
	for _, t := range tables {
		if _, err := s.Rows(ctx, database, asOwner(t.Owner, t.Ask+"select null::text where false")); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return err
}

// breaking evaluates suspects, all of an owner at a time, and one by one where that
// fails.
func (s Session) breaking(ctx context.Context, database string, suspects []pgSuspect) (b pgBroken, err error) {
	of := map[string][]pgSuspect{}
	var owners []string
	for _, x := range suspects {
		if of[x.Owner] == nil {
			owners = append(owners, x.Owner)
		}
		of[x.Owner] = append(of[x.Owner], x)
	}
	for _, owner := range owners {
		found, err := Query[string](ctx, s, database, breaks(of[owner]...))
		if err == nil {
			b.rows = append(b.rows, found...)
			continue
		}
		for _, x := range of[owner] {
			found, err := Query[string](ctx, s, database, breaks(x))
			if ctx.Err() != nil {
				return b, err
			}
			switch {
			case err != nil && strings.Contains(err.Error(), checkViolation):
				found = []string{x.Name}
			case err != nil:
				b.unknown = append(b.unknown, fmt.Sprintf("whether %s: %v", x.Name, err))
			}
			b.rows = append(b.rows, found...)
		}
	}
	return b, nil
}

// checkViolation is what PostgreSQL numbers a value that breaks a condition.
const checkViolation = "ERROR:  23514:"

// breaks is the script that evaluates conditions of one owner.
func breaks(suspects ...pgSuspect) string {
	ask := sliced.Map(suspects, func(x pgSuspect) string { return "select" + literal(x.Name) + "::text where " + x.Ask })
	return asOwner(suspects[0].Owner, strings.Join(ask, " union all "))
}

func asOwner(owner, sql string) string { return fmt.Sprintf(question("as owner"), literal(sql), owner) }
