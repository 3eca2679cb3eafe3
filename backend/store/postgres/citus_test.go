package postgres_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"svc/backend/store"
	"svc/backend/store/postgres"
	"svc/backend/store/storetest"
)

// newCitus is the address of a new empty database that Citus spreads over the servers of
// the coordinator that SVC_TEST_CITUS names.
func newCitus(t testing.TB) string {
	t.Helper()
	is := is.New(t)
	coordinator := os.Getenv("SVC_TEST_CITUS")
	if coordinator == "" {
		t.Skip("SVC_TEST_CITUS is not set")
	}
	name := fmt.Sprintf("svc_%d_%d", os.Getpid(), databases.Add(1))
	nodes := nodesOf(t, coordinator)
	for i := range nodes { // the coordinator is the last to lose it
		node := onNode(t, coordinator, nodes[i], "")
		makeTemplate(t, node, onNode(t, coordinator, nodes[i], template))
		is.NoErr(execute(node, "CREATE DATABASE "+name+" TEMPLATE "+template))
		t.Cleanup(func() { is.NoErr(execute(node, "DROP DATABASE "+name+" WITH (FORCE)")) })
		is.NoErr(execute(node, "ALTER DATABASE "+name+" SET citus.shard_count = 4"))
	}
	address := onNode(t, coordinator, nodes[0], name)
	is.NoErr(execute(address, "SELECT citus_set_coordinator_host($1, $2)", nodes[0].host, nodes[0].port))
	for _, n := range nodes[1:] {
		is.NoErr(execute(address, "SELECT citus_add_node($1, $2)", n.host, n.port))
	}
	return address
}

// template is a database that has the extension, whose making takes a second each time; a
// server keeps it.
const template = "svc_template"

func makeTemplate(t testing.TB, server, address string) {
	is := is.New(t)
	switch err := execute(server, "CREATE DATABASE "+template); {
	case err != nil && strings.Contains(err.Error(), "already exists"):
	default:
		is.NoErr(err)
		is.NoErr(execute(address, "CREATE EXTENSION citus"))
		is.NoErr(execute(server, "ALTER DATABASE "+template+" ALLOW_CONNECTIONS false")) // nor a daemon's, while it is copied
		is.NoErr(execute(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", template))
	}
}

// node is a server of Citus.
type node struct {
	host string
	port int
}

// nodesOf are the servers that a coordinator knows, itself first.
func nodesOf(t testing.TB, coordinator string) []node {
	is := is.New(t)
	conn, err := pgx.Connect(t.Context(), coordinator)
	is.NoErr(err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), "SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid")
	is.NoErr(err)
	nodes, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (n node, err error) {
		return n, r.Scan(&n.host, &n.port)
	})
	is.NoErr(err)
	return nodes
}

// onNode is the address of a database on another server than an address says; of the same
// database where it is not named.
func onNode(t testing.TB, address string, n node, database string) string {
	u, err := url.Parse(address)
	is.New(t).NoErr(err)
	u.Host = fmt.Sprintf("%s:%d", n.host, n.port)
	if database != "" {
		u.Path = "/" + database
	}
	return u.String()
}

func TestStoreOnCitus(t *testing.T) {
	storetest.Run(t, func(t *testing.T, o store.Options) store.Store {
		return open(t, newCitus(t), o)
	})
}

func TestStoreOnCitusIsShared(t *testing.T) {
	storetest.RunShared(t, postgres.Open, newCitus(t))
}

func TestStoreOnCitusSurvivesAKill(t *testing.T) {
	storetest.Kill(t, postgres.Open, newCitus(t), 300)
}

// at is how Citus names a server.
func at(n node) string { return fmt.Sprintf("%s:%d", n.host, n.port) }

// timeLater is after all events.
var timeLater = time.Now().AddDate(1, 0, 0)
