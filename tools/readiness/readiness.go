// Package readiness looks at many machines, or at several targets of one, before anything
// is moved.
package readiness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/visible"
	"svc/tools/data"
	"svc/tools/evidence"
	"svc/tools/fleet"
	"svc/tools/fleet/folder"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/report"
	"svc/tools/tool"
)

// Names of what a readiness writes, below its folder; in a folder for each machine
// are its report and what was read of it.
const (
	fleetFile   = "fleet.json"
	fleetPage   = "index.html"
	fleetTable  = "machines.csv"
	machineFile = "read.json"
)

// Input is the input of Readiness.
type Input struct {
	Members  []machine.Member
	Target   string
	Parallel int           // machines read at once
	Patience time.Duration // for one machine
	Out      string        // folder to write to; nothing is written where empty
	Fresh    bool          // read all again, whatever is in Out
	Hazards  string        // folder with tables of known trouble, beside the program's own
}

// readiness is one on its way.
type readiness struct {
	env    *tool.Env
	in     Input
	target string // slug
	client *client.Client

	mu       sync.Mutex
	progress fleet.Progress
	index    string
	read     []fleet.Read
	mentions *folder.Mentions
}

// Of says of every machine of a fleet whether it can move to a release, and
// what all cost together. Each is assessed and planned, and recorded as readiness,
// which is free; no seat is claimed. A machine that can't be read is a row like
// others. Where ctx ends, its error is returned with what is done, which is kept
// below Out: a repeat goes on there.
func Of(ctx context.Context, env *tool.Env, in Input) (*fleet.Document, error) {
	target, err := job.TargetNamed(in.Target)
	if err != nil {
		return nil, err
	}
	if _, err := job.HazardTables(in.Hazards); err != nil { // before it is every machine's error
		return nil, err
	}
	if in.Out != "" {
		if err := checkFleet(in.Out); err != nil {
			return nil, err
		}
	}
	s := &readiness{env: env, in: in, target: target.Slug, progress: fleet.Progress{Total: len(in.Members)}}
	if s.client, err = env.Client(ctx); err != nil {
		return nil, err
	}
	funds, err := s.funds(ctx)
	if err != nil {
		return nil, err
	}
	if s.mentions, err = folder.KeepMentions(); err != nil {
		return nil, err
	}
	defer s.mentions.Close()
	s.all(ctx)
	if err := s.mentions.Return(s.read); err != nil {
		return nil, err
	}
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
func (s *readiness) funds(ctx context.Context) (fleet.Funds, error) {
	account, err := client.Call(ctx, s.client, api.GetAccount, api.None{})
	if err != nil {
		return fleet.Funds{}, err
	}
	capacity, err := client.Call(ctx, s.client, api.GetCapacity, api.None{})
	if err != nil {
		return fleet.Funds{}, err
	}
	return fleet.Funds{Unlimited: account.Unlimited, Left: job.SeatsLeft(capacity), Rate: api.OverageRate, Annual: account.AnnualTotal}, nil
}

// all reads the machines, several at once.
func (s *readiness) all(ctx context.Context) {
	machine.Each(s.in.Members, s.in.Parallel, func(_ int, m machine.Member) {
		if ctx.Err() != nil {
			return
		}
		s.begin()
		if r, index, how := s.one(ctx, m); ctx.Err() == nil { // else it was cut off: a repeat reads it
			s.add(m, r, index, how)
		}
	})
}

func (s *readiness) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.env.Step(s.progress.Begins(s.env.Now()))
}

func (s *readiness) add(m machine.Member, r fleet.Read, index string, how fleet.Ended) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mentions.Take(&r); err != nil {
		r, how = unreadable(m, err), fleet.HasFailed
	}
	s.read, s.index = append(s.read, r), cmp.Or(index, s.index)
	s.env.Step(s.progress.Ends(how, s.env.Now()))
}

// readBefore is what is kept of a machine: what was read, and of what.
type readBefore struct {
	Target  string     `json:"target"`
	Index   string     `json:"index_version"`
	Version string     `json:"version"` // of svc
	Stamp   string     `json:"stamp"`   // of what it was read from; empty where nothing tells cheaply that it changed
	Read    fleet.Read `json:"read"`
}

