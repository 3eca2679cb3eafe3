package postgresql

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// archiving is what to know where a cluster's log of changes is kept elsewhere.
const archiving = "WAL is archived: the new cluster begins another log, by another identifier. Base backups and archives of the old one don't restore it: tell the backup program of the new version (such as pgbackrest stanza-upgrade), and make a new base backup when clients are back"

// Afterwards says where all is, and when it may go. Commands are in backquotes, as a
// shell reads them.
func (p *Upgrade) Afterwards(h *engine.Host) []string {
	if p.Distribution != nil {
		return p.Distribution.Afterwards(h)
	}
	g := &pgRun{h, p}
	lines := append([]string{fmt.Sprintf("PostgreSQL %s serves port %d: %s, data in %s", p.New.Version, p.Port, p.called(p.New), p.New.Data)}, session.Resorted(h)...)
	lines = append(lines,
		fmt.Sprintf("the old cluster is in %s as it was, stopped. The way back to it: `svc db upgrade --backup-dir %s --roll-back --confirm`; what was written since is said then, and the new cluster set aside as %s", p.Old.Data, engine.Quoted(h.Backup), p.aside()),
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
		"`rm -r " + engine.Quoted(g.Backup) + "`",
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
		strings.Join(of, ", "), g.p.Owner, g.p.New.Client("psql"), engine.Quoted(g.p.Socket), g.p.Port, g.p.Superuser, engine.Quoted(name))}
}
