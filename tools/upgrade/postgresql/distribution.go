package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"svc/assess/datadir"
	"svc/tools/database"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/postgresql/session"
	"svc/tools/upgrade/safefile"
)

// Where these packages have things.
const (
	pgUnit       = "postgresql.service"
	pgData       = "/var/lib/pgsql/data"
	pgBin        = "/usr/bin"
	pgOldBin     = "/usr/lib64/pgsql/postgresql-%s/bin"
	pgExtensions = "/usr/share/pgsql/extension"
)

// pgOldest is the first version that has what svc asks with.
const pgOldest database.Version = "9.4"

// pgAsked is the file with what the old server said of its cluster.
const pgAsked = "asked.json"

// made is where pg_upgrade makes the new cluster.
func (m *pgDistribution) made() string { return m.Data + ".svc-made" }

// lookDistribution looks at the cluster of the distribution's own packages: no
// other layout is here.
func (p *Upgrade) lookDistribution(ctx context.Context, h *engine.Host, in engine.Request) (err error) {
	m := &pgDistribution{Directory: inplace.Directory{
		Data: pgData, Account: "postgres", Names: []string{"postgres", "postmaster"}, Program: filepath.Join(pgBin, "postgres"), Quit: unix.SIGINT,
	}}
	if engine.SystemdRuns() {
		if m.Data, err = pgDataOf(ctx, h, pgUnit, m.Data); err != nil {
			return err
		}
	}
	if !isCluster(m.Data) {
		return engine.Refusef("what is elsewhere: svc db upgrade-path says how",
			"this host has no cluster in the layout of Debian's postgresql-common, none in that of PostgreSQL's own packages for Red Hat and the like (/usr/pgsql-13, with postgresql-13.service), and none in that of Red Hat's (%s, with %s)", m.Data, pgUnit)
	}
	if err := m.look(ctx, h, in); err != nil {
		return err
	}
	p.Distribution = m
	return nil
}

// look reads the cluster's files; no server is run on them.
func (m *pgDistribution) look(ctx context.Context, h *engine.Host, in engine.Request) error {
	if in.Instance != "" {
		return engine.Refusef("leave --instance away", "the distribution's own packages have one cluster")
	}
	says, err := inplace.StatementOf("postgresql", m.Data)
	if err != nil {
		return err
	}
	if err := m.versions(ctx, h, in, says.Version); err != nil {
		return err
	}
	if err := m.Directory.FindOut(h); err != nil {
		return err
	}
	if err := m.refuse(says); err != nil {
		return err
	}
	if err := engine.Enterable(ctx, h, m.Account); err != nil {
		return err
	}
	m.Headroom = m.Bytes/4 + 512<<20 // an empty cluster, indexes that are made again, and their log
	m.Command = []string{m.Program, "-D", m.Data}
	if m.Runs = engine.Enabled(ctx, h, pgUnit); m.Runs {
		m.Unit = pgUnit
	}
	return m.address(ctx, h)
}

// pgVersions are where the programs of two releases are.
func pgVersions(from, to string) (older, newer session.Cluster) {
	return session.Cluster{Version: from, Bin: fmt.Sprintf(pgOldBin, from), Clients: pgBin}, session.Cluster{Version: to, Bin: pgBin}
}

