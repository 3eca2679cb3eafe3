package postgresql

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// find lists the clusters of this host, and the layout that they are in: none
// where they are in none of layouts.
func find(ctx context.Context, h *engine.Host) (name string, all []foundCluster, err error) {
	for _, name := range slices.Sorted(maps.Keys(layouts)) {
		if all, err := layouts[name].find(ctx, h); err != nil || len(all) > 0 {
			return name, all, err
		}
	}
	return "", nil, nil
}

// choose picks the cluster that is meant.
func choose(all []foundCluster, wanted, to string) (foundCluster, error) {
	var fit []foundCluster
	names := []string{}
	for _, c := range all {
		name := instance(c.version, c.name)
		names = append(names, name)
		if name == wanted || wanted == "" && c.version != to {
			fit = append(fit, c)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	return foundCluster{}, engine.Refusef("name one with --instance", "which cluster is meant is not clear, of %s", strings.Join(names, ", "))
}

// Look reads the cluster's state and asks its server; nothing is changed.
func (p *Upgrade) Look(ctx context.Context, h *engine.Host, in engine.Request) error {
	name, all, err := find(ctx, h)
	if err != nil {
		return err
	}
	if name == "" {
		return p.lookDistribution(ctx, h, in)
	}
	p.Layout = name
	old, err := choose(all, in.Instance, string(in.To.Version))
	if err != nil {
		return err
	}
	p.place(old, string(in.To.Version))
	if err := p.refuse(all, old); err != nil {
		return err
	}
	g := &pgRun{h, p}
	if err := engine.Enterable(ctx, h, p.Owner); err != nil {
		return err
	}
	live := g.session(p.Old, "", p.Port, p.Owner)
	if err := g.ask(ctx, live, p.layout().control); err != nil {
		return err
	}
	p.Offline = live.Offline(ctx)
	p.Online = p.Offline == ""
	if p.Start, err = p.layout().starts(ctx, g, p.Old); err != nil {
		return err
	}
	return p.measure(h)
}

// pgLogs are folders of the log of transactions, which no new cluster gets.
var pgLogs = []string{"pg_wal", "pg_xlog"}

// measure says how much there is, and how fast this host's disks are.
func (p *Upgrade) measure(h *engine.Host) (err error) {
	if p.Bytes, err = engine.TreeSize(p.Old.Data, pgLogs...); err != nil {
		return err
	}
	fresh := engine.Existing(p.New.Data)
	var sample *os.File
	if p.Paces, sample, err = engine.Measure(p.Owner, p.Old.Data, fresh, h.Backup); err != nil {
		return err
	}
	defer sample.Close()
	p.Clone, p.CloneBackup = engine.Clones(sample, fresh), engine.ClonesWithin(h.Backup)
	return nil
}

// Recheck finds the cluster by its name once more: its account and its programs have
// to be those that the journal has.
func (p *Upgrade) Recheck(ctx context.Context, h *engine.Host) error {
	if p.Distribution != nil {
		return p.Distribution.recheck()
	}
	l := layouts[p.Layout]
	if l == nil {
		return engine.Differs("%q is no layout of clusters", p.Layout)
	}
	all, err := l.find(ctx, h)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(c foundCluster) bool { return c.version == p.Old.Version && c.name == p.Name })
	if i < 0 {
		return engine.Differs("there is no cluster %s", p.called(p.Old))
	}
	was, now := *p, &Upgrade{Layout: p.Layout}
	now.place(all[i], p.New.Version)
	switch {
	case now.Owner != was.Owner || now.Owner == "root":
		return engine.Differs("%s belongs to the account %q, not to %q", p.called(p.Old), now.Owner, was.Owner)
	case now.Old != was.Old || now.New != was.New:
		return engine.Differs("the clusters would be %+v and %+v, and the journal has %+v and %+v", now.Old, now.New, was.Old, was.New)
	case !engine.Safe.MatchString(p.Superuser):
		return engine.Differs("%q is no role of initdb", p.Superuser)
	}
	return nil
}

// place says where the old cluster is and the new one will be.
func (p *Upgrade) place(old foundCluster, to string) {
	p.Name, p.Owner, p.Port = old.name, old.owner, old.port
	p.Old, p.New = p.layout().place(old, to)
	for _, dir := range []string{filepath.Dir(p.New.Data), filepath.Dir(p.New.Config)} {
		for ; engine.Existing(dir) != dir && !slices.Contains(p.Absent, dir); dir = filepath.Dir(dir) {
			p.Absent = append(p.Absent, dir)
		}
	}
	p.Aside, p.Log = engine.Unused(p.New.Data+".rolled-back"), p.layout().log(to, p.Name)
	if _, err := os.Lstat(p.Log); err == nil {
		p.LogBefore = engine.Unused(p.Log + ".svc-before")
	}
	inside, err := os.ReadDir(p.New.Data)
	p.Brought = p.inData() && err == nil && len(inside) == 0
}

// refuse says what of the host's state stands in the way.
func (p *Upgrade) refuse(all []foundCluster, old foundCluster) error {
	var refused engine.Refusals
	for _, c := range []struct {
		session.Cluster
		programs []string
	}{{p.Old, oldPrograms}, {p.New, newPrograms}} {
		for _, name := range c.programs {
			if _, err := os.Stat(c.Program(name)); err != nil {
				refused = append(refused, engine.Refusal{What: c.Program(name) + " is missing", Instead: p.layout().install(c.Version)})
				break
			}
		}
	}
	if slices.ContainsFunc(all, func(c foundCluster) bool { return c.version == p.New.Version && c.name == p.Name }) {
		refused = append(refused, engine.Refusal{
			What:    fmt.Sprintf("the cluster %s is there already, in %s", instance(p.New.Version, p.Name), p.New.Data),
			Instead: "if it is an empty one, such as a package has made, remove it: " + p.layout().drop(p.New, p.Name) + "; else give it another place",
		})
	}
	for _, dir := range slices.Compact([]string{p.New.Config, p.New.Data}) {
		if _, err := os.Lstat(dir); err == nil && len(refused) == 0 && (dir != p.New.Data || !p.Brought) {
			refused = append(refused, engine.Refusal{What: dir + " is there already", Instead: "see what it holds, and move it away"})
		}
	}
	if mounted, err := engine.MountPoint(p.New.Data); mounted || err != nil {
		refused = append(refused, engine.Refusal{What: p.New.Data + " is where a file system is mounted, and would be removed on the way back", Instead: "mount it on the folder above"})
	}
	if old.status != "online" {
		start := strings.Join(p.layout().serve("start", p.Old, p.Name).Args, " ")
		refused = append(refused, engine.Refusal{What: fmt.Sprintf("the cluster %s is not online but %s", instance(old.version, old.name), old.status), Instead: start + "; of a replica upgrade the primary and make the replica again"})
	}
	return refused.Err()
}
