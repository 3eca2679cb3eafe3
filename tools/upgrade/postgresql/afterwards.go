package postgresql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/tools/upgrade/job"
	"svc/tools/upgrade/postgresql/session"
	"svc/tools/upgrade/safefile"
)

// archiving is what to know where a cluster's log of changes is kept elsewhere.
const archiving = "WAL is archived: the new cluster begins another log, by another identifier. Base backups and archives of the old one don't restore it: tell the backup program of the new version (such as pgbackrest stanza-upgrade), and make a new base backup when clients are back"

// Afterwards says where all is, and when it may go. Commands are in backquotes, as a
// shell reads them.
func (p *Job) Afterwards(h *job.Host) []string {
	if p.Distribution != nil {
		return p.Distribution.Afterwards(h)
	}
	g := &pgRun{h, p}
	lines := append([]string{fmt.Sprintf("PostgreSQL %s serves port %d: %s, data in %s", p.New.Version, p.Port, p.called(p.New), p.New.Data)}, session.Resorted(h)...)
	lines = append(lines,
		fmt.Sprintf("the old cluster is in %s as it was, stopped. The way back to it: `svc db upgrade --backup-dir %s --roll-back --confirm`; what was written since is said then, and the new cluster set aside as %s", p.Old.Data, job.Quoted(h.Backup), p.aside()),
		fmt.Sprintf("a copy of the old cluster, from when this began, is in %s: it was upgraded in the rehearsal, and a server of PostgreSQL %s reads it", h.Path("copy", "data"), p.Old.Version))
	lines = append(lines, g.extensions()...)
	if p.Archives {
		lines = append(lines, archiving)
	}
	if p.LogBefore != "" {
		lines = append(lines, fmt.Sprintf("the log of an earlier cluster is kept as %s", p.LogBefore))
	}
	return append(lines, g.cleaning()...)
}

// cleaning are the commands that remove what is of no use when nobody wants to go
// back. The version's package stays as long as something else of it is there.
func (g *pgRun) cleaning() []string {
	p := g.p
	lines := []string{
		"programs and people should have a look first. When nobody wants to go back, after some days:",
		"`" + p.layout().drop(p.Old, p.Name) + "`",
		"`rm -r " + job.Quoted(g.Backup) + "`",
	}
	users, err := g.users()
	switch {
	case err != nil:
		return append(lines, fmt.Sprintf("leave the packages of PostgreSQL %s: what uses them can't be told: %v", p.Old.Version, err))
	case len(users) > 0:
		return append(lines, fmt.Sprintf("leave the packages of PostgreSQL %s, which are in use: %s", p.Old.Version, strings.Join(users, ", ")))
	}
	return append(lines, "`"+p.layout().uninstall(p.Old.Version)+"`")
}

// users are what else on the host uses the old version's programs: clusters, also
// stopped ones, processes, and units of systemd.
func (g *pgRun) users() ([]string, error) {
	p := g.p
	all, err := p.layout().find(context.Background(), g.Host)
	if err != nil {
		return nil, err
	}
	var users []string
	for _, c := range all {
		if c.version == p.Old.Version && c.name != p.Name {
			users = append(users, "the cluster "+instance(c.version, c.name))
		}
	}
	running, err := runningFrom(p.Old.Bin)
	if err != nil {
		return nil, err
	}
	units, err := unitsOf(unitFolders, func(unit, text string) bool {
		return strings.Contains(text, p.Old.Bin+"/") && !p.layout().own(unit, p.Old.Version)
	})
	return append(append(users, running...), units...), err
}

// runningFrom are the processes of programs of a folder of this host.
func runningFrom(bin string) (users []string, err error) {
	err = eachFrom(bin, func(proc, program string) {
		users = append(users, fmt.Sprintf("process %s, of %s", filepath.Base(proc), program))
	})
	return users, err
}

// eachFrom visits the processes, each by its folder below /proc and its program, that run
// a program of a folder of this host.
func eachFrom(bin string, visit func(proc, program string)) error {
	here, err := os.Stat("/")
	if err != nil {
		return err
	}
	programs, err := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range programs {
		proc := filepath.Dir(link)
		if program, err := os.Readlink(link); err == nil && runsFrom(proc, program, bin, here) {
			visit(proc, program)
		}
	}
	return err
}

// runsFrom reports whether a process runs a program of a folder below a root, also one
// whose file was replaced since. Where the process has another root, as in a container,
// a program by that name is most often a file of its own, and not the folder's.
func runsFrom(proc, program, bin string, here os.FileInfo) bool {
	if !strings.HasPrefix(program, bin+"/") {
		return false
	}
	root, err := os.Stat(filepath.Join(proc, "root"))
	if err != nil { // it has ended, unless it still has a program
		_, err := os.Readlink(filepath.Join(proc, "exe"))
		return err == nil
	}
	return os.SameFile(root, here) || job.SameProgram(proc, program)
}

// unitFolders are where systemd has units.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// maxUnit bounds a unit's file.
const maxUnit = 1 << 20

// unitsOf are the units in some folders that use what is meant, by name and text of
// themselves or what is added to them.
func unitsOf(folders []string, uses func(unit, text string) bool) (users []string, err error) {
	for _, folder := range folders {
		names, e := filepath.Glob(filepath.Join(folder, "*.service"))
		err = errors.Join(err, e)
		drops, e := filepath.Glob(filepath.Join(folder, "*.service.d", "*.conf"))
		err = errors.Join(err, e)
		for _, name := range append(names, drops...) {
			text, _, e := safefile.Read(name, maxUnit)
			unit := strings.TrimSuffix(filepath.Base(strings.TrimSuffix(name, "/"+filepath.Base(name))), ".d")
			if filepath.Ext(name) == ".service" {
				unit = filepath.Base(name)
			}
			if e == nil && uses(unit, string(text)) && !slices.Contains(users, "the unit "+unit) {
				users = append(users, "the unit "+unit)
			}
		}
	}
	return users, err
}

// extensions say which extensions pg_upgrade has left at an older version, and what
// brings them to that of their packages.
func (g *pgRun) extensions() []string {
	name := g.Path("pg_upgrade", "update_extensions.sql")
	text, err := g.text(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []string{fmt.Sprintf("whether extensions want to be brought to a newer version can't be told: %v", err)}
	}
	var of []string
	for _, d := range g.p.Databases {
		if strings.Contains(text, `\connect `+d.Name+"\n") || strings.Contains(text, `dbname='`) && strings.Contains(text, d.Name) {
			of = append(of, fmt.Sprintf("%q", d.Name))
		}
	}
	return []string{fmt.Sprintf("extensions of %s are still in the old version's form: `runuser -u %s -- %s -X -h %s -p %d -U %s -d template1 -f %s`",
		strings.Join(of, ", "), g.p.Owner, g.p.New.Client("psql"), job.Quoted(g.p.Socket), g.p.Port, g.p.Superuser, job.Quoted(name))}
}