// versions finds which release wrote the data, and which is installed.
func (m *pgDistribution) versions(ctx context.Context, h *engine.Host, in engine.Request, from string) error {
	m.Old, m.New = pgVersions(from, string(in.To.Version))
	if !engine.Safe.MatchString(from + m.Data) {
		return engine.Refusef("move it to "+pgData, "%s has signs in its name that a shell would not read as they are", m.Data)
	}
	out, err := h.Run(ctx, engine.Command{Args: []string{m.Program, "--version"}})
	installed := strings.TrimPrefix(strings.TrimSpace(out), "postgres (PostgreSQL) ")
	if err == nil && strings.HasPrefix(installed+".", from+".") {
		others, err := m.others()
		switch {
		case err != nil:
			return fmt.Errorf("what else has its server from %s can't be told: %w", m.Program, err)
		case len(others) > 0:
			return engine.Refusef("have these served by programs of their own first, as in a container, or remove them",
				"the distribution's own packages have one release at a time, and these have their server from them too, and would not start again once PostgreSQL %s is installed: %s", in.To.Version, strings.Join(others, ", "))
		}
		return engine.Refusef(fmt.Sprintf("install that of %[1]s, which leaves the data as they are: systemctl stop postgresql; dnf module switch-to postgresql:%[1]s; dnf install postgresql-server postgresql-contrib postgresql-upgrade", in.To.Version),
			"the server that is installed is still that of the data, PostgreSQL %s, and the distribution's own packages have one at a time", from)
	}
	if v, ok := database.ParseVersion(from); ok && v.Compare(pgOldest) < 0 {
		return engine.Refusef("copy the data elsewhere, and use the distribution's own way: postgresql-setup --upgrade", "svc asks servers from PostgreSQL %s on, and the data are of %s", pgOldest, from)
	}
	err = errors.Join(missing(m.Old, "dnf install postgresql-upgrade, which has the old release's server", "postgres", "pg_ctl", "pg_controldata"),
		missing(m.New, "dnf install postgresql-server postgresql-contrib postgresql-upgrade", newPrograms...))
	if err != nil {
		return err
	}
	return m.Between(in, "postgresql", from, "postgresql", installed)
}

// others are what else on the host has its server from the installed packages: clusters
// that are served, and units, also stopped ones.
func (m *pgDistribution) others() ([]string, error) {
	running, err := servedBy(m.Program, m.Data)
	if err != nil {
		return nil, err
	}
	units, err := unitsOf(unitFolders, distributionUnit)
	return append(running, units...), err
}

// distributionUnit reports whether a unit is another than that of the packages, and its
// server theirs; also an instance of their template, to which postgresql-setup adds
// where its data are.
func distributionUnit(unit, text string) bool {
	template := "postgresql@.service"
	if unit == pgUnit || unit == template {
		return false
	}
	return strings.HasPrefix(unit, "postgresql@") || strings.Contains(text, pgBin+"/postgres ") || strings.Contains(text, pgBin+"/postmaster ") || strings.Contains(text, pgBin+"/pg_ctl ")
}

// servedBy are the clusters that servers of a program run on, but for one.
func servedBy(program, but string) (clusters []string, err error) {
	err = eachFrom(filepath.Dir(program), func(proc, found string) {
		cwd := filepath.Join(proc, "cwd")
		data, err := os.Readlink(cwd)
		if err != nil || found != program || engine.SameDir(cwd, but) {
			return
		}
		if name := "the cluster in " + data; !slices.Contains(clusters, name) {
			clusters = append(clusters, name)
		}
	})
	return clusters, err
}

// missing refuses a cluster of which a program is not installed.
func missing(c session.Cluster, install string, programs ...string) error {
	for _, name := range programs {
		if _, err := os.Stat(c.Program(name)); err != nil {
			return engine.Refusef(install, "%s is missing", c.Program(name))
		}
	}
	return nil
}

// refuse says what of the cluster's files stands in the way.
func (m *pgDistribution) refuse(says datadir.Statement) error {
	var refused engine.Refusals
	if m.Runs {
		refused = append(refused, engine.Refusal{What: "a server runs on " + m.Data + ", whose program is no longer installed: once stopped, svc could not start it again", Instead: "stop it yourself: systemctl stop postgresql"})
	} else if says.State != "shut down" {
		refused = append(refused, engine.Refusal{
			What:    fmt.Sprintf("the cluster was not shut down in order, but is %q", says.State),
			Instead: fmt.Sprintf("have the old server do it: runuser -u %s -- sh -c '%[2]s -D %[3]s -w start && %[2]s -D %[3]s stop'", m.Account, m.Old.Program("pg_ctl"), m.Data),
		})
	}
	for _, role := range says.Replication {
		refused = append(refused, engine.Refusal{What: "the cluster is a " + role, Instead: "upgrade the primary, drop the slots, and make replicas again"})
	}
	for _, d := range says.Databases {
		for _, e := range d.Extensions {
			if r := lacks(d.Name, e.Name, m.New.Version, m.control("", e.Name)); r != nil {
				refused = append(refused, *r)
			}
		}
	}
	if _, err := os.Lstat(m.made()); err == nil {
		refused = append(refused, engine.Refusal{What: m.made() + " is there, of an earlier upgrade", Instead: "remove it, or move it elsewhere, when it is no longer wanted"})
	}
	return refused.Err()
}

