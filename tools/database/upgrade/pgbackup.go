package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// dump takes checksums of everything and dumps it, while nobody else is in.
func (g *pgRun) dump(ctx context.Context) error {
	dir, err := g.folder("dump")
	if err != nil {
		return err
	}
	err = g.with(ctx, g.p.Old, func(ctx context.Context, s session) error {
		before, err := s.fingerprint(ctx)
		if err != nil {
			return err
		}
		if err := g.writeFile("before.json", before); err != nil {
			return err
		}
		return s.dumpInto(ctx, dir)
	}, "default_transaction_read_only=on")
	if err != nil {
		return err
	}
	return g.touched("dump.json")
}

// dumpInto writes roles and settings to globals.sql, each database to a folder
// with its number, and its schema as text beside it.
func (s session) dumpInto(ctx context.Context, dir string) error {
	globals := filepath.Join(dir, "globals.sql")
	if err := s.do(ctx, s.client("template1", "pg_dumpall", "--globals-only", "--no-tablespaces", "-f", globals)); err != nil {
		return err
	}
	for i, d := range s.p.Databases {
		c := s.client(d.Name, "pg_dump", "-F", "directory", "-j", "2", "--no-tablespaces", "--create", "-f", dumpOf(dir, i))
		if err := s.do(ctx, c); err != nil {
			return fmt.Errorf("dumping %s: %w", d.Name, err)
		}
		if err := s.do(ctx, s.schema(d, "-f", schemaOf(dir, i))); err != nil {
			return fmt.Errorf("dumping the schema of %s: %w", d.Name, err)
		}
	}
	return nil
}

// schema has pg_dump write a database's schema as text.
func (s session) schema(d pgDatabase, further ...string) command {
	return s.client(d.Name, "pg_dump", append([]string{"--schema-only", "--no-tablespaces"}, further...)...)
}

func schemaOf(dir string, i int) string { return dumpOf(dir, i) + ".sql" }

func dumpOf(dir string, i int) string { return filepath.Join(dir, strconv.Itoa(i)) }

// removeDump removes a dump, unless it was proved: that is kept for bad times.
func (g *pgRun) removeDump(context.Context) error {
	if g.kept("proved.json") {
		return nil
	}
	return errors.Join(os.RemoveAll(g.path("dump")), os.RemoveAll(g.path("before.json")), os.RemoveAll(g.path("dump.json")))
}

// prove restores the dump into an empty cluster of the same version, and compares
// every table, every name and the text of the schemas with those of the old one.
func (g *pgRun) prove(ctx context.Context) error {
	dir, err := g.folder("proof")
	if err != nil {
		return err
	}
	var before map[string]string
	if err := g.readFile("before.json", &before); err != nil {
		return err
	}
	c := g.p.Old
	c.Data, c.Config = filepath.Join(dir, "data"), filepath.Join(dir, "data")
	if err := g.initdb(ctx, c); err != nil {
		return err
	}
	err = g.with(ctx, c, func(ctx context.Context, s session) error {
		if err := s.restore(ctx, g.path("dump")); err != nil {
			return err
		}
		after, err := s.fingerprint(ctx)
		if err != nil {
			return err
		}
		return errors.Join(differences("the restored dump", before, after), s.sameSchemas(ctx, g.path("dump")))
	}, "fsync=off", "max_wal_size=2GB", "full_page_writes=off")
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(dir), g.writeFile("proved.json", true))
}

// restore loads a dump into an empty cluster.
func (s session) restore(ctx context.Context, dir string) error {
	globals, err := os.ReadFile(filepath.Join(dir, "globals.sql"))
	if err != nil {
		return fmt.Errorf("reading the dump: %w", err)
	}
	if _, err := s.rows(ctx, "template1", withoutRole(string(globals), s.p.Superuser)); err != nil {
		return fmt.Errorf("restoring roles: %w", err)
	}
	for i, d := range s.p.Databases {
		from := "postgres" // a database is not dropped from within
		if d.Name == from {
			from = "template1"
		}
		c := s.client(from, "pg_restore", "--exit-on-error", "--clean", "--if-exists", "--create", "--no-tablespaces", "-j", "2", dumpOf(dir, i))
		if err := s.do(ctx, c); err != nil {
			return fmt.Errorf("restoring %s: %w", d.Name, err)
		}
	}
	return nil
}

