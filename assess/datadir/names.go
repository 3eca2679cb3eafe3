package datadir

import (
	"slices"
	"strings"

	"svc/assess/host"
)

// Names are the databases within a server, by its files, sorted; those of the
// server's own are left out. It is nil where the files do not say.
func Names(fsys host.FS, src Source) (names []string) {
	r := &reader{fsys, Inside(src.Directory), &Statement{}}
	switch {
	case r.dir == wholeDisk:
	case src.Engine == "postgresql":
		names = r.clusterNames()
	case src.Engine == "mysql" || src.Engine == "mariadb":
		names = r.schemaNames()
	}
	slices.Sort(names)
	return names
}

func (r *reader) clusterNames() []string {
	c := r.cluster()
	if !c.readControl() {
		return nil
	}
	rows := c.tableOfDatabases()
	if len(rows) == 0 {
		return nil // every cluster has some
	}
	names := []string{}
	for _, t := range rows {
		d, _ := c.database(t, c.layout())
		if d.Name != "" && d.Name != "postgres" && !strings.HasPrefix(d.Name, "template") && len(names) < maxDatabases {
			names = append(names, d.Name)
		}
	}
	return names
}

func (r *reader) schemaNames() []string {
	if !r.isFolder("mysql") && !r.exists("mysql.ibd") {
		return nil
	}
	names := []string{}
	for _, folder := range r.schemas() {
		if len(names) < maxDatabases {
			names = append(names, schemaName(folder))
		}
	}
	return names
}
