package service_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
)

// mostMore is how many MB a service may take for statements, however long these are and
// however many are asked for at once.
const mostMore = 64

// TestStatementMemory asks ten times at once for a statement that is far longer.
func TestStatementMemory(t *testing.T) {
	pg := newCluster(t, "fsync=off", "max_wal_size=4GB")
	s := start(t, address(pg), 1)
	id, token := s.account(t, "--unlimited")
	const machines = 300_000
	pg.machines(t, id, machines)
	took, more := s.statements(t, token, 10, machines)
	check(t, more <= mostMore, "ten statements of %d machines at once take %.0f MB more (%d allowed) and %.1f s", machines, more, mostMore, took.Seconds())
	rows := bytes.Count(s.get(t, token, "statement?format=csv"), []byte("\n"))
	check(t, rows == machines+1, "as CSV it has %d rows", rows)
}

// statements asks for the whole statement so many times at once, and says how long that
// took and how many MB more the process had at its peak.
func (s *service) statements(t testing.TB, token string, atOnce, machines int) (took time.Duration, more float64) {
	is := is.New(t)
	process := fmt.Sprintf("/proc/%d/", s.replicas[0].cmd.Process.Pid)
	before := memory(t, process, "VmRSS")
	is.NoErr(os.WriteFile(process+"clear_refs", []byte("5"), 0)) // the peak begins anew
	begun := time.Now()
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			response := s.open(t, token, "statement")
			defer response.Body.Close()
			lines := &counter{of: []byte(`{"vm":`)}
			if _, err := io.Copy(lines, response.Body); err != nil || lines.n != machines {
				t.Errorf("a statement has %d lines, not %d: %v", lines.n, machines, err)
			}
		})
	}
	wg.Wait()
	return time.Since(begun), memory(t, process, "VmHWM") - before
}

// counter counts a text in what is written, of which it keeps no more than it must.
type counter struct {
	of, kept []byte
	n        int
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	c.kept = append(c.kept, p...)
	c.n += bytes.Count(c.kept, c.of)
	if end := bytes.LastIndex(c.kept, c.of); end >= 0 {
		c.kept = c.kept[end+len(c.of):]
	}
	c.kept = append(c.kept[:0], c.kept[max(0, len(c.kept)-len(c.of)+1):]...)
	return len(p), nil
}

func (s *service) open(t testing.TB, token, what string) *http.Response {
	r, err := http.NewRequest(http.MethodGet, "http://"+s.replicas[0].address+"/v1/account/"+what, nil)
	is.New(t).NoErr(err)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	is.New(t).NoErr(err)
	is.New(t).Equal(response.StatusCode, http.StatusOK)
	return response
}

func (s *service) get(t testing.TB, token, what string) []byte {
	response := s.open(t, token, what)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	is.New(t).NoErr(err)
	return b
}

var kilobytes = regexp.MustCompile(`[0-9]+`)

// memory is a line of a process's status, in MB.
func memory(t testing.TB, process, line string) float64 {
	b, err := os.ReadFile(process + "status")
	is.New(t).NoErr(err)
	_, rest, _ := bytes.Cut(b, []byte(line+":"))
	n, err := strconv.Atoi(string(kilobytes.Find(rest)))
	is.New(t).NoErr(err)
	return float64(n) / 1024
}
