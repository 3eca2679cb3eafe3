package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"svc/backend/sliced"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/postgresql/session"
	"svc/tools/upgrade/tree"
)

// The rehearsal: all that will be done to the cluster is done to a copy of it
// first, while clients are served. The copy is one of the files and not a dump:
// it has every page, index and row that pg_upgrade will meet, it needs no locks
// of the server that clients use, and no constraint of anybody's runs a function
// of his as a superuser, as the loading of a dump has them do.

// copy copies the cluster: while it serves, by its own base backup, and else
// its files.
func (g *pgRun) copy(ctx context.Context) error {
	c := g.copyOf()
	err := errors.Join(os.RemoveAll(g.Path("rehearsed.json")), g.makeBeside(c))
	if err == nil && g.p.Online {
		err = g.baseBackup(ctx, c)
	} else if err == nil {
		err = g.copyFiles(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("copying the cluster: %w", err)
	}
	if err := (configuration{g}).carry(c); err != nil {
		return fmt.Errorf("copying the configuration: %w", err)
	}
	return nil
}

// baseBackup has the running server give a copy, with the log that makes it whole,
// and compares it with the server's list of it, which there is since 13.
func (g *pgRun) baseBackup(ctx context.Context, c session.Cluster) error {
	live := g.session(g.p.Old, g.p.Socket, g.p.Port, g.p.Owner)
	backup := session.WithoutDatabase(live.Client("", "pg_basebackup", "-D", c.Data, "-X", "stream", "--checkpoint=fast", "-w"))
	if err := g.do(ctx, backup); err != nil {
		return err
	}
	if _, err := os.Stat(c.Client("pg_verifybackup")); err != nil {
		return nil
	}
	return g.do(ctx, g.as(c.Client("pg_verifybackup"), "-q", c.Data))
}

// copyFiles copies the files of a stopped cluster.
func (g *pgRun) copyFiles(ctx context.Context, c session.Cluster) error {
	from, err := filepath.EvalSymlinks(g.p.Old.Data)
	if err != nil {
		return err
	}
	t, err := tree.List(from)
	if err != nil {
		return err
	}
	_, err = tree.Copy(ctx, t, from, c.Data)
	return err
}

// pgPace is how long the parts of an upgrade took, in the rehearsal: in seconds.
type pgPace struct {
	Sums, Upgrade, Index, Compare float64
}

// rehearse upgrades the copy as the cluster will be upgraded, and compares every
// table of both. The copy stays as it was, for bad times.
func (g *pgRun) rehearse(ctx context.Context) error {
	from, to := g.copyOf(), g.rehearsal()
	// The number in a copied lock is that of the server that was copied.
	if err := errors.Join(engine.RemoveAs(g.p.Owner, filepath.Join(from.Data, "postmaster.pid")), g.makeBeside(to)); err != nil {
		return err
	}
	var before inplace.Stock
	var pace pgPace
	err := timed(&pace.Sums, func() (err error) { before, err = g.takeStock(ctx, from); return err })
	if err != nil {
		return fmt.Errorf("reading the copy: %w", err)
	}
	if err := g.initdb(ctx, to); err != nil {
		return err
	}
	if err := (configuration{g}).configure(ctx, to); err != nil {
		return err
	}
	for _, part := range []struct {
		took *float64
		do   func() error
	}{
		{&pace.Upgrade, func() error { return g.pgUpgrade(ctx, from, to, g.transfer(g.p.CloneBackup)...) }},
		{&pace.Index, func() error { return g.indexIn(ctx, to) }},
		{&pace.Compare, func() error { return g.compareWith(ctx, to, "the upgraded copy", before) }},
	} {
		if err := timed(part.took, part.do); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(g.Path("rehearsal")), os.RemoveAll(g.Path("pg_upgrade")), g.WriteFile("rehearsed.json", pace))
}

// expected says for how long clients will wait, by the rehearsal, if there was one.
func (g *pgRun) expected() string {
	var took pgPace
	if err := g.ReadFile("rehearsed.json", &took); err != nil {
		return ""
	}
	return fmt.Sprintf("; by the rehearsal they wait about %s", engine.Lasts(pgFixedService+took.Sums+took.Upgrade+took.Index+took.Compare))
}

// pgFixedService is what it takes to stop a server and to start one, in seconds.
const pgFixedService = 6

// timed says how long something took, in seconds.
func timed(took *float64, do func() error) error {
	begin := time.Now()
	err := do()
	*took = time.Since(begin).Seconds()
	return err
}

// takeStock says what the old cluster has, or a copy of it, and by what it sorts.
func (g *pgRun) takeStock(ctx context.Context, c session.Cluster) (has inplace.Stock, err error) {
	err = g.with(ctx, c, false, func(ctx context.Context, s session.Session) error {
		if has, err = s.Fingerprint(ctx, g.p.Databases); err != nil {
			return err
		}
		return s.KeepOrders(ctx, g.p.Databases)
	})
	return has, err
}

// prove takes stock of a cluster that was upgraded, and at the same time has amcheck and
// the server look at what was made again, and makes statistics, which pg_upgrade does not
// copy before 18: none of it changes what another one reads. Last it says how much the
// cluster has written.
func (g *pgRun) prove(ctx context.Context, c session.Cluster) (has inplace.Stock, err error) {
	err = g.with(ctx, c, true, func(ctx context.Context, s session.Session) error {
		reads := s
		reads.Writes = false
		err := engine.AtOnce(
			ctx,
			func(ctx context.Context) (err error) { has, err = reads.Fingerprint(ctx, g.p.Databases); return err },
			func(ctx context.Context) error { return s.ProveOrder(ctx, g.p.Databases) },
			func(ctx context.Context) error {
				analyze := s.Client("template1", "vacuumdb", "--all", "--analyze-only", "-j", strconv.Itoa(min(session.MaxReaders, runtime.NumCPU())))
				return g.do(ctx, session.WithoutDatabase(analyze))
			},
		)
		if err != nil {
			return err
		}
		return reads.KeepQuiet(ctx)
	})
	return has, err
}

// compareWith compares a cluster with what another had.
func (g *pgRun) compareWith(ctx context.Context, c session.Cluster, what string, before inplace.Stock) error {
	after, err := g.prove(ctx, c)
	if err != nil {
		return err
	}
	return inplace.Differences(what, before, after)
}

// sums takes the digests of every table, while nobody else is in.
func (g *pgRun) sums(ctx context.Context) error {
	before, err := g.takeStock(ctx, g.p.Old)
	if err != nil {
		return err
	}
	if err := g.WriteFile("before.json", before); err != nil {
		return err
	}
	return g.touched("sums.json")
}

// removeCopy removes the copy, unless it was upgraded in a rehearsal: that is kept
// for bad times.
func (g *pgRun) removeCopy(context.Context) error {
	if g.kept("rehearsed.json") {
		return nil
	}
	return os.RemoveAll(g.Path("copy"))
}

// unchanged refuses to cut clients off from a cluster that is no longer what was
// rehearsed: it asks once more what Look has asked.
func (g *pgRun) unchanged(ctx context.Context) error {
	now := *g.p
	again := &pgRun{g.Host, &now}
	live := again.session(now.Old, now.Socket, now.Port, now.Owner)
	if err := again.ask(ctx, live, now.layout().control); err != nil {
		return fmt.Errorf("since the plan was made: %w", err)
	}
	names := func(p *Upgrade) []string {
		return sliced.Map(p.Databases, func(d session.Database) string { return d.Name })
	}
	if was, is := names(g.p), names(&now); !slices.Equal(was, is) {
		return fmt.Errorf("the databases are no longer those that the plan was made for: %q, and were %q; begin again", is, was)
	}
	return nil
}

// index makes again what is sorted by a library that may sort otherwise by now.
func (g *pgRun) index(ctx context.Context) error { return g.indexIn(ctx, g.p.New) }

func (g *pgRun) indexIn(ctx context.Context, c session.Cluster) error {
	return g.with(ctx, c, true, func(ctx context.Context, s session.Session) error { return s.SortAgain(ctx, g.p.Databases) })
}
