package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"

	"svc/backend/sliced"
	"svc/tools/upgrade/engine"
)

// Order is a collation by which a database sorts: its version on record, and that
// of the library that the server asked has now. What depends on it is in a wrong
// order once a library sorts otherwise.
type Order struct {
	Name     string   `json:"name"` // quoted, with its schema; empty for the database's own
	Recorded string   `json:"recorded"`
	Actual   string   `json:"actual"`
	Indexes  []string `json:"indexes"` // quoted, with their schemas
	Tables   []string `json:"tables"`  // partitioned by it
	Checks   []int64  `json:"checks"`  // numbers of constraints, of the server that was asked
	Stored   []int64  `json:"stored"`  // and of what generates columns that are stored
}

// pgOrdersKnown is the first version that records for every collation, and for each
// database's own, by which version of its library things were sorted.
const pgOrdersKnown = 15

// ordersFile has what the old server said of its collations, by database.
const ordersFile = "orders.json"

// sortedFile has what was made again.
const sortedFile = "sorted.json"

// pgMultirangesSince is the first version that has types of several ranges.
const pgMultirangesSince = 14

// pgStoredSince is the first version that has such columns.
const pgStoredSince = 12

// orders asks a server, from PostgreSQL 10 on, by what a database sorts.
func (s Session) orders(ctx context.Context, database string) ([]Order, error) {
	own := "(select %s from pg_database where datname = current_database())"
	recorded, actual, library, ranges, stored := "null", "null", "datcollate not in ('C', 'POSIX')", "", ""
	if s.Cluster.Major() >= pgStoredSince {
		stored = "\n\t" + question("stored")
	}
	if s.Cluster.Major() >= pgMultirangesSince {
		ranges = ", r.rngmultitypid"
	}
	if s.Cluster.Major() >= pgOrdersKnown {
		recorded, actual = fmt.Sprintf(own, "datcollversion"), fmt.Sprintf(own, "pg_database_collation_actual_version(oid)")
		library = "(datlocprovider = 'i' or datlocprovider = 'c' and " + library + ")"
	}
	return Query[Order](ctx, s, database, fmt.Sprintf(question("orders"), recorded, actual, fmt.Sprintf(own, library), ranges, stored))
}

// KeepOrders keeps what the old server, which svc alone reaches, says of its
// collations: one that is older does not know.
func (s Session) KeepOrders(ctx context.Context, databases []Database) error {
	all := map[string][]Order{}
	for _, d := range databases {
		if s.Cluster.Major() < pgOrdersKnown {
			break
		}
		var err error
		if all[d.Name], err = s.orders(ctx, d.Name); err != nil {
			return fmt.Errorf("asking by what %s is sorted: %w", d.Name, err)
		}
	}
	return s.WriteFile(ordersFile, all)
}

// Sorting says in a plan what of a database may have to be made again.
func (s Session) Sorting(ctx context.Context, database string) (string, error) {
	if s.Cluster.Major() < pgOrdersKnown {
		return fmt.Sprintf("all of them, as PostgreSQL %s does not record by which library text was sorted", s.Cluster.Version), nil
	}
	orders, err := s.orders(ctx, database)
	return sortedBy(orders), err
}

func sortedBy(orders []Order) string {
	var by []string
	for _, o := range orders {
		version := o.Recorded
		if o.Recorded != o.Actual {
			version = o.Recorded + ", where the library has " + o.Actual + " by now"
		}
		by = append(by, fmt.Sprintf("%s (version %s)", o.called(), version))
	}
	if by == nil {
		return ""
	}
	slices.Sort(by)
	all := goBy(orders)
	return fmt.Sprintf("%d indexes, %d partitioned tables, %d constraints and %d columns that are made of others go by %s; those for which the new server's library has another version are made again, or checked, before clients come back",
		len(all.indexes), len(all.tables), len(all.checks), len(all.stored), strings.Join(by, ", "))
}

func distinct[T cmp.Ordered](names []T) []T {
	slices.Sort(names)
	return slices.Compact(names)
}

func (o Order) called() string { return cmp.Or(o.Name, "the database's own order") }

// differing are the collations of a new server by which things may be in another
// order than the old one left them in: only what both say alike, and what was on
// record all the time, is the same.
func differing(before, now []Order) (differ []Order) {
	for _, o := range now {
		i := slices.IndexFunc(before, func(b Order) bool { return b.Name == o.Name })
		if i >= 0 && o.Actual != "" && before[i].Actual == o.Actual && before[i].Recorded == o.Actual {
			continue
		}
		o.Recorded = ""
		if i >= 0 {
			o.Recorded = before[i].Recorded
		}
		differ = append(differ, o)
	}
	return differ
}

