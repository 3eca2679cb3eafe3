package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/postgresql/session"
)

// Steps are the way of a cluster. Clients are cut off only when all that comes
// then has been done to a copy.
func (p *Upgrade) Steps(h *engine.Host) []engine.Step {
	if p.Distribution != nil {
		return p.Distribution.Steps(h)
	}
	g := &pgRun{h, p}
	steps := []engine.Step{
		{Name: "check", Does: "asks pg_upgrade --check, and adapts the configuration, in an empty cluster in the backup directory", Do: g.check, Undo: g.remove("check")},
		{Name: "copy", Does: "copies the cluster to the backup directory", Do: g.copy, Undo: g.removeCopy, Fills: h.Path("copy"), Bytes: p.Bytes},
		{Name: "rehearse", Does: "upgrades a copy of the copy, and compares every table of both", Do: g.rehearse, Undo: g.remove("rehearsal", "pg_upgrade"), Fills: h.Path("rehearsal"), Bytes: p.Bytes},
		{Name: "make", Does: "makes the new cluster, empty, with the configuration of the old one", Changes: true, Do: newCluster{g}.make, Undo: g.drop},
		{Name: "close", Cuts: true, Does: "stops the server for its clients, and for the next boot", Learnt: g.expected, Changes: true, Do: g.close, Undo: g.reopen, Holds: g.closed},
		{Name: "sums", Does: "takes digests of every table", Do: g.sums, Undo: g.remove("before.json", "sums.json"), Holds: g.untouched("sums.json")},
		{Name: "upgrade", Does: "has pg_upgrade " + p.copies() + " the old cluster into the new one", Changes: true, Do: g.upgrade, Undo: g.drop, Holds: g.copied, Fills: p.New.Data, Bytes: p.Bytes},
		{Name: "index", Does: "makes indexes on text again where the order of text may have changed", Changes: true, Do: g.index},
		{Name: "compare", Does: "compares every table with the digests taken before, has amcheck look at the indexes, and makes statistics", Changes: true, Do: g.compare},
		{Name: "open", Serves: true, Opens: true, Does: "starts the new server for the clients", Changes: true, Do: g.open, Undo: g.shut},
	}
	if !p.Online { // its files are copied when nobody writes to them
		steps[1], steps[2], steps[3], steps[4] = steps[4], steps[1], steps[2], steps[3]
	}
	return g.settledAll(steps)
}

// copies is what pg_upgrade does with the files.
func (p *Upgrade) copies() string {
	if p.Clone {
		return "clone"
	}
	return "copy"
}

// check has pg_upgrade look at the running cluster, with an empty new one, and
// the new server read the configuration.
func (g *pgRun) check(ctx context.Context) error {
	c := g.emptyNew()
	if err := g.makeBeside(c); err != nil {
		return err
	}
	if err := g.initdb(ctx, c); err != nil {
		return err
	}
	if err := (configuration{g}).configure(ctx, c); err != nil {
		return err
	}
	if err := g.pgUpgrade(ctx, g.p.Old, c, "--check"); err != nil {
		return err
	}
	return os.RemoveAll(g.Path("check"))
}

// close stops the server. A boot does not start it again.
func (g *pgRun) close(ctx context.Context) error {
	if err := g.unchanged(ctx); err != nil {
		return err
	}
	l := g.p.layout()
	if err := l.setStart(ctx, g, g.p.Old, l.never()); err != nil {
		return err
	}
	if err := g.do(ctx, l.serve("stop", g.p.Old, g.p.Name)); err != nil {
		return err
	}
	return g.stopped(g.p.Old)
}

// reopen starts the server as it was.
func (g *pgRun) reopen(ctx context.Context) error {
	if err := g.p.layout().setStart(ctx, g, g.p.Old, g.p.Start); err != nil {
		return err
	}
	return g.public(ctx, g.p.Old)
}

// public starts a server for clients, if none runs, and waits until it answers.
// One that is just being stopped, or started, is waited for.
func (g *pgRun) public(ctx context.Context, c session.Cluster) error {
	s := g.session(c, g.p.Socket, g.p.Port, g.p.Superuser)
	err := engine.Await(ctx, func(ctx context.Context) error {
		if g.stopped(c) == nil {
			return nil
		}
		return s.Ready(ctx)
	})
	recovers := false
	if err == nil && g.stopped(c) == nil {
		recovers, _ = recovery{g}.recovers(ctx, c) // where that can't be told, it starts all the same
		err = g.do(ctx, g.p.layout().serve("start", c, g.p.Name))
		switch {
		case err != nil:
		case g.stopped(c) == nil: // systemd does not say so
			err = errors.New("it did not start: its own log says why")
		default:
			err = engine.Await(ctx, s.Ready)
		}
	}
	if err == nil {
		_, err = s.Rows(ctx, "template1", "select to_json(1)")
	}
	if err == nil && recovers {
		_ = recovery{g}.noteEmptied(ctx, s) // a full disk stops no roll-back
	}
	if err != nil {
		return fmt.Errorf("starting %s: %w", g.p.called(c), err)
	}
	return nil
}

