package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/renameio/v2"

	"svc/assess/host"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/visible"
	"svc/tools/data"
	"svc/tools/exposure"
	"svc/tools/fleet"
	"svc/tools/migration"
	"svc/tools/report"
)

// Names of what a readiness writes, below its folder; in a folder for each machine
// are its report and what was read of it.
const (
	fleetFile   = "fleet.json"
	fleetPage   = "index.html"
	fleetTable  = "machines.csv"
	machineFile = "read.json"
)

// Member is a machine of a fleet.
type Member struct {
	Name    string // distinct among its fleet, and a file's name
	Place   string // as it was given
	Machine Machine
}

// ReadinessInput is the input of Readiness.
type ReadinessInput struct {
	Members  []Member
	Target   string
	Parallel int           // machines read at once
	Patience time.Duration // for one machine
	Out      string        // folder to write to; nothing is written where empty
	Fresh    bool          // read all again, whatever is in Out
}

// survey is a readiness on its way.
type survey struct {
	env    *Env
	in     ReadinessInput
	target string // slug
	client *client.Client

	mu    sync.Mutex
	done  int
	index string
	read  []fleet.Read
}

// Readiness says of every machine of a fleet whether it can move to a release, and
// what all cost together. Each is assessed and planned, and recorded as readiness,
// which is free; no seat is claimed. A machine that can't be read is a row like
// others. Where ctx ends, its error is returned with what is done, which is kept
// below Out: a repeat goes on there.
func Readiness(ctx context.Context, env *Env, in ReadinessInput) (*fleet.Document, error) {
	target, err := targetNamed(in.Target)
	if err != nil {
		return nil, err
	}
	if in.Out != "" {
		if err := checkFleet(in.Out); err != nil {
			return nil, err
		}
	}
	s := &survey{env: env, in: in, target: target.Slug}
	if s.client, err = env.Client(ctx); err != nil {
		return nil, err
	}
	funds, err := s.funds(ctx)
	if err != nil {
		return nil, err
	}
	s.all(ctx)
	d := fleet.New(s.target, s.index, s.read, funds)
	if in.Out != "" {
		err = s.keep(d)
	}
	if stopped := context.Cause(ctx); stopped != nil {
		return d, errors.Join(fmt.Errorf("%d of %d machines are done: %w", len(s.read), len(in.Members), stopped), err)
	}
	return d, err
}

// checkFleet refuses a folder that holds something else than an earlier readiness.
func checkFleet(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at out: %w; nothing was written", err)
	case len(entries) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(out, fleetFile)); err != nil {
		return fmt.Errorf("out %s holds something else than a fleet's readiness; nothing was written: name a new or empty folder", out)
	}
	return nil
}

// funds are what the account has left for seats.
func (s *survey) funds(ctx context.Context) (fleet.Funds, error) {
	account, err := client.Call(ctx, s.client, api.GetAccount, api.None{})
	if err != nil {
		return fleet.Funds{}, err
	}
	capacity, err := client.Call(ctx, s.client, api.GetCapacity, api.None{})
	if err != nil {
		return fleet.Funds{}, err
	}
	left := capacity.FreeQuota + capacity.LicensedSeats + capacity.ActivePOVSeats - capacity.BillableVMsUsed
	return fleet.Funds{Unlimited: account.Unlimited, Left: left, Rate: api.OverageRate}, nil
}

// all reads the machines, several at once.
func (s *survey) all(ctx context.Context) {
	queue := make(chan Member)
	var workers sync.WaitGroup
	for range min(max(1, s.in.Parallel), len(s.in.Members)) {
		workers.Go(func() {
			for m := range queue {
				r, index := s.one(ctx, m)
				if ctx.Err() != nil {
					continue // it was cut off: a repeat reads it
				}
				s.add(r, index)
			}
		})
	}
	for _, m := range s.in.Members {
		queue <- m
	}
	close(queue)
	workers.Wait()
}

func (s *survey) add(r fleet.Read, index string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read, s.index, s.done = append(s.read, r), cmp.Or(index, s.index), s.done+1
	s.env.progress("machines", s.done, len(s.in.Members))
}

