package service_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// citus is a coordinator with its workers.
type citus struct {
	*cluster
	workers []*cluster
}

// newCitus starts a coordinator and two workers, on addresses of the loopback of their
// own. The extension has to be installed, which SVC_TEST_CITUS says.
func newCitus(t testing.TB) *citus { return newCitusOf(t, 2) }

// newCitusOf starts a coordinator and some workers.
func newCitusOf(t testing.TB, workers int) *citus {
	if os.Getenv("SVC_TEST_CITUS") == "" {
		fmt.Println("NOT TESTED on Citus: SVC_TEST_CITUS is not set")
		t.Skip("SVC_TEST_CITUS is not set")
	}
	c := &citus{cluster: citusNode(t)}
	is := is.New(t)
	is.NoErr(c.execute("ALTER SYSTEM SET citus.shard_count = 8"))
	is.NoErr(c.execute("ALTER SYSTEM SET citus.node_connection_timeout = '2s'"))
	is.NoErr(c.execute("SELECT pg_reload_conf()"))
	is.NoErr(c.execute(fmt.Sprintf("SELECT citus_set_coordinator_host('%s', 5432)", c.host)))
	for range workers {
		c.add(t)
	}
	return c
}

func citusNode(t testing.TB) *cluster {
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	c := newCluster(t, append(archived(), "listen_addresses="+host, "shared_preload_libraries=citus,pg_stat_statements", "max_prepared_transactions=400", "wal_level=logical", "citus.local_hostname="+host)...)
	c.host = host
	is.New(t).NoErr(c.execute("CREATE EXTENSION citus"))
	return c
}

// add gives the coordinator one more worker.
func (c *citus) add(t testing.TB) {
	w := citusNode(t)
	is.New(t).NoErr(c.execute(fmt.Sprintf("SELECT citus_add_node('%s', 5432)", w.host)))
	c.workers = append(c.workers, w)
}

// has reports whether a worker has an account.
func (c *citus) has(t testing.TB, worker *cluster, account int) bool {
	found, err := c.column(fmt.Sprintf(`SELECT count(*) FROM pg_dist_shard_placement
		WHERE shardid = get_shard_id_for_distribution_column('accounts', %d::bigint) AND nodename = '%s'`, account, worker.host))
	is.New(t).NoErr(err)
	return found[0] == 1
}

// accountOn makes an account that a worker has.
func (s *service) accountOn(t testing.TB, c *citus, worker *cluster) (token string) {
	for {
		if id, token := s.account(t, "--unlimited"); c.has(t, worker, id) {
			return token
		}
	}
}

// enroll claims a seat beside the load, and gives the status, whether that says when to come again, and
// how long it took.
func (l *load) enroll(t testing.TB, address, token string) (status int, again bool, took time.Duration) {
	is := is.New(t)
	vm := fingerprint()
	l.mu.Lock()
	l.begun[vm]++
	l.mu.Unlock()
	body := `{"vm_fingerprint":"` + vm + `","source":{"distro":"centos","version":"7"}}`
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/enroll", bytes.NewReader([]byte(body)))
	is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	response, err := http.DefaultClient.Do(r)
	is.NoErr(err)
	response.Body.Close()
	if response.StatusCode == http.StatusOK {
		l.mu.Lock()
		l.acked = append(l.acked, operation{fingerprint: vm, claims: true, answer: true})
		l.mu.Unlock()
	}
	return response.StatusCode, response.Header.Get("Retry-After") != "", time.Since(begun)
}

