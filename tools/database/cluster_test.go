package database

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

func TestDebianCluster(t *testing.T) {
	cluster := func(name, dir string, port int, evidence string) assess.Database {
		return assess.Database{Engine: "postgresql", Name: name, Directory: dir, Port: port, Evidence: assess.Evidence{Path: evidence}}
	}
	own := cluster("pgsql", "/var/lib/pgsql/data", 5432, "/var/lib/pgsql/data/PG_VERSION")
	moved := cluster("pgsql", "/var/lib/pgsql/data", 5433, "/var/lib/pgsql/data/PG_VERSION")
	scl := cluster("pgsql", "/var/opt/rh/rh-postgresql96/lib/pgsql/data", 5432, "/var/opt/rh/rh-postgresql96/lib/pgsql/data/PG_VERSION")
	pgdg := cluster("13", "/var/lib/pgsql/13/data", 5434, "/var/lib/pgsql/13/data/PG_VERSION")
	debian := cluster("main", "/var/lib/postgresql/15/main", 5432, "/etc/postgresql/15/main/postgresql.conf")
	reports := cluster("reports", "/srv/pg", 5433, "/etc/postgresql/15/reports/postgresql.conf")
	for _, c := range []struct {
		all  []assess.Database
		want []string
	}{
		{[]assess.Database{{Engine: "redis", Name: "redis", Port: 5432}, own}, []string{"redis", "main"}},
		{[]assess.Database{moved}, []string{"pgsql"}}, // its clients name the port
		{[]assess.Database{moved, scl, pgdg}, []string{"pgsql-5433", "main", "13"}},
		{[]assess.Database{own, scl}, []string{"main", "pgsql-5432"}},
		{[]assess.Database{debian, reports, scl}, []string{"main", "reports", "pgsql"}},
	} {
		t.Run("", func(t *testing.T) {
			is := is.New(t)
			for i, d := range c.all {
				is.Equal(DebianCluster(c.all, d), c.want[i])
			}
		})
	}
}
