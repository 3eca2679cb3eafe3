package postgresql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// layout is how a distribution keeps clusters of PostgreSQL on a host.
type layout interface {
	// find lists the clusters that are here; none where the layout is not this one.
	find(ctx context.Context, h *engine.Host) ([]foundCluster, error)
	// place says where a cluster's things are, and where those of one that is made
	// from it will be.
	place(old foundCluster, to string) (from, new session.Cluster)
	// control is the file by which a version knows an extension.
	control(version, extension string) string
	// starts is how a cluster starts at a boot, and setStart says so.
	starts(ctx context.Context, g *pgRun, c session.Cluster) (string, error)
	setStart(ctx context.Context, g *pgRun, c session.Cluster, how string) error
	// never is how a cluster does not start.
	never() string
	// serve starts or stops a cluster for its clients.
	serve(action string, c session.Cluster, name string) engine.Command
	// create makes the new cluster, empty; log is the file that it has outside its own
	// folders, empty where there is none.
	create(ctx context.Context, g *pgRun) error
	log(version, name string) string
	// install, drop and uninstall are what a person does for a version and a cluster.
	install(version string) string
	drop(c session.Cluster, name string) string
	uninstall(version string) string
	// own reports whether a unit of systemd is the layout's own for a version.
	own(unit, version string) bool
}

// layouts are those that are known, as journals name them.
var layouts = map[string]layout{"debian": debianLayout{}, "pgdg": pgdgLayout{}}

// foundCluster is a cluster of this host.
type foundCluster struct {
	version, name, status, owner, data string
	port                               int
}

// instance is how a cluster is called; where a version has one, by that.
func instance(version, name string) string { return strings.TrimSuffix(version+"/"+name, "/") }

// debianLayout is that of Debian's postgresql-common, which has any number of
// clusters of each version.
type debianLayout struct{}

func (debianLayout) find(ctx context.Context, h *engine.Host) ([]foundCluster, error) {
	out, err := h.Run(ctx, engine.Command{Args: []string{"pg_lsclusters", "-h"}})
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "executable file not found") {
		return nil, err
	}
	return parseClusters(out), nil
}

// parseClusters reads what pg_lsclusters -h prints.
func parseClusters(text string) (all []foundCluster) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 {
			continue
		}
		port, err := strconv.Atoi(f[2])
		if err == nil && engine.Safe.MatchString(f[0]+f[1]+f[5]) {
			all = append(all, foundCluster{version: f[0], name: f[1], port: port, status: f[3], owner: f[4], data: f[5]})
		}
	}
	return all
}

func (debianLayout) place(old foundCluster, to string) (from, new session.Cluster) {
	at := func(version, data string) session.Cluster {
		return session.Cluster{Version: version, Bin: filepath.Join("/usr/lib/postgresql", version, "bin"), Data: filepath.Clean(data), Config: filepath.Join("/etc/postgresql", version, old.name)}
	}
	data := strings.Replace(old.data, "/"+old.version+"/", "/"+to+"/", 1)
	if data == old.data {
		data = filepath.Join("/var/lib/postgresql", to, old.name)
	}
	return at(old.version, old.data), at(to, besideLinked(old, to, data))
}

// besideLinked is the place of new data: where the old ones are behind a link, on
// another disk than the usual place of the new ones, that is beside them there.
func besideLinked(old foundCluster, to, usual string) string {
	behind, err := filepath.EvalSymlinks(old.data)
	if err != nil || behind == filepath.Clean(old.data) {
		return usual
	}
	from, err := engine.DiskOf(behind)
	above, aboveErr := engine.DiskOf(filepath.Dir(behind)) // a disk that is mounted there has no place beside it
	there, thereErr := engine.DiskOf(engine.Existing(usual))
	if errors.Join(err, aboveErr, thereErr) != nil || from.Device == there.Device || from.Device != above.Device {
		return usual
	}
	data := strings.Replace(behind, "/"+old.version+"/", "/"+to+"/", 1)
	if data == behind {
		data += "-" + to
	}
	if !engine.Safe.MatchString(data) {
		return usual
	}
	return data
}

func (debianLayout) control(version, extension string) string {
	return filepath.Join("/usr/share/postgresql", version, "extension", extension+".control")
}

func (debianLayout) starts(_ context.Context, g *pgRun, c session.Cluster) (string, error) {
	return g.text(filepath.Join(c.Config, "start.conf"))
}

func (debianLayout) setStart(ctx context.Context, g *pgRun, c session.Cluster, how string) error {
	if err := (configuration{g}).replace(filepath.Join(c.Config, "start.conf"), func(string) string { return how }); err != nil {
		return err
	}
	return g.Reload(ctx) // systemd makes its units from these files
}

func (debianLayout) never() string { return "manual\n" }

func (debianLayout) serve(action string, c session.Cluster, name string) engine.Command {
	return engine.Command{Args: []string{"pg_ctlcluster", c.Version, name, action}}
}

func (debianLayout) create(ctx context.Context, g *pgRun) error {
	p := g.p
	if err := g.initdbAnew(ctx, p.New); err != nil {
		return err
	}
	return g.do(ctx, engine.Command{Args: []string{"pg_createcluster", "-u", p.Owner, "-d", p.New.Data, "-p", strconv.Itoa(p.Port), "--start-conf", "manual", p.New.Version, p.Name}})
}

