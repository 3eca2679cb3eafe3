// Package postgresql upgrades clusters of PostgreSQL with pg_upgrade, rehearsed on a
// copy, in the layouts of Debian, of PostgreSQL's own packages and of Red Hat.
package postgresql

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/postgresql/session"
)

// Upgrade is a cluster on its way: pg_upgrade copies it into a new one, and
// the old one stays where it is, stopped.
type Upgrade struct {
	Layout   string // of the host: one of layouts
	Name     string // of the cluster: main; empty where a version has one
	Owner    string // account that it runs as
	Old, New session.Cluster
	Answers
	Port      int
	Socket    string // folder of its public socket
	Start     string // how it starts at a boot, in the layout's words
	Bytes     int64  // of the data, without the log of transactions
	Relations int64  // tables, indexes and what else has a file, of all databases
	Online    bool   // the server gives a copy while it serves
	Offline   string `json:",omitzero"` // why it does not
	engine.Paces
	Clone       bool     // the file system lets the new cluster share blocks with the old one
	CloneBackup bool     // and that of the backup directory two copies there
	Absent      []string // directories that the new cluster brings, the innermost first
	Brought     bool     // the directory of its data is there, empty: its package brings it
	Aside       string   // where a new cluster goes that clients may have written to
	Log         string   `json:",omitzero"` // the file that the new cluster's log will be
	LogBefore   string   `json:",omitzero"` // the name of one that is there, meanwhile
	Archives    bool     // its log of changes is kept elsewhere
	// Distribution is the cluster of a distribution that has one, in place of all else.
	Distribution *pgDistribution `json:",omitzero"`
}

// Answers are what a running server says of its cluster, and of how to serve it.
type Answers struct {
	Superuser string   // the role that initdb made
	Initdb    []string // what a cluster of the same form is made with
	Databases []session.Database
	Locks     int64 // that a transaction may have, for all relations of the largest database
	Alone     bool  `json:",omitzero"` // it loads no library that could have workers of its own
}

// pgDistribution is the one cluster of Red Hat's own packages and their like: its
// programs are in /usr/bin, its data in /var/lib/pgsql/data. Once the new release
// is installed, the old one's server is left in the package postgresql-upgrade,
// without the programs of clients and what makes a cluster, and its service is gone.
// So the backup is one of files; the old server runs on what is restored from it
// alone, and pg_upgrade makes the cluster that takes the data's place from that.
type pgDistribution struct {
	inplace.Directory
	Old, New session.Cluster // without a place
	Port     int
	Socket   string // folder of the public socket

	host *engine.Host
}

const (
	// pgMethod is the way that is taken.
	pgMethod = "pg_upgrade, copying"
	// pgPort is in the names of these sockets.
	pgPort = 50432
)

func (p *Upgrade) layout() layout { return layouts[p.Layout] }

// inData reports whether the configuration is among the data.
func (p *Upgrade) inData() bool { return p.Old.Config == p.Old.Data }

// called is how a cluster is called.
func (p *Upgrade) called(c session.Cluster) string { return instance(c.Version, p.Name) }

// aside is where a new cluster goes that clients may have written to.
func (p *Upgrade) aside() string { return cmp.Or(p.Aside, p.New.Data+".rolled-back") }

// isCluster reports whether a directory has a cluster's files.
func isCluster(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "PG_VERSION"))
	return err == nil
}

// pgRun is a cluster's way on a host.
type pgRun struct {
	*engine.Host
	p *Upgrade
}

// as is a program that the cluster's account runs.
func (g *pgRun) as(args ...string) engine.Command { return engine.Command{User: g.p.Owner, Args: args} }

// session asks a server of the cluster's.
func (g *pgRun) session(c session.Cluster, socket string, port int, role string) session.Session {
	return session.Session{Host: g.Host, Account: g.p.Owner, Oldest: g.p.Old.Major(), Cluster: c, Socket: socket, Port: port, Role: role}
}

// do runs a program for what it does.
func (g *pgRun) do(ctx context.Context, c engine.Command) error {
	_, err := g.Run(ctx, c)
	return err
}

// text reads a file of the cluster's account.
func (g *pgRun) text(name string) (string, error) {
	b, _, err := engine.ReadAs(g.p.Owner, name, engine.MaxOutput)
	return string(b), err
}

// folder makes an empty folder of the cluster's account in the backup directory.
func (g *pgRun) folder(name string) (string, error) {
	dir := g.Path(name)
	return dir, errors.Join(os.RemoveAll(dir), engine.MakeFolderAs(g.p.Owner, dir, 0o700))
}

// remove is a step's undoing: that of what it has made in the backup directory.
func (g *pgRun) remove(names ...string) func(context.Context) error {
	return func(context.Context) (err error) {
		for _, name := range names {
			err = errors.Join(err, os.RemoveAll(g.Path(name)))
		}
		return err
	}
}

// kept reports whether a step has kept a file.
func (g *pgRun) kept(name string) bool {
	_, err := os.Stat(g.Path(name))
	return err == nil
}

// maxControl bounds a control file, which has 8 KiB.
const maxControl = 64 << 10

// control is the digest of the old cluster's control file, which a server writes
// whenever it starts and stops.
func (g *pgRun) control() (string, error) {
	b, _, err := engine.ReadAs(g.p.Owner, filepath.Join(g.p.Old.Data, "global", "pg_control"), maxControl)
	return fmt.Sprintf("%x", sha256.Sum256(b)), err
}

// touched keeps how the old cluster was left by a step that had its server run.
func (g *pgRun) touched(name string) error {
	digest, err := g.control()
	if err != nil {
		return fmt.Errorf("reading the control file: %w", err)
	}
	return g.WriteFile(name, digest)
}

// untouched reports whether no server has run on the old cluster since the step
// that kept a file, or since it was copied.
func (g *pgRun) untouched(name string) func(context.Context) bool {
	return func(context.Context) bool {
		digest, err := g.control()
		return err == nil && slices.ContainsFunc([]string{name, "upgrade.json"}, func(name string) bool {
			var left string
			return g.ReadFile(name, &left) == nil && left == digest
		})
	}
}

// beside is a cluster in a folder of the backup directory, in the form of one of
// the host.
func (g *pgRun) beside(c session.Cluster, name string) session.Cluster {
	dir := g.Path(name)
	c.Data, c.Config = filepath.Join(dir, "data"), filepath.Join(dir, "config")
	if g.p.inData() {
		c.Config = c.Data
	}
	return c
}

func (g *pgRun) copyOf() session.Cluster    { return g.beside(g.p.Old, "copy") }
func (g *pgRun) rehearsal() session.Cluster { return g.beside(g.p.New, "rehearsal") }
func (g *pgRun) emptyNew() session.Cluster  { return g.beside(g.p.New, "check") }

// makeBeside makes the folder of a cluster that is beside, and that of its configuration.
func (g *pgRun) makeBeside(c session.Cluster) error {
	_, err := g.folder(filepath.Base(filepath.Dir(c.Data)))
	if err != nil || c.Config == c.Data {
		return err
	}
	return engine.MakeFolderAs(g.p.Owner, c.Config, 0o700)
}