// control is the file by which the installed release knows an extension.
func (m *pgDistribution) control(_, extension string) string {
	return filepath.Join(pgExtensions, extension+".control")
}

// address asks the old server's configuration where clients reach it, by another
// name of the data's directory: where the configuration gives it one, that of a
// copy would lead to the data themselves.
func (m *pgDistribution) address(ctx context.Context, h *engine.Host) (err error) {
	data := filepath.Join("/proc/self/root", m.Data)
	says := func(setting string) string {
		out, e := h.Run(ctx, engine.Command{User: m.Account, Args: []string{m.Old.Program("postgres"), "-D", data, "-C", setting}})
		err = errors.Join(err, e)
		return strings.TrimSpace(out)
	}
	m.Port, _ = strconv.Atoi(says("port"))
	m.Socket, _, _ = strings.Cut(says("unix_socket_directories"), ",")
	named := says("data_directory") != data
	switch {
	case err != nil:
		return engine.Refusef("mend what it names", "the old server does not take its configuration: %v", err)
	case named:
		return engine.Refusef("take it out: the unit says where the data are", "the configuration sets data_directory")
	}
	return nil
}

// recheck makes the places of programs anew from the versions.
func (m *pgDistribution) recheck() error {
	m.Old, m.New = pgVersions(m.Old.Version, m.New.Version)
	m.Command = []string{m.Program, "-D", m.Data}
	if !engine.Safe.MatchString(m.Old.Version + m.New.Version + m.Data) {
		return engine.Differs("%q is no way of versions in %q", m.Old.Version+" → "+m.New.Version, m.Data)
	}
	return m.Still(filepath.Join(pgBin, "postgres"))
}

func (m *pgDistribution) About() engine.About {
	return m.Describe(pgMethod, "", []string{
		fmt.Sprintf("after a roll-back the data are as they are now, which the installed release does not serve: what brings PostgreSQL %s's service back is `dnf module switch-to postgresql:%[1]s; systemctl start postgresql`, or where that release has no module, as the first of an EL 9, `dnf module reset postgresql; dnf distro-sync postgresql 'postgresql-*'; systemctl start postgresql`", m.Old.Version),
		"indexes on text are made again where the new server's library has another version than the one by which they were sorted",
	})
}

func (m *pgDistribution) Steps(h *engine.Host) []engine.Step {
	m.host = h
	g := m.run(h)
	steps := m.Exchange(h, m)
	for i, s := range steps {
		switch s.Name {
		case "verify":
			steps[i].Does = "restores the backup beside the data, has the old server run on it in private, and takes stock"
		case "upgrade":
			steps[i].Does = "makes a new cluster, has pg_upgrade move the restored copy into it, takes stock again, and compares"
		case "exchange":
			steps[i].Do = func(ctx context.Context) error { return errors.Join(s.Do(ctx), h.Relabel(ctx, m.Data)) }
		}
		if s.Name == "exchange" {
			steps[i].Undo = func(ctx context.Context) error {
				return errors.Join(s.Undo(ctx), newCluster{g}.readableAt(m.UndonePath()))
			}
		}
		if s.Name == "verify" || s.Name == "upgrade" {
			steps[i].Undo = func(ctx context.Context) error { return errors.Join(os.RemoveAll(m.made()), s.Undo(ctx)) }
		}
	}
	return g.settledAll(steps)
}

func (m *pgDistribution) Afterwards(h *engine.Host) []string {
	return append(m.Advise(h, fmt.Sprintf("look at it: psql -p %d; what the extensions' own scripts say is in %s", m.Port, h.Path("pg_upgrade"))), session.Resorted(h)...)
}

