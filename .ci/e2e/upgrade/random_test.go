package upgrade_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// entry is what a journal says of a step.
type entry struct {
	At          time.Time
	Step, State string
}

// journal is that of an upgrade; empty where it has not begun one.
func (h *host) journal(backup string) (all []entry) {
	h.t.Helper()
	text, _ := os.ReadFile(h.at("srv/" + backup + "/journal.jsonl"))
	for line := range strings.Lines(string(text)) {
		var e entry
		h.is.NoErr(json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// random kills upgrades at any moment, while a client writes, and goes on or back. No
// row that the client was told of is lost.
func (h *host) random() {
	took := h.atAnyMoment(0, 0)
	for round := 1; round <= 12; round++ {
		h.reset()
		h.atAnyMoment(round, rand.N(took))
	}
}

// atAnyMoment kills an upgrade so long after its begin, but the first, of which it gives how
// long it took.
func (h *host) atAnyMoment(round int, delay time.Duration) (took time.Duration) {
	h.sql("-d", "shop", "-c", "create table written (n int)")
	stop := h.writes()
	backup, begin := h.place(fmt.Sprint("random", round)), time.Now()
	c := h.svc(to("17", backup) + " --confirm")
	run := exec.Command(c[0], c[1:]...)
	h.is.NoErr(run.Start())
	if round > 0 {
		kill(delay)(run.Process)
	}
	_ = run.Wait() // the journal says how far it was
	took = time.Since(begin)
	h.goesOn(round, backup)
	time.Sleep(500 * time.Millisecond)
	acked := stop()
	there := strings.Fields(h.sql("-d", "shop", "-c", "select n from written"))
	for _, row := range acked {
		h.is.True(slices.Contains(there, row)) // of which the client was told
	}
	h.t.Logf("%d rows", len(acked))
	h.sql("-d", "shop", "-c", "drop table written")
	h.holds(h.version())
	return took
}

// goesOn resumes what was killed, or takes it back each other time, but where clients may
// have written to the new cluster.
func (h *host) goesOn(round int, backup string) {
	so := h.journal(backup)
	so = slices.DeleteFunc(so, func(e entry) bool { return e.Step == "" })
	if len(so) == 0 {
		h.t.Log("killed before the first step")
		return
	}
	last, how := so[len(so)-1], resume(backup)
	if round%2 == 1 && (last.Step != "open" || last.State != "started" && last.State != "done") {
		how = rollBack(backup)
	}
	h.t.Log("killed:", last.Step, last.State, how)
	h.upgrade(0, how)
}

// writes has a client write rows, one after the other, whoever serves the port; those that
// it was told of are given when it stops.
func (h *host) writes() (stop func() []string) {
	over, all := make(chan struct{}), make(chan []string)
	go func() {
		var acked []string
		for n := 1; ; n++ {
			select {
			case <-over:
				all <- acked
				return
			case <-time.After(100 * time.Millisecond):
			}
			row := strconv.Itoa(n)
			if h.psql("-p", "5432", "-d", "shop", "-c", "insert into written values ("+row+")").Run() == nil {
				acked = append(acked, row)
			}
		}
	}()
	return func() []string { close(over); return <-all }
}
