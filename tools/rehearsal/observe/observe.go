//go:build linux

// Package observe asks a machine that runs in a sandbox what runs of it: its units,
// where it listens, its sites, what its databases hold, what its log says. All that
// it says is hostile: every answer is bounded, and none is more than text.
package observe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"svc/assess"
	"svc/assess/ask"
	"svc/assess/host"
	"svc/assess/inspect"
	"svc/backend/secret"
	"svc/tools/rehearsal"
	"svc/tools/sandbox"
)

// Machine is a root that runs in a sandbox.
type Machine struct {
	Sandbox *sandbox.Sandbox
	Since   time.Time          // when it was started: what its log says of before is not of this boot
	Before  *assess.Assessment // what is asked about
	Now     time.Time
	// Unit is what a unit of Before is called on the machine.
	Wanted func(unit string) bool
}

// Host is the machine as assessments read it.
func (m *Machine) Host() (host.Host, error) {
	return host.OpenInside(m.Sandbox.Root(), func(ctx context.Context, words []string, errorsAlone bool) (host.Answer, error) {
		c := sandbox.Command{Words: words}
		if errorsAlone {
			var said bytes.Buffer
			c.Stdout, c.Stderr = io.Discard, &sandbox.Beginning{To: &said, Most: maxAnswer}
			r, err := m.Sandbox.Run(ctx, c)
			return host.Answer{Status: r.Status, Text: said.Bytes()}, err
		}
		r, err := m.Sandbox.Run(ctx, c)
		return host.Answer{Status: r.Status, Text: r.Text}, err
	})
}

// Bounds of what a machine says, in bytes, lines and time.
const (
	maxAnswer  = 64 << 10
	maxLog     = 16 << 20
	maxPage    = 64 << 10
	maxLines   = 12
	maxLine    = 300
	maxHeld    = 20_000 // lines of a catalogue
	maxErrors  = 200
	greetingIn = 700 * time.Millisecond
	pageIn     = 10 * time.Second
)

// Observe asks the machine for everything: first what runs and listens, while nothing
// else that asks does; of different kinds at once then; and for its log in the end.
func (m *Machine) Observe(ctx context.Context) (*rehearsal.Observed, error) {
	h, err := m.Host()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	o := &rehearsal.Observed{Pages: map[rehearsal.Request]rehearsal.Page{}, Greetings: map[int]rehearsal.Greeting{}, Catalogues: map[string]rehearsal.Catalogue{}, Programs: map[string]bool{}, Sudo: map[string]int{}}
	if o.Assessment, err = inspect.Assess(ctx, h, assess.Options{Now: m.Now}); err != nil {
		return nil, fmt.Errorf("reading what runs: %w", err)
	}
	for _, job := range append(rehearsal.Jobs(m.Before), rehearsal.Jobs(o.Assessment)...) {
		_, err := h.FS().Stat(strings.TrimPrefix(job.Program, "/"))
		o.Programs[job.Program] = err == nil
	}
	var asking sync.WaitGroup
	asking.Go(func() { err = m.services(ctx, h, o) })
	asking.Go(func() { m.pages(ctx, o); m.greetings(ctx, o); m.sudo(ctx, o) })
	asking.Go(func() { m.catalogues(ctx, h, o) })
	asking.Wait()
	if err != nil {
		return nil, err
	}
	m.log(ctx, o)
	return o, ctx.Err()
}