// closed reports whether the server is stopped, and stays so.
func (g *pgRun) closed(ctx context.Context) bool {
	l := g.p.layout()
	how, err := l.starts(ctx, g, g.p.Old)
	socket := readPostmaster(g.p.Old.Data).socket
	return err == nil && how == l.never() && (socket == "" || socket == engine.PrivateDir)
}

// madeFile is there as long as the new cluster is as it was made.
const madeFile = "made.json"

// make makes the new cluster, whose place was empty when all began: no client waits for
// what of it does not depend on the old one's data.
func (g newCluster) make(ctx context.Context) error {
	p := g.p
	if err := p.logAway(); err != nil {
		return fmt.Errorf("keeping a log that is there: %w", err)
	}
	if err := p.layout().create(ctx, g.pgRun); err != nil {
		return err
	}
	if err := configuration(g).configure(ctx, p.New); err != nil {
		return err
	}
	return g.WriteFile(madeFile, true)
}

// upgrade has pg_upgrade fill the new cluster. Where a try was cut short, its undoing has
// removed that, and another one is made.
func (g *pgRun) upgrade(ctx context.Context) error {
	if !g.kept(madeFile) {
		if err := (newCluster{g}).make(ctx); err != nil {
			return err
		}
	}
	if err := engine.RemoveFile(g.Path(madeFile)); err != nil {
		return err
	}
	if err := g.pgUpgrade(ctx, g.p.Old, g.p.New, g.transfer(g.p.Clone)...); err != nil {
		return err
	}
	return g.touched("upgrade.json")
}

// drop removes the new cluster. One that clients could have written to is set
// aside instead.
func (g *pgRun) drop(ctx context.Context) error {
	p := g.p
	if g.kept("opened.json") {
		if err := (newCluster{g}).setAside(); err != nil {
			return fmt.Errorf("setting the new cluster aside: %w", err)
		}
	}
	err := errors.Join(engine.RemoveAs(p.Owner, p.New.Data), engine.RemoveAs(p.Owner, p.New.Config), p.logBack())
	if p.Brought {
		err = errors.Join(err, engine.MakeFolderAs(p.Owner, p.New.Data, 0o700))
	}
	for _, dir := range p.Absent {
		e := engine.Acting(p.Owner, filepath.Dir(dir), func() error { return os.Remove(dir) })
		if e != nil && !errors.Is(e, os.ErrNotExist) && !errors.Is(e, unix.ENOTEMPTY) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("removing the new cluster: %w", err)
	}
	// The database comes first: that the backup directory can't be written stops nothing.
	_ = g.remove(madeFile, "upgrade.json", "pg_upgrade", "opened.json")(ctx)
	return nil
}

// logAway gives a log that is where the new cluster's will be another name.
func (p *Upgrade) logAway() error {
	if p.LogBefore == "" {
		return nil
	}
	if err := os.Rename(p.Log, p.LogBefore); !errors.Is(err, os.ErrNotExist) { // it may have been removed since
		return err
	}
	return nil
}

// logBack removes the new cluster's log, and gives the one that was there its name.
func (p *Upgrade) logBack() error {
	if p.Log == "" {
		return nil
	}
	if p.LogBefore != "" {
		if _, err := os.Lstat(p.LogBefore); err != nil { // it was not taken away
			return nil
		}
		return os.Rename(p.LogBefore, p.Log)
	}
	return engine.RemoveFile(p.Log)
}

// compare has the new cluster give the checksums that the old one gave.
func (g *pgRun) compare(ctx context.Context) error {
	var before inplace.Stock
	if err := g.ReadFile("before.json", &before); err != nil {
		return err
	}
	return g.compareWith(ctx, g.p.New, "the new cluster", before)
}

// open starts the new server in the old one's place.
func (g *pgRun) open(ctx context.Context) error {
	if !g.copied(ctx) {
		return errors.New("the old cluster was started since it was copied")
	}
	if err := g.WriteFile("opened.json", true); err != nil {
		return err
	}
	if err := g.p.layout().setStart(ctx, g, g.p.New, g.p.Start); err != nil {
		return err
	}
	return g.public(ctx, g.p.New)
}

// shut stops the new server, and has no boot start it.
func (g *pgRun) shut(ctx context.Context) error {
	l := g.p.layout()
	if _, err := os.Stat(g.p.New.Config); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := l.setStart(ctx, g, g.p.New, l.never()); err != nil {
		return err
	}
	if g.stopped(g.p.New) == nil {
		return nil
	}
	err := g.do(ctx, l.serve("stop", g.p.New, g.p.Name))
	return errors.Join(err, g.stopped(g.p.New))
}

// copied reports whether the new cluster is there, and the old one as it was when
// it was copied.
func (g *pgRun) copied(ctx context.Context) bool {
	return isCluster(g.p.New.Data) && g.untouched("upgrade.json")(ctx)
}