// TestCitusWorkerStops loses a worker under load, killed and frozen: its accounts get
// 503, the others go on, and nothing that was acknowledged is missing.
func TestCitusWorkerStops(t *testing.T) {
	c := newCitus(t)
	s := start(t, strings.ReplaceAll(address(c.cluster), "target_session_attrs=read-write", "target_session_attrs=any"), 2)
	lost, stays := s.accountOn(t, c, c.workers[0]), s.accountOn(t, c, c.workers[1])
	l := s.startLoad(t)
	for how, end := range map[string]struct{ lose, back func() }{
		"killed": {c.workers[0].kill, func() { c.workers[0].start(t) }},
		"stands": {func() { c.workers[0].signal(syscall.SIGSTOP) }, func() { c.workers[0].signal(syscall.SIGCONT) }},
	} {
		time.Sleep(time.Second)
		end.lose()
		time.Sleep(10 * time.Second) // until it is noticed
		goes, refused, slowest := 0, 0, time.Duration(0)
		for i := range 20 {
			status, _, took := l.enroll(t, s.addresses()[i%2], stays)
			if status == http.StatusOK {
				goes++
			}
			slowest = max(slowest, took)
			if status, again, _ := l.enroll(t, s.addresses()[i%2], lost); status == http.StatusServiceUnavailable && again {
				refused++
			}
		}
		check(t, goes == 20, "a worker is %s: %d of 20 claims of accounts on another are answered, the slowest after %v", how, goes, slowest.Round(time.Millisecond))
		check(t, refused == 20, "a worker is %s: %d of 20 claims of its accounts get 503 and when to come again", how, refused)
		check(t, s.replicas[0].ready() == http.StatusOK, "a worker is %s: the service is ready for the others", how)
		end.back()
		heals(t, s, l)
	}
	l.end(t)
	l.only(t, "200", "503")
	l.audit(t, s)
}

// TestCitusRebalance adds a worker under load, and has Citus move shards to it.
func TestCitusRebalance(t *testing.T) {
	c := newCitus(t)
	s := start(t, address(c.cluster), 2)
	l := s.startLoad(t)
	time.Sleep(time.Second)
	c.add(t)
	_, err := c.within(2*time.Minute, "SELECT rebalance_table_shards('accounts', shard_transfer_mode => 'block_writes')")
	is.New(t).NoErr(err)
	moved, err := c.column(fmt.Sprintf("SELECT count(*) FROM pg_dist_shard_placement WHERE nodename = '%s' AND shardid IN (SELECT shardid FROM pg_dist_shard WHERE logicalrelid = 'events'::regclass)", c.workers[2].host))
	is.New(t).NoErr(err)
	check(t, moved[0] > 0, "%d shards of the events moved to a new worker under load", moved[0])
	time.Sleep(time.Second)
	l.end(t)
	l.only(t, "200", "503")
	l.audit(t, s)
}

// TestCitusLastSeats has many clients of three replicas run for an account's last seats.
func TestCitusLastSeats(t *testing.T) {
	s := start(t, address(newCitus(t).cluster), 3)
	for round := range 2 {
		race(t, s, round)
	}
	s.consistent(t)
}

// TestCitusReplicaIsKilled kills a replica under load.
func TestCitusReplicaIsKilled(t *testing.T) {
	s := start(t, address(newCitus(t).cluster), 3)
	l := s.startLoad(t)
	time.Sleep(time.Second)
	s.replicas[0].kill()
	time.Sleep(time.Second)
	l.end(t)
	l.only(t, "200", "503", "connection")
	l.audit(t, s)
}

// TestCitusAnyServer has a replica ask each server of Citus, the workers as well as the
// coordinator: without that the others go on.
func TestCitusAnyServer(t *testing.T) {
	is := is.New(t)
	c := newCitus(t)
	s := start(t, address(c.cluster), 1)
	for _, w := range c.workers {
		s.replicas = append(s.replicas, start(t, address(w), 1).replicas...)
	}
	elsewhere := &service{dsn: address(c.workers[0]), dir: s.dir}
	id, token := elsewhere.account(t, "--unlimited")
	l := s.startLoad(t)
	goes := func(replicas []string) (n int) {
		for _, address := range replicas {
			if status, _, _ := l.enroll(t, address, token); status == http.StatusOK {
				n++
			}
		}
		return n
	}
	time.Sleep(2 * time.Second)
	check(t, goes(s.addresses()) == 3, "an account that was made over a worker claims over each of three servers")
	l.end(t)
	l.only(t, "200")
	c.kill()
	check(t, goes(s.addresses()[1:]) == 2, "the coordinator is killed: claims over the workers go on")
	c.start(t)
	out, err := s.command("admin", "account", "set", "--disabled", fmt.Sprint(id)).CombinedOutput()
	check(t, err == nil && goes(s.addresses()) == 0, "an account that is disabled over the coordinator claims over none: %s", bytes.TrimSpace(out))
	is.NoErr(err)
	l.audit(t, s)
}
