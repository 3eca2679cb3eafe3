package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
)

// relation is what holds rows of its own.
type relation struct {
	Name  string `json:"name"` // quoted, with its schema
	Kind  string `json:"kind"` // of pg_class: r, m or S; L stands for the large objects
	Bytes int64  `json:"bytes"`
}

// Fingerprint is what a cluster has: names, owners, digests of every table, by
// database, kind and name.
func (s Session) Fingerprint(ctx context.Context, databases []Database) (inplace.Stock, error) {
	all := inplace.Stock{}
	if err := s.collect(ctx, all, "", "template1", question("cluster")); err != nil {
		return nil, err
	}
	relations := map[string][]relation{}
	for _, d := range databases {
		has, err := s.relations(ctx, d.Name)
		if err != nil {
			return nil, fmt.Errorf("listing the tables of %s: %w", d.Name, err)
		}
		relations[d.Name] = has
	}
	s.expect(relations)
	for _, d := range databases {
		if err := s.collect(ctx, all, d.Name, d.Name, question("objects")); err != nil {
			return nil, fmt.Errorf("listing what %s has: %w", d.Name, err)
		}
		sums, err := s.sums(ctx, d.Name, relations[d.Name])
		if err != nil {
			return nil, fmt.Errorf("reading the tables of %s: %w", d.Name, err)
		}
		maps.Copy(all, sums)
	}
	return all, nil
}

// Unlogged are the names of what a database keeps in no log, quoted, with their schemas.
func (s Session) Unlogged(ctx context.Context, database string) ([]string, error) {
	return Query[string](ctx, s, database, question("unlogged"))
}

// relations lists what of a database is read.
func (s Session) relations(ctx context.Context, database string) ([]relation, error) {
	plain := ""
	if s.Cluster.Major() >= 14 {
		plain = question("plain statistics")
	}
	all, err := Query[relation](ctx, s, database, fmt.Sprintf(question("relations"), plain))
	return append(all, relation{Name: "large objects", Kind: "L"}), err
}

// expect tells those who wait how much is to be read.
func (s Session) expect(relations map[string][]relation) {
	var tables, bytes int64
	for _, of := range relations {
		tables += int64(len(of))
		for _, r := range of {
			bytes += r.Bytes
		}
	}
	s.Reach.Begin(tables, bytes)
}

// read is a statement that writes a relation's rows.
func (r relation) read() string {
	switch r.Kind {
	case "r":
		return "copy " + r.Name + " to stdout"
	case "S":
		return "copy (select last_value, is_called from " + r.Name + ") to stdout"
	case "L":
		return "copy (" + strings.ReplaceAll(question("large"), "\n", " ") + ") to stdout"
	}
	return "copy (select * from " + r.Name + ") to stdout"
}

// MaxReaders bounds how many relations are read at a time.
const MaxReaders = 4

// sums reads relations, some at a time.
func (s Session) sums(ctx context.Context, database string, relations []relation) (inplace.Stock, error) {
	readers := shared(relations, func(r relation) int64 { return r.Bytes })
	parts := make([]inplace.Stock, len(readers))
	var tasks []func(context.Context) error
	for i, its := range readers {
		tasks = append(tasks, func(ctx context.Context) (err error) {
			parts[i], err = s.read(ctx, database, its)
			return err
		})
	}
	err := engine.AtOnce(ctx, tasks...)
	has := inplace.Stock{}
	for _, part := range parts {
		maps.Copy(has, part)
	}
	return has, err
}

// shared are things in parts of about the same size, one for each processor: the largest
// first, each to the part that has the least.
func shared[T any](all []T, bytes func(T) int64) [][]T {
	all = slices.SortedStableFunc(slices.Values(all), func(a, b T) int { return cmp.Compare(bytes(b), bytes(a)) })
	parts := make([][]T, min(MaxReaders, runtime.NumCPU(), len(all)))
	taken := make([]int64, len(parts))
	for _, x := range all {
		i := slices.Index(taken, slices.Min(taken))
		parts[i], taken[i] = append(parts[i], x), taken[i]+bytes(x)+pageBytes
	}
	return parts
}

// pageBytes is what even an empty table costs.
const pageBytes = 8 << 10

// read reads relations one after the other.
func (s Session) read(ctx context.Context, database string, relations []relation) (inplace.Stock, error) {
	var script strings.Builder
	for i, r := range relations {
		fmt.Fprintf(&script, "\\echo '\\%s%d'\n%s;\n", heading, i, r.read())
	}
	from, to := io.Pipe()
	c := s.Client(database, "psql", "-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-f", "-")
	c.Stdin, c.Rows = script.String(), to
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, c)
		ended <- errors.Join(err, to.Close())
	}()
	sums, err := readSums(from, len(relations), &s.Reach)
	from.CloseWithError(err) // the program then ends by itself
	if failed := <-ended; failed != nil {
		err = failed
	}
	has := inplace.Stock{}
	for i := range sums {
		has[fmt.Sprintf("%s: rows of %s", database, relations[i].Name)] = sums[i].String()
	}
	return has, err
}

// collect adds what a script's rows tell: kind, name and value.
func (s Session) collect(ctx context.Context, all inplace.Stock, prefix, database, script string) error {
	rows, err := Query[[3]jsontext.Value](ctx, s, database, script)
	for _, r := range rows {
		all[fmt.Sprintf("%s: %s %s", prefix, r[0], r[1])] = string(r[2])
	}
	return err
}