// withoutRole takes the making of a role that is there already out of a script
// that pg_dumpall wrote.
func withoutRole(script, role string) string {
	lines := slices.Collect(strings.Lines(script))
	quoted := `"` + strings.ReplaceAll(role, `"`, `""`) + `"`
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return l == "CREATE ROLE "+role+";" || l == "CREATE ROLE "+quoted+";"
	}), "")
}

// sameSchemas compares what pg_dump says of the schemas with what it said of the
// old cluster's.
func (s session) sameSchemas(ctx context.Context, dir string) error {
	for i, d := range s.p.Databases {
		want, err := readText(schemaOf(dir, i))
		if err != nil {
			return fmt.Errorf("reading the dump: %w", err)
		}
		got, err := s.run(ctx, s.schema(d))
		if err != nil {
			return err
		}
		if err := sameStatements(want, got); err != nil {
			return fmt.Errorf("the schema of %s: %w", d.Name, err)
		}
	}
	return nil
}

// sameStatements compares two schemas line by line.
func sameStatements(want, got string) error {
	a, b := statements(want), statements(got)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Errorf("what is restored differs from the old cluster, as in %q", append(a[min(i, len(a)):], b[min(i, len(b)):]...)[0])
		}
	}
	return nil
}

// statements are the lines of a schema in an order of their own: that of pg_dump
// depends on numbers. Comments, and the key that guards each dump, are left out.
func statements(script string) []string {
	lines := slices.Collect(strings.Lines(script))
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "--") || strings.HasPrefix(l, `\restrict `) || strings.HasPrefix(l, `\unrestrict `) || strings.TrimSpace(l) == ""
	})
	slices.Sort(lines)
	return lines
}

// index makes again what is sorted by a library that may sort otherwise by now,
// and statistics, which pg_upgrade does not copy.
func (g *pgRun) index(ctx context.Context) error {
	return g.with(ctx, g.p.New, func(ctx context.Context, s session) error {
		for _, d := range g.p.Databases {
			if err := s.reindex(ctx, d); err != nil {
				return fmt.Errorf("making the indexes of %s again: %w", d.Name, err)
			}
		}
		analyze := s.client("template1", "vacuumdb", "--all", "--analyze-in-stages")
		return s.do(ctx, withoutDatabase(analyze))
	})
}

// withoutDatabase takes -d and its name out of a program's arguments.
func withoutDatabase(c command) command {
	i := slices.Index(c.args, "-d")
	c.args = slices.Delete(c.args, i, i+2)
	return c
}

// pgSorted are the indexes whose order, or whose idea of what is equal, comes
// from a library: of text, and of ranges of text.
const pgSorted = `select to_json(format('%%I.%%I', n.nspname, c.relname)) from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'i' and (exists (select from unnest(i.indcollation) o join pg_collation k on k.oid = o where k.oid = 100 and %[1]s or k.oid <> 100 and k.collprovider in ('c', 'i') and k.collname not in ('C', 'POSIX'))
	or exists (select from pg_attribute a join pg_range r on r.rngtypid = a.atttypid where a.attrelid = c.oid and r.rngcollation <> 0))`

// reindex makes a database's sorted indexes again, and says that they are.
func (s session) reindex(ctx context.Context, d pgDatabase) error {
	if d.Sorting == "" {
		return nil
	}
	indexes, err := query[string](ctx, s, d.Name, fmt.Sprintf(pgSorted, strconv.FormatBool(!d.ByBytes)))
	if err != nil {
		return err
	}
	var script strings.Builder
	for _, name := range indexes {
		script.WriteString("reindex index " + name + ";\n")
	}
	if s.c.major() >= 15 {
		script.WriteString("select format('alter database %I refresh collation version', current_database()) \\gexec\n")
	}
	if s.c.major() >= 10 {
		script.WriteString("select format('alter collation %I.%I refresh version', n.nspname, k.collname) from pg_collation k join pg_namespace n on n.oid = k.collnamespace where k.collversion <> pg_collation_actual_version(k.oid) \\gexec\n")
	}
	_, err = s.rows(ctx, d.Name, script.String())
	return err
}