// run is the way of the copy into the new cluster.
func (m *pgDistribution) run(h *engine.Host) *pgRun {
	p := &Upgrade{Owner: m.Account, Answers: Answers{Superuser: m.Account}, Old: m.Old.At(m.Next()), New: m.New.At(m.made()), Port: m.Port, Socket: m.Socket}
	return &pgRun{h, p}
}

// informed is a run that knows what the old server said.
func (m *pgDistribution) informed(h *engine.Host) (*pgRun, error) {
	g := m.run(h)
	return g, h.ReadFile(pgAsked, &g.p.Answers)
}

// Settle does nothing: no server runs.
func (m *pgDistribution) Settle(context.Context, *engine.Host) error { return nil }

// Unsettle does nothing, either.
func (m *pgDistribution) Unsettle(context.Context, *engine.Host) error { return nil }

// Stock takes the checksums of a cluster, by the server that it is of; the old
// one says first what is to be known of it.
func (m *pgDistribution) Stock(ctx context.Context, h *engine.Host, dir string) (has inplace.Stock, err error) {
	version, _, err := safefile.Read(filepath.Join(dir, "PG_VERSION"), 100)
	if err != nil {
		return nil, err
	}
	old := strings.TrimSpace(string(version)) == m.Old.Version
	g, c := m.run(h), m.Old.At(dir)
	if !old {
		g, err = m.informed(h)
		c = m.New.At(dir)
	}
	if err != nil {
		return nil, err
	}
	if !old {
		return g.prove(ctx, c)
	}
	err = g.with(ctx, c, false, func(ctx context.Context, s session.Session) error {
		if err := m.ask(ctx, g, s); err != nil {
			return err
		}
		has, err = s.Fingerprint(ctx, g.p.Databases)
		return err
	})
	return has, err
}

// ask has the old server, on the restored copy, say what stands in the way, and
// what the new cluster has to be like.
func (m *pgDistribution) ask(ctx context.Context, g *pgRun, s session.Session) error {
	err := g.ask(ctx, s, m.control)
	if err = errors.Join(err, s.KeepOrders(ctx, g.p.Databases)); err != nil {
		return err
	}
	return g.WriteFile(pgAsked, g.p.Answers)
}

// Convert makes the new cluster from a copy, which it takes the place of.
func (m *pgDistribution) Convert(ctx context.Context, h *engine.Host, dir string) error {
	g, err := m.informed(h)
	if err != nil {
		return err
	}
	c := g.p.New
	if err := errors.Join(os.RemoveAll(c.Data), engine.MakeFolderAs(m.Account, c.Data, 0o700)); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return g.initdb(ctx, c) },
		func(ctx context.Context) error { return configuration{g}.configure(ctx, c) },
		func(ctx context.Context) error { return g.pgUpgrade(ctx, g.p.Old, c, "--link") }, // the copy is of no use to others
		g.index,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(dir), os.Rename(c.Data, dir))
}

// Written compares the new cluster with what it was when svc alone had been in it.
func (m *pgDistribution) Written(ctx context.Context, h *engine.Host) (engine.Written, error) {
	p := &Upgrade{Owner: m.Account, Answers: Answers{Superuser: m.Account}, New: m.New.At(m.Data), Port: m.Port, Socket: m.Socket, Aside: m.UndonePath()}
	g := &pgRun{h, p}
	w := engine.Written{Kept: p.aside(), Commands: newCluster{g}.dumpKept()}
	if !m.Is(m.Kept()) {
		return w, nil // the old data are in their place
	}
	var err error
	w.Signs, err = newCluster{g}.signs(ctx)
	return w, err
}

func (m *pgDistribution) Same(before, after inplace.Stock) error {
	return inplace.Differences("the upgraded copy", before, after)
}

// Answers asks whether the server takes clients.
func (m *pgDistribution) Answers(ctx context.Context) error {
	g := m.run(m.host)
	return g.session(m.New, m.Socket, m.Port, m.Account).Ready(ctx)
}