// services asks which run, and each for its own check of its configuration.
func (m *Machine) services(ctx context.Context, h host.Host, o *rehearsal.Observed) (err error) {
	o.Services = ask.Services(ctx, h)
	o.Answers, err = ask.All(ctx, h, func(unit string) bool { return m.Wanted(unit) || o.Services[unit].Active == "active" })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// pages asks each site for its first page, as a client that trusts any certificate
// and follows no link.
func (m *Machine) pages(ctx context.Context, o *rehearsal.Observed) {
	var both sync.Mutex
	each(rehearsal.Requests(m.Before), func(r rehearsal.Request) {
		page := m.page(ctx, r)
		both.Lock()
		defer both.Unlock()
		o.Pages[r] = page
	})
}

// each does something for each, some at once.
func each[T any](all []T, do func(T)) {
	var group sync.WaitGroup
	free := make(chan struct{}, 8)
	for _, one := range all {
		free <- struct{}{}
		group.Go(func() { do(one); <-free })
	}
	group.Wait()
}

var title = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title`) })

func (m *Machine) page(ctx context.Context, r rehearsal.Request) rehearsal.Page {
	ctx, cancel := context.WithTimeout(ctx, pageIn)
	defer cancel()
	scheme, name := "http", r.Name
	if r.TLS {
		scheme = "https"
	}
	name = cmp.Or(name, "localhost")
	transport := &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return m.reach(ctx, r.Port) },
		TLSClientConfig: &tls.Config{ServerName: name, InsecureSkipVerify: true}, //nolint:gosec // what answers is asked, not trusted
		Proxy:           nil, DisableKeepAlives: true, MaxResponseHeaderBytes: maxPage,
	}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s://%s:%d/", scheme, name, r.Port), http.NoBody)
	if err != nil {
		return rehearsal.Page{Error: plain(err.Error())}
	}
	request.Host = name
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return rehearsal.Page{Error: plain(err.Error())}
	}
	defer answer.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(answer.Body, maxPage)) // what came is judged
	page := rehearsal.Page{Status: answer.StatusCode}
	if found := title().FindSubmatch(b); found != nil {
		page.Title = plain(html.UnescapeString(string(found[1])))
	}
	return page
}

// reach connects to a port of the machine's own addresses.
func (m *Machine) reach(ctx context.Context, port int) (conn net.Conn, err error) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		if conn, err = m.Sandbox.Dial(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port))); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// greetings connects to each port and hears what the server says first.
func (m *Machine) greetings(ctx context.Context, o *rehearsal.Observed) {
	ports := []int{}
	for _, s := range o.Assessment.Running.Sockets {
		if strings.HasPrefix(s.Protocol, "tcp") {
			ports = append(ports, s.Port)
		}
	}
	slices.Sort(ports)
	var both sync.Mutex
	each(slices.Compact(ports), func(port int) {
		g := m.greeting(ctx, port)
		both.Lock()
		defer both.Unlock()
		o.Greetings[port] = g
	})
}

func (m *Machine) greeting(ctx context.Context, port int) rehearsal.Greeting {
	ctx, cancel := context.WithTimeout(ctx, pageIn)
	defer cancel()
	conn, err := m.reach(ctx, port)
	if err != nil {
		return rehearsal.Greeting{}
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(greetingIn))
	b := make([]byte, maxLine)
	n, _ := conn.Read(b)
	first, _, _ := bytes.Cut(b[:n], []byte("\n"))
	return rehearsal.Greeting{Open: true, First: plain(string(first))}
}

// catalogues asks database servers for what they hold.
func (m *Machine) catalogues(ctx context.Context, h host.Host, o *rehearsal.Observed) {
	for _, q := range rehearsal.CatalogueQuestions() {
		_, noProgram := h.FS().Stat(q.Program[1:])
		_, noData := h.FS().Stat(q.Place[1:])
		if noProgram != nil || noData != nil {
			continue
		}
		r, err := m.Sandbox.Run(ctx, sandbox.Command{Words: q.Words})
		lines := lines(r.Text, maxHeld)
		if err != nil || r.Status != 0 {
			lines = lines[max(0, len(lines)-maxLines):]
		}
		o.Catalogues[q.Name] = rehearsal.Catalogue{Answers: err == nil && r.Status == 0, Lines: lines}
	}
}

// sudo asks what sudo lets people do.
func (m *Machine) sudo(ctx context.Context, o *rehearsal.Observed) {
	for _, u := range o.Assessment.Users {
		if u.System && !u.Sudo || strings.HasPrefix(u.Name, "-") {
			continue
		}
		r, err := m.Sandbox.Run(ctx, sandbox.Command{Words: []string{"sudo", "-n", "-l", "-U", u.Name}})
		if err != nil || r.Status != 0 {
			continue
		}
		o.Sudo[u.Name] = strings.Count(string(r.Text), "\n    (")
	}
}

// entry is a line of the journal.
type entry struct {
	Unit     string          `json:"_SYSTEMD_UNIT"`
	About    string          `json:"UNIT"`
	Priority string          `json:"PRIORITY"`
	Message  json.RawMessage `json:"MESSAGE"` // a list of numbers where it is no text
	Name     string          `json:"SYSLOG_IDENTIFIER"`
}

// log reads the journal since the start.
func (m *Machine) log(ctx context.Context, o *rehearsal.Observed) {
	o.Logs, o.Errors = map[string][]string{}, []rehearsal.Line{}
	var said bytes.Buffer
	_, err := m.Sandbox.Run(ctx, sandbox.Command{
		Words:  []string{"journalctl", "--no-pager", "--quiet", "-o", "json", "-n", "20000", "--since=@" + strconv.FormatInt(m.Since.Unix(), 10), "--output-fields=_SYSTEMD_UNIT,UNIT,PRIORITY,MESSAGE,SYSLOG_IDENTIFIER"},
		Stdout: &sandbox.Beginning{To: &said, Most: maxLog}, Stderr: io.Discard,
	})
	if err != nil {
		return
	}
	index := map[string]int{}
	for scan := bufio.NewScanner(&said); scan.Scan(); {
		var e entry
		var text string
		if json.Unmarshal(scan.Bytes(), &e) != nil || json.Unmarshal(e.Message, &text) != nil || plain(text) == "" {
			continue
		}
		unit := e.Unit
		if e.About != "" {
			unit = e.About
		}
		o.Logs[unit] = append(o.Logs[unit], plain(text))
		if over := len(o.Logs[unit]) - maxLines; over > 0 {
			o.Logs[unit] = o.Logs[unit][over:]
		}
		if e.Priority == "" || e.Priority > "3" {
			continue
		}
		line := rehearsal.Line{Unit: unit, Text: shape(plain(text)), Count: 1}
		if at, ok := index[line.Unit+line.Text]; ok {
			o.Errors[at].Count++
		} else if len(o.Errors) < maxErrors {
			index[line.Unit+line.Text] = len(o.Errors)
			o.Errors = append(o.Errors, line)
		}
	}
}

var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// shape is a line without what differs from one start to the next.
func shape(text string) string { return numbers().ReplaceAllString(text, "N") }

// lines are a program's lines, as text.
func lines(b []byte, most int) (all []string) {
	for l := range strings.Lines(string(b)) {
		if l = plain(l); l != "" && len(all) < most {
			all = append(all, l)
		}
	}
	return all
}

// plain is a line of a machine without what is no text, and without secrets.
func plain(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s))
	r := []rune(s)
	return secret.Mask(string(r[:min(len(r), maxLine)]))
}
