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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"svc/assess"
	"svc/assess/ask"
	"svc/assess/ask/compile"
	"svc/assess/host"
	"svc/assess/inspect"
	"svc/backend/lazyregexp"
	"svc/backend/secret"
	"svc/tools/rehearsal"
	"svc/tools/rehearsal/sites"
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
	Pages  []sites.Request   // beside the first of each site
	People []compile.Program // people's programs, as the machine has them
}

// Host is the machine as assessments read it.
func (m *Machine) Host() (host.Host, error) {
	return host.OpenInside(m.Sandbox.Root(), func(ctx context.Context, words []string, errorsAlone bool) (host.Answer, error) {
		c := sandbox.Command{Words: words}
		var said bytes.Buffer
		if errorsAlone {
			c.Stdout, c.Stderr = io.Discard, &sandbox.Beginning{To: &said, Most: maxAnswer}
		}
		r, err := m.Sandbox.Run(ctx, c)
		if errorsAlone {
			r.Text = said.Bytes()
		}
		return host.Answer{Status: r.Status, Text: r.Text}, err
	})
}

// Bounds of what a machine says, in bytes, lines and time.
const (
	maxAnswer  = 64 << 10
	maxLog     = 16 << 20
	maxPage    = 64 << 10
	maxLines   = 12
	maxManager = 4 // of these, by systemd
	maxLine    = 300
	maxHeld    = 20_000 // lines of a catalogue
	maxErrors  = 200
	greetingIn = 700 * time.Millisecond
	pageIn     = 10 * time.Second
	furtherIn  = 20 * time.Second // all pages beside the first
)

// Observe asks the machine for everything: first what runs and listens, while nothing
// else that asks does; of different kinds at once then; and for its log in the end.
func (m *Machine) Observe(ctx context.Context) (*rehearsal.Observed, error) {
	h, err := m.Host()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	o := &rehearsal.Observed{Catalogues: map[string]rehearsal.Catalogue{}, Programs: map[string]bool{}, Sudo: map[string]int{}}
	if o.Assessment, err = inspect.Assess(ctx, h, assess.Options{Now: m.Now}); err != nil {
		return nil, fmt.Errorf("reading what runs: %w", err)
	}
	for _, job := range append(rehearsal.Jobs(m.Before), rehearsal.Jobs(o.Assessment)...) {
		_, err := h.FS().Stat(strings.TrimPrefix(job.Program, "/"))
		o.Programs[job.Program] = err == nil
	}
	var asking sync.WaitGroup
	asking.Go(func() { err = m.services(ctx, h, o) })
	asking.Go(func() { m.pages(ctx, o); m.greetings(ctx, o); m.sudo(ctx, o); m.sessions(ctx, o) })
	asking.Go(func() { m.catalogues(ctx, h, o) })
	asking.Wait()
	if err != nil {
		return nil, err
	}
	m.log(ctx, o)
	m.ownLogs(ctx, h, o)
	m.compile(ctx, h, o)
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

// pages asks each site for its first page, and for what that links to and others are
// known to be, as a client that trusts any certificate.
func (m *Machine) pages(ctx context.Context, o *rehearsal.Observed) {
	o.Pages = each(sites.Requests(m.Before), func(r sites.Request) sites.Page { return m.page(ctx, r) })
	further := append(slices.Clone(m.Pages), sites.Linked(o.Pages)...)
	ctx, cancel := context.WithTimeout(ctx, furtherIn)
	defer cancel()
	for r, page := range each(slices.DeleteFunc(further, func(r sites.Request) bool { _, asked := o.Pages[r]; return asked }), func(r sites.Request) sites.Page { return m.page(ctx, r) }) {
		if page.Status != 0 || ctx.Err() == nil { // else there was no time to ask
			o.Pages[r] = page
		}
	}
}

// each asks for each, some at once.
func each[K comparable, V any](all []K, ask func(K) V) map[K]V {
	answers := map[K]V{}
	var noting sync.Mutex
	var group sync.WaitGroup
	free := make(chan struct{}, 8)
	for _, one := range all {
		free <- struct{}{}
		group.Go(func() {
			answer := ask(one)
			noting.Lock()
			defer noting.Unlock()
			answers[one] = answer
			<-free
		})
	}
	group.Wait()
	return answers
}

var title = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title`)

func (m *Machine) page(ctx context.Context, r sites.Request) sites.Page {
	ctx, cancel := context.WithTimeout(ctx, pageIn)
	defer cancel()
	r.Name = cmp.Or(r.Name, "localhost")
	transport := &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return m.reach(ctx, r.Port) },
		TLSClientConfig: &tls.Config{ServerName: r.Name, InsecureSkipVerify: true}, //nolint:gosec // what answers is asked, not trusted
		Proxy:           nil, DisableKeepAlives: true, MaxResponseHeaderBytes: maxPage,
	}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.String(), http.NoBody)
	if err != nil {
		return sites.Page{Error: plain(err.Error())}
	}
	request.Host = r.Name
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return sites.Page{Error: plain(err.Error())}
	}
	defer answer.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(answer.Body, maxPage)) // what came is judged
	page := sites.Page{Status: answer.StatusCode, Links: sites.Links(r, string(b))}
	if found := title.FindSubmatch(b); found != nil {
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
	o.Greetings = each(slices.Compact(ports), func(port int) rehearsal.Greeting { return m.greeting(ctx, port) })
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

// catalogues asks servers and languages for what they hold, serve and can load.
func (m *Machine) catalogues(ctx context.Context, h host.Host, o *rehearsal.Observed) {
	for _, q := range rehearsal.CatalogueQuestions() {
		if !there(h.FS(), q.Programs) || len(q.Places) > 0 && !there(h.FS(), q.Places) {
			continue
		}
		r, err := m.Sandbox.Run(ctx, sandbox.Command{Words: q.Words})
		lines := lines(r.Text, maxHeld)
		if err != nil || r.Status != 0 {
			lines = last(lines, maxLines)
		}
		o.Catalogues[q.Name] = rehearsal.Catalogue{Answers: err == nil && r.Status == 0, Lines: lines}
	}
}

// there reports whether one of these patterns is there.
func there(fsys host.FS, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		names, _ := fs.Glob(fsys, strings.TrimPrefix(pattern, "/")) // the patterns of the table are sound
		return len(names) > 0
	})
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
	managers := map[string][]string{} // what systemd says of units: the same with each try to start them
	for scan := bufio.NewScanner(&said); scan.Scan(); {
		var e entry
		var text string
		if json.Unmarshal(scan.Bytes(), &e) != nil || json.Unmarshal(e.Message, &text) != nil || plain(text) == "" {
			continue
		}
		unit := cmp.Or(e.About, e.Unit)
		if e.Name == "systemd" {
			managers[unit] = last(append(managers[unit], plain(text)), maxManager)
		} else {
			o.Logs[unit] = last(append(o.Logs[unit], plain(text)), maxLines-maxManager)
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
	for unit, lines := range managers {
		o.Logs[unit] = append(o.Logs[unit], lines...)
	}
}

// last are the last n lines, at most.
func last(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

var numbers = lazyregexp.New(`[0-9]+`)

// shape is a line without what differs from one start to the next.
func shape(text string) string { return numbers.ReplaceAllString(text, "N") }

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