func (debianLayout) log(version, name string) string {
	return fmt.Sprintf("/var/log/postgresql/postgresql-%s-%s.log", version, name)
}

// own: Debian's units are of all versions.
func (debianLayout) own(string, string) bool { return false }

func (debianLayout) install(version string) string {
	return fmt.Sprintf("apt-get install postgresql-%s postgresql-client-%s", version, version)
}

func (debianLayout) drop(c session.Cluster, name string) string {
	return fmt.Sprintf("pg_dropcluster --stop %s %s", c.Version, name)
}

// uninstall leaves configuration and data alone, where purging would drop every
// cluster of the version.
func (debianLayout) uninstall(version string) string { return "apt-get remove postgresql-" + version }

// pgdgLayout is that of PostgreSQL's own packages for Fedora, Red Hat and the
// like: each version has a folder, one cluster, and a unit of systemd.
type pgdgLayout struct{}

func (pgdgLayout) unit(version string) string { return "postgresql-" + version + ".service" }

func (pgdgLayout) bin(version string) string { return filepath.Join("/usr/pgsql-"+version, "bin") }

func (l pgdgLayout) find(ctx context.Context, h *engine.Host) (all []foundCluster, err error) {
	programs, err := filepath.Glob(l.bin("*") + "/postgres")
	if err != nil {
		return nil, err
	}
	for _, program := range programs {
		version := strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(program))), "pgsql-")
		c, err := l.found(ctx, h, version)
		if err != nil {
			return nil, err
		}
		if isCluster(c.data) && engine.Safe.MatchString(version+c.data) {
			all = append(all, c)
		}
	}
	return all, nil
}

// found is a version's cluster, as its unit and the files of its server have it.
func (l pgdgLayout) found(ctx context.Context, h *engine.Host, version string) (c foundCluster, err error) {
	c = foundCluster{version: version, status: "down"}
	if c.data, err = pgDataOf(ctx, h, l.unit(version), filepath.Join("/var/lib/pgsql", version, "data")); err != nil {
		return c, err
	}
	info, err := os.Stat(c.data)
	if err != nil {
		return c, nil // it has no cluster
	}
	c.owner = engine.AccountOf(info)
	if server := readPostmaster(c.data); server.pid != 0 {
		c.status, c.port = "online", server.port
	}
	return c, nil
}

func (l pgdgLayout) place(old foundCluster, to string) (from, new session.Cluster) {
	data := strings.Replace(old.data, "/"+old.version+"/", "/"+to+"/", 1)
	if data == old.data {
		data = filepath.Join("/var/lib/pgsql", to, "data")
	}
	return session.Cluster{Version: old.version, Bin: l.bin(old.version)}.At(old.data), session.Cluster{Version: to, Bin: l.bin(to)}.At(data)
}

func (pgdgLayout) control(version, extension string) string {
	return filepath.Join("/usr/pgsql-"+version, "share/extension", extension+".control")
}

func (l pgdgLayout) starts(ctx context.Context, g *pgRun, c session.Cluster) (string, error) {
	if engine.Enabled(ctx, g.Host, l.unit(c.Version)) {
		return "enable", nil
	}
	return l.never(), nil
}

func (l pgdgLayout) setStart(ctx context.Context, g *pgRun, c session.Cluster, how string) error {
	return g.do(ctx, engine.Command{Args: []string{"systemctl", how, l.unit(c.Version)}})
}

func (pgdgLayout) never() string { return "disable" }

func (l pgdgLayout) serve(action string, c session.Cluster, _ string) engine.Command {
	return engine.Command{Args: []string{"systemctl", action, l.unit(c.Version)}}
}

// create makes the cluster where the unit expects it: another place than that of
// the packages is said in the unit.
func (l pgdgLayout) create(ctx context.Context, g *pgRun) error {
	c, err := l.found(ctx, g.Host, g.p.New.Version)
	if err != nil {
		return err
	}
	if c.data != g.p.New.Data {
		return fmt.Errorf("%s has its data in %s, not in %s", l.unit(c.version), c.data, g.p.New.Data)
	}
	return g.initdbAnew(ctx, g.p.New)
}

func (pgdgLayout) log(string, string) string { return "" }

func (l pgdgLayout) own(unit, version string) bool { return unit == l.unit(version) }

func (pgdgLayout) install(version string) string {
	return fmt.Sprintf("dnf install postgresql%[1]s-server postgresql%[1]s-contrib", version)
}

func (l pgdgLayout) drop(c session.Cluster, _ string) string {
	return fmt.Sprintf("systemctl disable --now %s; rm -r %s", l.unit(c.Version), engine.Quoted(c.Data))
}

func (pgdgLayout) uninstall(version string) string {
	return fmt.Sprintf("dnf remove postgresql%s-server", version)
}

// pgDataOf is where a unit of systemd has its data.
func pgDataOf(ctx context.Context, h *engine.Host, unit, usual string) (string, error) {
	out, err := h.Run(ctx, engine.Command{Args: []string{"systemctl", "show", "--value", "--property=Environment", unit}})
	if err != nil {
		return "", engine.Refusef("boot it with systemd, which its packages want", "the units of PostgreSQL can't be asked for: %v", err)
	}
	for word := range strings.FieldsSeq(out) {
		if data, found := strings.CutPrefix(word, "PGDATA="); found {
			usual = filepath.Clean(data)
		}
	}
	return usual, nil
}
