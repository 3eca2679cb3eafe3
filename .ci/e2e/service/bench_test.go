package service_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/store"
)

// How long one side of a comparison runs, and how often both do, in turn: what
// else the machine does then weighs on both.
const (
	benchTime   = 2 * time.Second
	benchRounds = 5
)

// BenchmarkClaims claims seats over HTTP and compares with the transactions of
// pgbench on the same server with as many clients: the floor of what a
// transaction a request can do.
func BenchmarkClaims(b *testing.B) {
	for _, c := range []struct {
		name                        string
		replicas, accounts, clients int
	}{
		{"one_account_64_clients", 1, 1, 64},
		{"thousand_accounts_64_clients", 1, 1000, 64},
		{"one_connection", 1, 1, 1},
		{"three_replicas_one_account_96_clients", 3, 1, 96},
	} {
		b.Run(c.name, func(b *testing.B) {
			pg := loopback(b)
			pg.tool(b, "pgbench", "-i", "-q", "-s", "10", "-h", pg.host, "-U", "postgres", "postgres")
			s := start(b, address(pg), c.replicas)
			claim := claims(s.tokens(b, c.accounts))
			s.drive(b, c.clients, benchTime, claim) // the tables grow, the plans are made
			var ratios, rates, p99 []float64
			for b.Loop() {
				for range benchRounds {
					floor := pg.transactions(b, c.clients)
					took := s.drive(b, c.clients, benchTime, claim)
					ratios, rates = append(ratios, rate(took)/floor), append(rates, rate(took))
					p99 = append(p99, took[len(took)*99/100].Seconds()*1000)
				}
			}
			b.ReportMetric(median(ratios), "x-pgbench")
			b.ReportMetric(median(rates), "claims/s")
			b.ReportMetric(median(p99), "p99-ms")
		})
	}
}

// loopback is a cluster at an address that no other has.
func loopback(b *testing.B) *cluster {
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	c := newCluster(b, "listen_addresses="+host)
	c.host = host
	return c
}

// BenchmarkSQLiteClaims claims seats over HTTP on a file, and compares many clients
// with one, and with what the driver does of the same on one connection, a
// transaction each. Of a thousand accounts each claim writes pages of its own.
func BenchmarkSQLiteClaims(b *testing.B) {
	for _, c := range []struct {
		name     string
		accounts int
	}{{"one_account_64_clients", 1}, {"thousand_accounts_64_clients", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "svc.db")
			s := start(b, "sqlite:"+file, 1)
			claim := claims(s.tokens(b, c.accounts))
			alone := s.textbook(b, file)
			s.drive(b, 64, benchTime, claim)
			var ratios, floors, rates []float64
			for b.Loop() {
				for range benchRounds {
					floor := alone()
					one := rate(s.drive(b, 1, benchTime, claim))
					many := rate(s.drive(b, 64, benchTime, claim))
					ratios, floors, rates = append(ratios, many/one), append(floors, many/floor), append(rates, many)
				}
			}
			b.ReportMetric(median(ratios), "x-one-connection")
			b.ReportMetric(median(floors), "x-transactions")
			b.ReportMetric(median(rates), "claims/s")
		})
	}
}

// textbook gives a function that claims seats in a copy of the file as a textbook
// does, and gives its rate. The copy has no seats yet, which is to its advantage.
func (s *service) textbook(b *testing.B, file string) func() float64 {
	is := is.New(b)
	out, err := s.command("admin", "backup", "--out", file+".copy").CombinedOutput()
	if err != nil {
		b.Fatalf("svc admin backup: %v\n%s", err, out)
	}
	db, err := sql.Open("sqlite", "file:"+file+".copy?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate")
	is.NoErr(err)
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	var first, accounts int64
	is.NoErr(db.QueryRow("SELECT min(id), count(*) FROM accounts").Scan(&first, &accounts))
	n := int64(0)
	return func() float64 {
		before := n
		for end := time.Now().Add(benchTime); time.Now().Before(end); n++ {
			is.NoErr(claimAlone(db, first+n%accounts, n+1))
		}
		return float64(n-before) / benchTime.Seconds()
	}
}

