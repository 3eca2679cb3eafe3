package service_test

import (
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestDrain stops one of three replicas under load.
func TestDrain(t *testing.T) {
	s := start(t, address(newCluster(t)), 3)
	_, token := s.account(t, "--unlimited")
	l := s.startLoad(t)
	time.Sleep(time.Second)
	var slow []*slowRequest
	for range 8 {
		slow = append(slow, l.startSlow(t, s.replicas[0].address, token))
	}
	time.Sleep(100 * time.Millisecond) // for the server to read what was sent
	code := make(chan int)
	go func() { code <- s.replicas[0].stop(t) }()
	time.Sleep(time.Second)
	check(t, s.replicas[0].ready() == http.StatusServiceUnavailable, "a replica that drains says that it is not ready")
	answered := 0
	for _, r := range slow {
		if err := l.finish(r); err == nil {
			answered++
		}
	}
	check(t, answered == len(slow), "%d of %d requests that ran when a replica was stopped were answered", answered, len(slow))
	check(t, <-code == 0, "a replica that was stopped ends with 0")
	before := l.count()
	time.Sleep(time.Second)
	check(t, l.count() > before+100, "the others go on: %d operations in a second", l.count()-before)
	l.end(t)
	l.only(t, "200", "503", "connection")
	check(t, l.got("503")+l.got("connection") > 0, "clients came to the replica that was stopped, and went on to another")
	l.audit(t, s)
}

// TestPostgresEnds restarts PostgreSQL under load, then kills it.
func TestPostgresEnds(t *testing.T) {
	db := newCluster(t)
	s := start(t, address(db), 2)
	l := s.startLoad(t)
	for _, end := range []func(){func() { db.stop(t) }, db.kill} {
		time.Sleep(time.Second)
		end()
		time.Sleep(2 * time.Second)
		db.start(t)
		heals(t, s, l)
	}
	l.end(t)
	l.only(t, "200", "503")
	l.audit(t, s)
}

// heals waits for the service to answer as before.
func heals(t *testing.T, s *service, l *load) {
	begun, before := time.Now(), l.count()
	for time.Since(begun) < 20*time.Second && (l.count() < before+200 || s.replicas[0].ready() != http.StatusOK) {
		time.Sleep(10 * time.Millisecond)
	}
	check(t, l.count() >= before+200 && s.replicas[0].ready() == http.StatusOK,
		"the service heals by itself: %d operations and ready after %v", l.count()-before, time.Since(begun).Round(time.Millisecond))
}

// TestPostgresStands freezes PostgreSQL under load: connections stay, and nothing
// comes back.
func TestPostgresStands(t *testing.T) {
	const frozen, longest = 20 * time.Second, 18 * time.Second
	db := newCluster(t)
	s := start(t, address(db), 2)
	l := s.startLoad(t)
	time.Sleep(time.Second)
	db.signal(syscall.SIGSTOP)
	thaws := time.Now().Add(frozen)
	ready := s.replicas[0].ready()
	check(t, ready == http.StatusServiceUnavailable, "a replica whose database stands is not ready: %d", ready)
	time.Sleep(time.Until(thaws))
	check(t, l.got("503") > 0, "%d tries got 503 while the database stood", l.got("503"))
	db.signal(syscall.SIGCONT)
	heals(t, s, l)
	l.end(t)
	l.only(t, "200", "503")
	check(t, l.slow() <= longest, "no try waited longer than %v: %v", longest, l.slow().Round(time.Millisecond))
	l.audit(t, s)
}

// TestFailover loses the primary under load and promotes its synchronous
// standby.
func TestFailover(t *testing.T) {
	for how, lose := range map[string]func(*cluster){
		"killed": (*cluster).kill,
		"stands": func(c *cluster) { c.signal(syscall.SIGSTOP) }, // its sessions stay open
	} {
		t.Run(how, func(t *testing.T) { failOver(t, lose) })
	}
}

func failOver(t *testing.T, lose func(*cluster)) {
	is := is.New(t)
	primary := newCluster(t)
	standby := primary.standby(t)
	is.NoErr(primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'"))
	is.NoErr(primary.execute("SELECT pg_reload_conf()"))
	primary.until(t, "SELECT sync_state = 'sync' FROM pg_stat_replication")
	s := start(t, address(primary, standby), 3)
	l := s.startLoad(t)
	time.Sleep(2 * time.Second)
	lose(primary)
	standby.promote(t)
	heals(t, s, l)
	l.end(t)
	l.only(t, "200", "503")
	l.audit(t, s)
}

// TestFailoverControl is the same with a standby that does not get all: where
// this sees no loss, the other proves nothing.
func TestFailoverControl(t *testing.T) {
	primary := newCluster(t)
	standby := primary.standby(t)
	s := start(t, address(primary, standby), 3)
	l := s.startLoad(t)
	time.Sleep(time.Second)
	primary.freezeSenders(t)
	time.Sleep(300 * time.Millisecond)
	primary.kill()
	standby.promote(t)
	heals(t, s, l)
	l.end(t)
	lost, _ := l.losses(t, s)
	check(t, lost > 0, "control: an asynchronous standby whose sender stood loses what was acknowledged: %d lost of %d", lost, l.count())
}

// TestSQLiteKill kills the only process of a service on a file, again and again.
func TestSQLiteKill(t *testing.T) {
	const kills = 4
	s := start(t, "sqlite:"+filepath.Join(t.TempDir(), "svc.db"), 1)
	l := s.startLoad(t)
	for range kills {
		time.Sleep(time.Second)
		s.replicas[0].kill()
		s.replicas[0] = s.serve(t, s.replicas[0].address)
		if s.replicas[0] == nil {
			t.FailNow()
		}
		heals(t, s, l)
	}
	l.end(t)
	l.only(t, "200", "503", "connection")
	check(t, l.got("connection") >= kills, "%d tries were cut off by %d kills", l.got("connection"), kills)
	l.audit(t, s)
}