// readBefore is what is kept of a machine: what was read, and of what.
type readBefore struct {
	Target  string     `json:"target"`
	Index   string     `json:"index_version"`
	Version string     `json:"version"` // of svc
	Stamp   string     `json:"stamp"`   // of the disk image; empty where nothing tells cheaply that a machine changed
	Read    fleet.Read `json:"read"`
}

// one reads one machine, or takes what was read of it before where it has not
// changed. What it can't read is an error in the row.
func (s *survey) one(ctx context.Context, member Member) (fleet.Read, string) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.in.Patience, fmt.Errorf("it took longer than %s", s.in.Patience))
	defer cancel()
	now := readBefore{Target: s.target, Version: s.env.Version, Stamp: stamp(member.Machine)}
	if before, ok := s.before(member); ok && now.Stamp != "" && before.Stamp == now.Stamp && before.Read.Machine.Place == member.Place && before.Target == now.Target && before.Version == now.Version {
		return before.Read, before.Index
	}
	r, page, err := s.look(ctx, member)
	if err == nil && s.in.Out != "" {
		now.Read, now.Index = *r, s.index
		err = s.keepMachine(member, now, page)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fleet.Read{Machine: fleet.Machine{
			Name: member.Name, Place: member.Place, Error: visible.Lines(err.Error()),
			Inhibitors: []fleet.Finding{}, Findings: []fleet.Finding{}, Databases: []string{}, DependsOn: []string{},
		}}, ""
	}
	return *r, now.Index
}