// Sorted is what was made again of a database.
type Sorted struct {
	Database string
	By       []string // collations, each with both versions
	Indexes  int
	Checked  int      // by amcheck
	Tables   int      // whose partitions were checked
	Checks   int      // constraints that were
	Stored   int      // columns that are made of others, and were
	Unknown  []string `json:",omitzero"` // what could not be
}

func (s Sorted) String() string {
	proof := fmt.Sprintf("amcheck has looked at %d of them", s.Checked)
	if s.Checked < 0 {
		proof = "amcheck is not installed, so nothing has looked at them since"
	}
	text := fmt.Sprintf("in %s %d indexes were made again, and the partitions of %d tables, %d constraints and %d columns that are made of others checked, as the order of text may be another: %s; %s", s.Database, s.Indexes, s.Tables, s.Checks, s.Stored, strings.Join(s.By, ", "), proof)
	if len(s.Unknown) > 0 {
		text += fmt.Sprintf("; %d things could not be checked, such as %s", len(s.Unknown), s.Unknown[0])
	}
	return text
}

// Resorted says what was made again; nothing where the step was not reached.
func Resorted(h *engine.Host) []string {
	var all []Sorted
	if err := h.ReadFile(sortedFile, &all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []string{err.Error()}
	}
	return sliced.Map(all, Sorted.String)
}

// unsure are the collations of a database by which things may be in another order than
// the old server left them in.
func (s Session) unsure(ctx context.Context, databases []Database) (map[string][]Order, error) {
	var before map[string][]Order
	if err := s.ReadFile(ordersFile, &before); err != nil {
		return nil, err
	}
	all := map[string][]Order{}
	for _, d := range databases {
		now, err := s.orders(ctx, d.Name)
		if err != nil {
			return nil, fmt.Errorf("asking by what %s is sorted: %w", d.Name, err)
		}
		all[d.Name] = differing(before[d.Name], now)
	}
	return all, nil
}

// SortAgain makes the indexes again whose order may have changed.
func (s Session) SortAgain(ctx context.Context, databases []Database) error {
	all, err := s.unsure(ctx, databases)
	if err != nil {
		return err
	}
	for _, d := range databases {
		if err := s.reindex(ctx, d.Name, goBy(all[d.Name]).indexes); err != nil {
			return fmt.Errorf("making again what is sorted in %s: %w", d.Name, err)
		}
	}
	return nil
}

// ProveOrder looks at what was made again and at what goes by another order now, and puts
// on record by which versions things are sorted.
func (s Session) ProveOrder(ctx context.Context, databases []Database) error {
	differ, err := s.unsure(ctx, databases)
	if err != nil {
		return err
	}
	all := []Sorted{}
	for _, d := range databases {
		if len(differ[d.Name]) > 0 {
			done, err := s.prove(ctx, d.Name, differ[d.Name])
			if err != nil {
				return fmt.Errorf("looking at what is sorted in %s: %w", d.Name, err)
			}
			all = append(all, done)
		}
		if _, err := s.Rows(ctx, d.Name, s.refresh()); err != nil {
			return fmt.Errorf("putting versions of collations on record in %s: %w", d.Name, err)
		}
	}
	return s.WriteFile(sortedFile, all)
}

// sortedThings are what goes by some collations.
type sortedThings struct {
	indexes, tables []string
	checks, stored  []int64
}

func goBy(orders []Order) (all sortedThings) {
	for _, o := range orders {
		all.indexes, all.tables = append(all.indexes, o.Indexes...), append(all.tables, o.Tables...)
		all.checks, all.stored = append(all.checks, o.Checks...), append(all.stored, o.Stored...)
	}
	return sortedThings{distinct(all.indexes), distinct(all.tables), distinct(all.checks), distinct(all.stored)}
}

// prove has amcheck look at indexes that were made again, and compares rows with the
// bounds of partitions and with conditions.
func (s Session) prove(ctx context.Context, database string, differ []Order) (done Sorted, err error) {
	things := goBy(differ)
	done = Sorted{Database: database, Indexes: len(things.indexes), Tables: len(things.tables), Checks: len(things.checks), Stored: len(things.stored)}
	done.By = append(done.By, sliced.Map(differ, func(o Order) string {
		return fmt.Sprintf("%s (%s → %s)", o.called(), known(o.Recorded), known(o.Actual))
	})...)
	if done.Checked, err = s.check(ctx, database, things.indexes); err != nil {
		return done, fmt.Errorf("amcheck: %w", err)
	}
	done.Unknown, err = s.checkRows(ctx, database, things.tables, things.checks, things.stored)
	return done, err
}

// pgIndexed are tables by their indexes, the table and its index's size in bytes.
const pgIndexed = `select json_build_object('table', i.indrelid::bigint, 'name', format('%%I.%%I', n.nspname, c.relname), 'bytes', pg_relation_size(c.oid))
from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace where c.oid in (%s)`