// one reads one machine, or takes what was read of it before where it has not
// changed. What it can't read is an error in the row.
func (s *readiness) one(ctx context.Context, member machine.Member) (read fleet.Read, index string, how fleet.Ended) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.in.Patience, fmt.Errorf("it took longer than %s", s.in.Patience))
	defer cancel()
	now := readBefore{Target: s.target, Version: s.env.Version}
	if s.in.Out != "" {
		now.Stamp = machine.Stamp(ctx, member.Machine)
	}
	if before, ok := s.before(member); ok && now.Stamp != "" && before.Stamp == now.Stamp && before.Read.Machine.Place == member.Place && before.Target == now.Target && before.Version == now.Version {
		return before.Read, before.Index, fleet.WasKept
	}
	r, page, err := s.look(ctx, member)
	if err == nil {
		r, err = ownCopy(r)
	}
	if err == nil && s.in.Out != "" {
		now.Read, now.Index = *r, s.index
		err = s.keepMachine(member, now, page)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return unreadable(member, err), "", fleet.HasFailed
	}
	return *r, now.Index, fleet.WasRead
}

// unreadable is the row of a machine that could not be read.
func unreadable(m machine.Member, err error) fleet.Read {
	return fleet.Read{Machine: fleet.Machine{
		Name: m.Name, Place: m.Place, Error: visible.Lines(err.Error()),
		Inhibitors: []fleet.Finding{}, Findings: []fleet.Finding{}, Databases: []string{}, DependsOn: []string{},
	}}
}

// ownCopy is one that holds nothing of the files which its words are parts of: what is
// kept of a fleet must not grow with them.
func ownCopy(r *fleet.Read) (*fleet.Read, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("keeping what was read: %w", err)
	}
	own := new(fleet.Read)
	if err := json.Unmarshal(b, own); err != nil {
		return nil, fmt.Errorf("keeping what was read: %w", err)
	}
	return own, nil
}

// before is what an earlier readiness kept of a machine.
func (s *readiness) before(member machine.Member) (k readBefore, ok bool) {
	if s.in.Out == "" || s.in.Fresh || s.in.Hazards != "" { // which may have changed
		return k, false
	}
	b, err := os.ReadFile(filepath.Join(s.in.Out, member.Name, machineFile))
	return k, err == nil && json.Unmarshal(b, &k) == nil
}

// look assesses and plans a machine, and records that.
func (s *readiness) look(ctx context.Context, member machine.Member) (*fleet.Read, []byte, error) {
	env := *s.env
	env.Progress = nil // of the fleet alone
	m := move.New(&env, move.Input{Machine: member.Machine, Target: s.target, Preflight: true, Hazards: s.in.Hazards})
	if err := m.Check(); err != nil {
		return nil, nil, err
	}
	if err := m.Begin(ctx); err != nil {
		return nil, nil, err
	}
	defer m.Close()
	if err := m.Prepare(ctx); err != nil {
		return nil, nil, err
	}
	found, err := data.Discover(ctx, m.Host, m.Assessment, func(int64) {})
	if err != nil {
		return nil, nil, err
	}
	secret, err := env.Secret()
	if err != nil {
		return nil, nil, err
	}
	usage := m.Usage(api.Readiness)
	if _, err := client.Call(ctx, s.client, api.Usage, usage, client.WithKey(job.OperationKey(secret, usage, m.Digests[evidence.PlanFile]))); err != nil {
		return nil, nil, err
	}
	next, err := client.Call(ctx, s.client, api.Authorize, m.Usage(api.Migration))
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	s.index = m.Plan.IndexVersion
	s.mu.Unlock()
	r := &fleet.Read{Machine: row(m, member, found.Sum.Bytes, next.Licensed), Features: features(m), Names: digests(secret, namesOf(m.Assessment)), Mentions: digests(secret, mentioned(m.Job))}
	var page []byte
	if s.in.Out != "" {
		page = report.Render(m.Plan, m.Assessment, m.Exposure, "svc "+env.Version)
	}
	return r, page, nil
}