// claimAlone claims a seat in a transaction of its own, which reads what the rule
// needs to know: the account, what it was granted, and whether the VM has a seat.
func claimAlone(db *sql.DB, account, id int64) error {
	t, err := db.Begin()
	if err != nil {
		return err
	}
	defer t.Rollback()
	now := time.Now().UTC()
	vm, request, at := fmt.Sprintf("%064x", rand.Uint64()), fmt.Sprintf("%032x", id), now.UnixMicro()
	var unlimited bool
	var quota, most, used, granted, seated int64
	err = errors.Join(
		t.QueryRow("SELECT unlimited, free_quota, vm_limit, billable_vms FROM accounts WHERE id = ? AND disabled = 0", account).Scan(&unlimited, &quota, &most, &used),
		t.QueryRow("SELECT coalesce(sum(seats), 0) FROM grants WHERE account_id = ? AND ended_at IS NULL AND valid_from <= ?2 AND ?2 < valid_until", account, now.Format(time.DateOnly)).Scan(&granted),
		t.QueryRow("SELECT count(*) FROM seats WHERE account_id = ? AND fingerprint = ?", account, vm).Scan(&seated))
	if err == nil && seated == 0 && !unlimited && used >= min(quota+granted, most) {
		err = errors.New("no seat is left")
	}
	for _, statement := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO events (id, account_id, request_id, kind, fingerprint, source, claimed, billable, overage, listed, at)
			VALUES (?, ?, ?, 'license', ?, 'centos-7', true, true, false, true, ?)`, []any{id, account, request, vm, at}},
		{`INSERT INTO seats (id, account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by)
			VALUES (?, ?, ?, 'license', 'centos-7', 4, ?, ?, ?)`, []any{id, account, vm, at, at, request}},
		{"UPDATE accounts SET billable_vms = ? WHERE id = ?", []any{used + 1, account}},
	} {
		if err == nil {
			_, err = t.Exec(statement.query, statement.args...)
		}
	}
	if err != nil {
		return err
	}
	return t.Commit()
}

// BenchmarkMiddleware compares routes of the service, with their request id,
// authentication, limit, log and metrics, with the same answers of a bare ServeMux,
// under wrk.
func BenchmarkMiddleware(b *testing.B) {
	if _, err := exec.LookPath("wrk"); err != nil {
		b.Skip("needs wrk, of Debian's package of that name")
	}
	s := start(b, "sqlite:"+filepath.Join(b.TempDir(), "svc.db"), 1)
	token := s.tokens(b, 1)[0]
	for _, c := range []struct{ name, path string }{{"public", "/v1/health"}, {"token", "/v1/upgrade-edges?engine=sqlite"}} {
		b.Run(c.name, func(b *testing.B) {
			hello := startHello(b, s.body(b, c.path, token))
			var ratios []float64
			for b.Loop() {
				for range benchRounds {
					bare := wrk(b, hello+c.path, token)
					ratios = append(ratios, wrk(b, s.replicas[0].address+c.path, token)/bare)
				}
			}
			b.ReportMetric(median(ratios), "x-bare-mux")
		})
	}
}

var perSecond = regexp.MustCompile(`Requests/sec: +([0-9.]+)`)

// wrk is the rate at which 32 clients of wrk get a page. One thread is all of them:
// it shares two processors with the server.
func wrk(b *testing.B, page, token string) float64 {
	out, err := exec.Command("wrk", "-t1", "-c32", "-d"+benchTime.String(), "-H", "Authorization: Bearer "+token, "http://"+page).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("Non-2xx")) || bytes.Contains(out, []byte("Socket errors")) {
		b.Fatalf("wrk: %v\n%s", err, out)
	}
	return printed(b, perSecond, out)
}

// printed is the number that a program printed where the expression says.
func printed(b *testing.B, where *regexp.Regexp, out []byte) float64 {
	found := where.FindSubmatch(out)
	if found == nil {
		b.Fatalf("no %s in:\n%s", where, out)
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	is.New(b).NoErr(err)
	return n
}

// body is what a route answers.
func (s *service) body(b *testing.B, path, token string) string {
	is := is.New(b)
	r, err := http.NewRequest(http.MethodGet, "http://"+s.replicas[0].address+path, nil)
	is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	is.NoErr(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	is.NoErr(err)
	return string(body)
}

// BenchmarkGrowth asks an account of a thousand machines, and of up to a million, with
// ten events each: what a page of a list and a decision cost must not grow with them,
// wherever in the list the page is. A page by its offset grows, and the statement's
// time does; its memory does not. Each size says its figures when it is done.
func BenchmarkGrowth(b *testing.B) {
	pg := newCluster(b, "fsync=off", "max_wal_size=8GB", "shared_buffers=1GB")
	s := start(b, address(pg), 1)
	id, token := s.account(b, "--unlimited")
	first := map[string]float64{}
	for _, machines := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(machines), func(b *testing.B) {
			pg.fill(b, id, 10*machines)
			scans := pg.scans(b)
			pages := pg.pages(b, id, token, machines)
			for b.Loop() {
				for _, o := range append(pages, question{"claim", claims([]string{token})}) {
					took := s.drive(b, 1, benchTime, o.request)
					half := took[len(took)/2].Seconds() * 1e6
					first[o.name] = cmp.Or(first[o.name], half)
					b.ReportMetric(half, "us-"+o.name)
					b.ReportMetric(half/first[o.name], "x-"+o.name)
				}
			}
			is.New(b).Equal(pg.scans(b), scans) // nothing reads a whole table
			took, more := s.statements(b, token, 1, pg.seats(b, id))
			b.ReportMetric(took.Seconds(), "s-statement")
			b.ReportMetric(more, "MB-statement")
		})
	}
	b.Run("ten_statements", func(b *testing.B) {
		for b.Loop() {
			took, more := s.statements(b, token, 10, pg.seats(b, id))
			b.ReportMetric(took.Seconds(), "s-ten-statements")
			b.ReportMetric(more, "MB-ten-statements")
		}
	})
}

// question is what is measured, with its request.
type question struct {
	name    string
	request func(int, []byte) []byte
}

// pages are what an account's holder looks at, from the first page to the last.
func (c *cluster) pages(b testing.TB, account int, token string, machines int) []question {
	deep := strconv.Itoa(machines - lastPage)
	return []question{
		{"account", get("/v1/account", token)},
		{"capacity", get("/v1/account/capacity", token)},
		{"usage", get("/v1/account/usage", token)},
		{"vms", get("/v1/account/vms", token)},
		{"vms-last-by-cursor", get("/v1/account/vms?cursor="+c.cursor(b, "SELECT first_at FROM seats WHERE account_id = %d ORDER BY first_at", account), token)},
		{"vms-last-by-offset", get("/v1/account/vms?offset="+deep, token)},
		{"usage-last-by-cursor", get("/v1/account/usage?cursor="+c.cursor(b, "SELECT at FROM events WHERE account_id = %d AND listed ORDER BY at", account), token)},
		{"statement-last-by-cursor", get("/v1/account/statement?limit=50&cursor="+c.cursor(b, "SELECT first_at FROM seats WHERE account_id = %d ORDER BY first_at DESC", account), token)},
	}
}

// lastPage is how many entries from its end a list is asked for: more than a page has.
const lastPage = 60

// cursor is where the page begins whose first entry is so far from the end of a list,
// of which the statement gives the instants from the end on. Who has read the pages before
// it knows it of them.
func (c *cluster) cursor(b testing.TB, instants string, account int) string {
	at, err := c.column(fmt.Sprintf(instants+" LIMIT 1 OFFSET %[2]d", account, lastPage-1))
	is.New(b).NoErr(err)
	from := int64(at[0])
	return store.Page{From: &from}.Cursor()
}

// fill gives an account so many events, ten to a VM, all listed.
func (c *cluster) fill(b testing.TB, account, events int) {
	c.run(b, `INSERT INTO events (id, account_id, request_id, kind, fingerprint, source, target, claimed, billable, overage, listed, at)
		SELECT -i, %[1]d, to_char(i, 'FM000000000000'), 'migration', md5((i / 10)::text) || md5((i / 10 + 1)::text), 'centos 7', 'debian 13', i %% 10 = 0, i %% 10 = 0, false, true, i
		FROM generate_series((SELECT count(*) FROM events WHERE id < 0) + 1, %[2]d) i`, account, events)
	c.machines(b, account, events/10)
}

// machines gives an account so many seats.
func (c *cluster) machines(b testing.TB, account, n int) {
	c.run(b, `INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by)
		SELECT %[1]d, md5(i::text) || md5((i + 1)::text), 'migration', 'centos 7', 1, 10 * i, 10 * i, to_char(10 * i, 'FM000000000000')
		FROM generate_series(1, %[2]d) i ON CONFLICT DO NOTHING`, account, n)
	c.run(b, "UPDATE accounts SET billable_vms = (SELECT count(*) FROM seats WHERE account_id = id)")
	c.run(b, "ANALYZE")
}

// seats counts those of an account: what it was given, and what was claimed since.
func (c *cluster) seats(b testing.TB, account int) int {
	n, err := c.column(fmt.Sprintf("SELECT count(*)::int FROM seats WHERE account_id = %d", account))
	is.New(b).NoErr(err)
	return n[0]
}

func (c *cluster) run(b testing.TB, format string, args ...any) {
	_, err := c.within(20*time.Minute, fmt.Sprintf(format, args...))
	is.New(b).NoErr(err)
}

// scans counts the sequential scans of the tables that grow, when the counters
// have come in: a session tells of its own some seconds late.
func (c *cluster) scans(b *testing.B) (n []int) {
	for same := 0; same < 5; time.Sleep(time.Second) {
		now, err := c.column("SELECT seq_scan FROM pg_stat_user_tables WHERE relname IN ('events', 'seats') ORDER BY relname")
		is.New(b).NoErr(err)
		if same++; !slices.Equal(n, now) {
			n, same = now, 0
		}
	}
	return n
}

func get(path, token string) func(int, []byte) []byte {
	request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: svc\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	return func(_ int, buf []byte) []byte { return append(buf, request...) }
}

// tokens makes accounts that no limit holds, and a token of each.
func (s *service) tokens(b *testing.B, accounts int) []string {
	tokens := make([]string, accounts)
	for i := range tokens {
		_, tokens[i] = s.account(b, "--unlimited")
	}
	return tokens
}

// claims makes requests that each enroll another VM, of the accounts in turn. All
// but the fingerprint is written once.
func claims(tokens []string) func(int, []byte) []byte {
	const before, after = `{"vm_fingerprint":"`, `","source":{"distro":"centos","version":"7"}}`
	heads := make([]string, len(tokens))
	for i, token := range tokens {
		heads[i] = fmt.Sprintf("POST /v1/enroll HTTP/1.1\r\nHost: svc\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			token, len(before)+64+len(after), before)
	}
	return func(i int, buf []byte) []byte {
		var vm [32]byte
		for j := 0; j < len(vm); j += 8 {
			binary.NativeEndian.PutUint64(vm[j:], rand.Uint64())
		}
		return append(hex.AppendEncode(append(buf, heads[i%len(heads)]...), vm[:]), after...)
	}
}

func (s *service) drive(b *testing.B, clients int, d time.Duration, request func(int, []byte) []byte) []time.Duration {
	return drive(b, s.addresses(), clients, d, request)
}

// helloBody is the environment variable by which the test binary becomes the
// least that a Go service can be: a process that answers every GET with its value.
const helloBody = "SVC_E2E_HELLO"

func hello(body string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(l.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{path}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	fmt.Println(http.Serve(l, mux))
	return 1
}

func startHello(b *testing.B, body string) (address string) {
	is := is.New(b)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helloBody+"="+body)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	_, err = fmt.Fscanln(out, &address)
	is.NoErr(err)
	return address
}

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

// transactions is the rate that pgbench has on the cluster.
func (c *cluster) transactions(b *testing.B, clients int) float64 {
	out, err := exec.Command("pgbench", "-N", "-M", "prepared", "-n", "-c", strconv.Itoa(clients), "-j", "1",
		"-T", strconv.Itoa(int(benchTime.Seconds())), "-h", c.host, "-U", "postgres", "postgres").CombinedOutput()
	if err != nil {
		b.Fatalf("pgbench: %v\n%s", err, out)
	}
	return printed(b, tps, out)
}

// rate is how many were done a second.
func rate(took []time.Duration) float64 { return float64(len(took)) / benchTime.Seconds() }

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