// reindex makes indexes again, of several tables at a time. Those of one table are made
// one after the other: to plan how many workers take part the server opens the others
// too, and two such would wait for each other.
func (s Session) reindex(ctx context.Context, database string, indexes []string) error {
	if len(indexes) == 0 {
		return nil
	}
	all, err := Query[struct {
		Table int64  `json:"table"`
		Name  string `json:"name"`
		Bytes int64  `json:"bytes"`
	}](ctx, s, database, fmt.Sprintf(pgIndexed, classes(indexes)))
	if err != nil {
		return err
	}
	scripts, bytes := map[int64]string{}, map[int64]int64{}
	for _, i := range all {
		scripts[i.Table] += "reindex index " + i.Name + ";\n"
		bytes[i.Table] += i.Bytes
	}
	var tasks []func(context.Context) error
	for _, tables := range shared(slices.Sorted(maps.Keys(scripts)), func(t int64) int64 { return bytes[t] }) {
		tasks = append(tasks, func(ctx context.Context) error {
			script := ""
			if s.Cluster.Major() >= pgWorkersSince {
				script = fmt.Sprintf("set max_parallel_maintenance_workers = %d;\n", runtime.NumCPU())
			}
			for _, t := range tables {
				script += scripts[t]
			}
			_, err := s.Rows(ctx, database, script)
			return err
		})
	}
	return engine.AtOnce(ctx, tasks...)
}

// pgWorkersSince is the first version that has several processes make an index.
const pgWorkersSince = 11

// classes are relations by their names, as a list in SQL.
func classes(names []string) string {
	return strings.Join(sliced.Map(names, func(name string) string { return literal(name) + "::regclass" }), ", ")
}

func known(version string) string {
	return cmp.Or(version, "not on record")
}

// refresh puts on record by which versions things are sorted now.
func (s Session) refresh() string {
	script := ""
	if s.Cluster.Major() >= pgOrdersKnown {
		script += "select format('alter database %I refresh collation version', current_database()) \\gexec\n"
	}
	if s.Cluster.Major() >= 10 {
		script += "select format('alter collation %I.%I refresh version', n.nspname, k.collname) from pg_collation k join pg_namespace n on n.oid = k.collnamespace where k.collversion <> pg_collation_actual_version(k.oid) \\gexec\n"
	}
	return script
}

// check has amcheck look at indexes, and says at how many; -1 where it is not
// installed.
func (s Session) check(ctx context.Context, database string, indexes []string) (int, error) {
	there, err := Query[bool](ctx, s, database, "select to_json(count(*) > 0) from pg_available_extensions where name = 'amcheck'")
	if err != nil || !there[0] {
		return -1, err
	}
	if len(indexes) == 0 {
		return 0, nil
	}
	rows, err := s.Rows(ctx, database, fmt.Sprintf(question("check"), classes(indexes)))
	return len(rows), err
}

// checkRows refuses rows that the new order has in another partition, that break a
// condition by it, or of which it makes something else. It gives what could not be looked at.
func (s Session) checkRows(ctx context.Context, database string, tables []string, checks, stored []int64) (unknown []string, err error) {
	var suspects []pgSuspect
	scripts := []string{}
	for _, table := range tables {
		if err := s.bounded(ctx, database, table); err != nil {
			return nil, err
		}
		scripts = append(scripts, fmt.Sprintf(question("partitions"), literal(table)))
	}
	multiranges := ""
	if s.Cluster.Major() >= pgMultirangesSince {
		multiranges = " " + question("multiranges")
	}
	for _, of := range []struct {
		script  string
		numbers []int64
		further []any
	}{{question("constraints"), checks, nil}, {question("domains"), checks, []any{multiranges}}, {question("stored again"), stored, nil}} {
		if len(of.numbers) > 0 {
			list := strings.Trim(strings.ReplaceAll(fmt.Sprint(of.numbers), " ", ", "), "[]")
			scripts = append(scripts, fmt.Sprintf(of.script, append([]any{list}, of.further...)...))
		}
	}
	for _, script := range scripts {
		found, err := Query[pgSuspect](ctx, s, database, script)
		if err != nil {
			return nil, err
		}
		suspects = append(suspects, found...)
	}
	found, err := s.breaking(ctx, database, suspects)
	if err == nil && len(found.rows) > 0 {
		err = fmt.Errorf("in the new order %s: have bounds, conditions and columns made of others that every order leaves alone, or that compare by collate \"C\"", strings.Join(found.rows, "; "))
	}
	return found.unknown, err
}

// WithoutDatabase takes -d and its name out of a program's arguments.
func WithoutDatabase(c engine.Command) engine.Command {
	i := slices.Index(c.Args, "-d")
	c.Args = slices.Delete(c.Args, i, i+2)
	return c
}

// literal quotes a text as SQL wants it.
func literal(text string) string {
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text) + "'"
}