// stamp changes with a disk image: its files' sizes and times. Of what is no image,
// nothing does that is cheaper than reading.
func stamp(m Machine) string {
	if m.Image == "" {
		return ""
	}
	info, err := os.Stat(m.Image)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// before is what an earlier readiness kept of a machine.
func (s *survey) before(member Member) (k readBefore, ok bool) {
	if s.in.Out == "" || s.in.Fresh {
		return k, false
	}
	b, err := os.ReadFile(filepath.Join(s.in.Out, member.Name, machineFile))
	return k, err == nil && json.Unmarshal(b, &k) == nil
}

// look assesses and plans a machine, and records that.
func (s *survey) look(ctx context.Context, member Member) (*fleet.Read, []byte, error) {
	env := *s.env
	env.Progress = nil // of the fleet alone
	m := &move{env: &env, in: MigrateInput{Machine: member.Machine, Target: s.target, Preflight: true}, exposure: &exposure.Document{}}
	if err := m.check(); err != nil {
		return nil, nil, err
	}
	if err := m.read(ctx); err != nil {
		return nil, nil, err
	}
	defer m.host.Close()
	if err := m.prepare(ctx); err != nil {
		return nil, nil, err
	}
	found, err := data.Discover(ctx, m.host, m.a, func(int64) {})
	if err != nil {
		return nil, nil, err
	}
	secret, err := env.secret()
	if err != nil {
		return nil, nil, err
	}
	usage := m.usage(api.Readiness)
	if _, err := client.Call(ctx, s.client, api.Usage, usage, client.WithKey(operationKey(secret, usage, m.digests[planFile]))); err != nil {
		return nil, nil, err
	}
	next, err := client.Call(ctx, s.client, api.Authorize, m.usage(api.Migration))
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	s.index = m.plan.IndexVersion
	s.mu.Unlock()
	r := &fleet.Read{Machine: m.row(member, found.Sum.Bytes, next.Licensed), Features: m.features(), Names: digests(secret, m.names()), Mentions: digests(secret, m.mentioned())}
	var page []byte
	if s.in.Out != "" {
		page, err = report.Render(m.plan, m.a, m.exposure, "svc "+env.Version)
	}
	return r, page, err
}

// row is a machine's line of the fleet.
func (m *move) row(member Member, bytes int64, licensed bool) fleet.Machine {
	_, _, undecided := m.namely()
	row := fleet.Machine{
		Name: member.Name, Place: member.Place, Source: m.a.Release, Fingerprint: m.a.Fingerprint,
		Packages: m.plan.Sum.Total, Questions: len(undecided), Unknown: m.plan.Sum.Unknown,
		Inhibitors: short(headlines(m.plan.Inhibitors)), Findings: []fleet.Finding{}, Databases: []string{}, DependsOn: []string{},
		DataBytes: bytes, Licensed: licensed,
	}
	stops := map[string]bool{}
	for _, f := range m.plan.Inhibitors {
		stops[f.Key] = true
	}
	for _, f := range short(headlines(slices.Concat(m.plan.Findings, m.a.Findings))) {
		if !stops[f.Key] {
			row.Findings = append(row.Findings, f)
		}
	}
	for _, c := range m.plan.Configuration {
		if c.Action == migration.Manual {
			row.Manual++
		}
	}
	for _, db := range m.a.Databases {
		row.Databases = append(row.Databases, strings.TrimSpace(db.Engine+" "+cmp.Or(db.DataVersion, db.Version)))
	}
	slices.Sort(row.Databases)
	row.Databases = slices.Compact(row.Databases)
	return row
}

func short(headlines []Headline) []fleet.Finding {
	all := []fleet.Finding{}
	for _, h := range headlines {
		all = append(all, fleet.Finding{Key: h.Key, Severity: h.Severity, Title: h.Title, Summary: h.Summary})
	}
	return all
}

// features are digests of what a machine is compared by with others: the names of
// its packages, its files of configuration with what becomes of them, its findings.
func (m *move) features() (all []uint64) {
	add := func(parts ...string) {
		h := fnv.New64a()
		for _, part := range parts {
			_, _ = h.Write(append([]byte(part), 0)) // which never fails
		}
		all = append(all, h.Sum64())
	}
	for _, p := range m.a.Packages {
		add("package", p.Name)
	}
	for _, c := range m.plan.Configuration {
		add("file", c.From, string(c.Action))
	}
	for _, f := range slices.Concat(m.plan.Inhibitors, m.plan.Findings, m.a.Findings) {
		add("finding", f.Key)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// names are the machine's own: its host name, and its addresses but for those that
// every machine has.
func (m *move) names() (all []string) {
	if name := strings.ToLower(m.a.System.Hostname); !everywhere[name] && len(name) > 2 {
		all = append(all, name)
	}
	for _, n := range m.a.Networks {
		for _, address := range n.Addresses {
			address, _, _ = strings.Cut(address, "/")
			if ip, err := netip.ParseAddr(address); err == nil && !ip.IsLoopback() && !ip.IsUnspecified() {
				all = append(all, ip.String())
			}
		}
	}
	return all
}

// everywhere are host names that say nothing of which machine it is.
var everywhere = map[string]bool{"": true, "localhost": true, "localhost.localdomain": true, "debian": true, "ubuntu": true, "server": true}

// spoken is what may be a host name or an address in a text.
var spoken = regexp.MustCompile(`[0-9A-Za-z][0-9A-Za-z.:-]{2,253}`)

// Bounds of what is looked for in configuration.
const (
	maxMentioning = 256 << 10 // bytes of a file
	maxMentions   = 16 << 10  // words of a machine
)

// digests are those of words by a key of this user: what a machine's configuration
// says stands in no file of a fleet, and still can be found among others' names.
func digests(key []byte, words []string) []uint64 {
	all := []uint64{}
	mac := hmac.New(sha256.New, key)
	for _, word := range words {
		mac.Reset()
		mac.Write([]byte("svc mention\x00" + word))
		all = append(all, binary.BigEndian.Uint64(mac.Sum(nil)))
	}
	slices.Sort(all)
	return all
}

// mentioned are the words of the configuration that people wrote which may be names
// or addresses of other machines; of a machine that has very many, the first.
func (m *move) mentioned() []string {
	seen := map[string]bool{}
	for _, mount := range m.a.Mounts {
		seen[strings.ToLower(before(mount.Device, ":"))] = true
	}
	for _, c := range m.a.Configuration {
		if c.Secret || c.Size > maxMentioning || c.Link != "" || c.SHA256 == "" || len(seen) > maxMentions {
			continue
		}
		b, err := host.ReadFile(m.host.FS(), strings.TrimPrefix(c.Path, "/"), maxMentioning)
		if err != nil {
			continue // the assessment says what could not be read
		}
		for _, word := range spoken.FindAllString(string(b), -1) {
			for _, name := range addressed(strings.ToLower(word)) {
				seen[name] = true
			}
		}
	}
	own := m.names()
	all := []string{}
	for name := range seen {
		if !slices.Contains(own, name) && !everywhere[name] {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all[:min(len(all), maxMentions)]
}

// addressed are the names that a word of configuration may be: itself, without a
// port, and a host's name without its domain.
func addressed(word string) []string {
	if ip, err := netip.ParseAddr(word); err == nil {
		return []string{ip.String()}
	}
	name := strings.Trim(before(word, ":"), ".-")
	if ip, err := netip.ParseAddr(name); err == nil {
		return []string{ip.String()}
	}
	return []string{name, before(name, ".")}
}

func before(s, sep string) string {
	s, _, _ = strings.Cut(s, sep)
	return s
}

// keepMachine writes what was read of a machine, and its report.
func (s *survey) keepMachine(member Member, k readBefore, page []byte) error {
	folder := filepath.Join(s.in.Out, member.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("writing what was read: %w", err)
	}
	// The mark of a fleet's folder comes first: what is cut off is gone on with.
	if err := s.mark(); err != nil {
		return err
	}
	b, err := json.Marshal(k)
	if err == nil {
		err = renameio.WriteFile(filepath.Join(folder, reportFile), page, 0o644)
	}
	if err == nil {
		err = renameio.WriteFile(filepath.Join(folder, machineFile), visible.JSON(b), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing what was read: %w", err)
	}
	return nil
}

// mark writes an empty fleet where there is none yet.
func (s *survey) mark() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Join(s.in.Out, fleetFile)
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	b, err := document(fleet.New(s.target, "", nil, fleet.Funds{}))
	if err != nil {
		return err
	}
	return renameio.WriteFile(name, b, 0o644)
}

// keep writes what is said of the whole fleet.
func (s *survey) keep(d *fleet.Document) error {
	if err := os.MkdirAll(s.in.Out, 0o755); err != nil {
		return fmt.Errorf("writing the fleet: %w", err)
	}
	page, err := fleet.Page(d, "svc "+s.env.Version)
	if err != nil {
		return err
	}
	doc, err := document(d)
	if err != nil {
		return err
	}
	for name, b := range map[string][]byte{fleetFile: doc, fleetTable: tableOf(d), fleetPage: page} {
		if err := renameio.WriteFile(filepath.Join(s.in.Out, name), b, 0o644); err != nil {
			return fmt.Errorf("writing the fleet: %w", err)
		}
	}
	return nil
}

// tableOf is a fleet as a table for spreadsheets. A text that one would take for a
// formula is quoted.
func tableOf(d *fleet.Document) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"name", "place", "source", "verdict", "wave", "group", "packages", "questions", "unknown", "manual", "inhibitors", "findings", "databases", "data_bytes", "licensed", "depends_on", "error"}}
	for _, m := range d.Machines {
		var stops []string
		for _, f := range m.Inhibitors {
			stops = append(stops, f.Title)
		}
		rows = append(rows, []string{
			m.Name, m.Place, m.Source, string(m.Verdict), strconv.Itoa(m.Wave), m.Group, strconv.Itoa(m.Packages), strconv.Itoa(m.Questions), strconv.Itoa(m.Unknown), strconv.Itoa(m.Manual),
			strings.Join(stops, "; "), strconv.Itoa(len(m.Findings)), strings.Join(m.Databases, "; "), strconv.FormatInt(m.DataBytes, 10), strconv.FormatBool(m.Licensed), strings.Join(m.DependsOn, " "), m.Error,
		})
	}
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = visible.Text(cell); strings.ContainsAny(cell[:min(1, len(cell))], "=+-@") {
				row[i] = "'" + row[i]
			}
		}
	}
	_ = w.WriteAll(rows) // a buffer takes all
	return b.Bytes()
}
