package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"svc/backend/license"
)

// entry is a command that waits for its decision; without a kind it is a metered
// request.
type entry struct {
	Command
	outcome Outcome
	refusal error
}

// Record implements Store.
func (s *ledger) Record(ctx context.Context, c Command) (Outcome, error) {
	e := &entry{Command: c}
	if err := s.record(ctx, e); err != nil {
		return Outcome{}, err
	}
	return e.outcome, e.refusal
}

// Meter implements Store.
func (s *ledger) Meter(ctx context.Context, account int64) error {
	_, err := s.Record(ctx, Command{AccountID: account})
	return err
}

// key is the name of a thing of an account.
type key struct {
	account int64
	name    string
}

// pair is one of two names.
type pair struct {
	key
	other string
}

// event is a command with its decision.
type event struct {
	Command
	id       int64
	decision license.Decision
}

// seat is what a batch writes of a seat.
type seat struct {
	event
	kinds   int64
	claimed bool
}

// answer is the first answer to an idempotency key.
type answer struct {
	account int64
	*Replay
	text string
}

// owners are accounts, what they hold, and the tokens that hold.
type owners struct {
	accounts map[int64]*Account
	holdings map[int64]*license.Holdings
	tokens   map[int64]bool
}

func newOwners() owners {
	return owners{map[int64]*Account{}, map[int64]*license.Holdings{}, map[int64]bool{}}
}

// batch is a transaction: what it read when nobody else could write the accounts,
// kept up to date by the decisions, and what it is to write.
type batch struct {
	now     time.Time
	entries []*entry
	owners
	// remembered is what a lane knew of the accounts when it asked for the rest.
	remembered map[int64]*known
	seated     map[key]bool // by fingerprint
	// findSeat, of a store that has not read all of seated, finds out whether a command's
	// VM has a seat; where the command claims one if there is none, it may take it. What
	// fails there fails the batch.
	findSeat func(c Command, d license.Decision) error
	failed   error            // what failed there
	recorded map[key]Outcome  // by request
	scanned  map[pair]Outcome // by fingerprint and scan
	kept     map[key]kept     // by idempotency key
	ids      []int64          // of events to come

	events  []event
	seats   map[key]*seat
	free    map[key]int64   // kinds that VMs ran without a seat
	claims  map[int64]int64 // by account
	hosts   map[pair]int64  // by fingerprint and host
	metered map[int64]int64 // by account
	answers map[key]answer
}

func newBatch(entries []*entry) *batch {
	return &batch{
		entries: entries, owners: newOwners(), remembered: map[int64]*known{}, seated: map[key]bool{},
		recorded: map[key]Outcome{}, scanned: map[pair]Outcome{}, kept: map[key]kept{}, seats: map[key]*seat{}, free: map[key]int64{},
		claims: map[int64]int64{}, hosts: map[pair]int64{}, metered: map[int64]int64{}, answers: map[key]answer{},
	}
}

func (c Command) vm() key       { return key{c.AccountID, c.Fingerprint} }
func (c Command) request() key  { return key{c.AccountID, c.RequestID} }
func (c Command) scan() pair    { return pair{c.vm(), c.ScanID} }
func (c Command) host() pair    { return pair{c.vm(), c.HostHint} }
func (c Command) replay() key   { return key{c.AccountID, c.Replay.Key} }
func (e *entry) account() int64 { return e.AccountID }
func (e *entry) token() int64   { return e.TokenID }

// distinct is one column of the entries, each value once.
func distinct(entries []*entry, get func(*entry) int64) []int64 {
	ids := column(entries, get)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// commands are the entries that are to be decided.
func (b *batch) commands() []*entry {
	return filter(b.entries, func(e *entry) bool { return e.Kind != "" })
}

// hold takes an account to those that are known.
func (o owners) hold(a Account) { o.accounts[a.ID], o.holdings[a.ID] = &a, &license.Holdings{} }

// decideAll decides the entries in their order.
func (b *batch) decideAll() error {
	for _, e := range b.entries {
		e.outcome, e.refusal = b.record(e)
		if e.refusal == nil {
			e.outcome.Owner = b.accounts[e.AccountID].Account
		}
		if b.failed != nil {
			return b.failed
		}
	}
	return nil
}

// record decides an entry as if those before it had been committed.
func (b *batch) record(e *entry) (o Outcome, err error) {
	a := b.accounts[e.AccountID]
	switch {
	case a == nil:
		return o, ErrNotFound
	case e.TokenID != 0 && (a.Disabled || !b.tokens[e.TokenID]):
		return o, ErrTokenDisabled
	case e.Kind == "":
		b.metered[e.AccountID]++
		return o, nil
	case e.Replay == nil:
		return b.decide(e.Command)
	}
	if k, ok := b.kept[e.replay()]; ok {
		found, err := k.answers(e.Replay, b.now, &o)
		if err != nil || found {
			return o, err
		}
	}
	if o, err = b.decide(e.Command); err != nil {
		return o, err
	}
	return o, b.keep(e.Command, o)
}

// decide finds a command's event, or makes one.
func (b *batch) decide(c Command) (Outcome, error) {
	if o, ok := b.recorded[c.request()]; ok {
		return o.repeated(b.seated[c.vm()]), nil
	}
	if o, ok := b.scanned[c.scan()]; ok && c.ScanID != "" {
		o.Decision.Claim = false // the first part of the scan claimed it
		return o.repeated(b.seated[c.vm()]), nil
	}
	o := b.outcome(c)
	if b.findSeat != nil && !b.seated[c.vm()] {
		if b.failed = b.findSeat(c, o.Decision); b.failed != nil {
			return o, b.failed
		}
		if b.seated[c.vm()] {
			o = b.outcome(c)
		}
	}
	if o.Decision.Refusal != nil {
		return o, o.Decision.Refusal
	}
	o.EventID, b.ids = b.ids[0], b.ids[1:]
	b.apply(event{c, o.EventID, o.Decision}, o)
	return o, nil
}

// outcome is what comes of a command, by what is known now.
func (b *batch) outcome(c Command) Outcome {
	a, seated := b.accounts[c.AccountID], b.seated[c.vm()]
	state := stateOf(a, b.holdings[c.AccountID], license.Day(b.now), seated)
	return Outcome{Decision: license.Decide(state, c.Kind, c.Target), Seated: seated}
}

// apply adds an event to what is to be written and to what the next ones see.
func (b *batch) apply(e event, o Outcome) {
	b.events = append(b.events, e)
	b.recorded[e.request()] = o
	if e.ScanID != "" {
		b.scanned[e.scan()] = o
	}
	if e.HostHint != "" {
		b.hosts[e.host()]++
	}
	if e.decision.Claim {
		b.seated[e.vm()] = true
		b.accounts[e.AccountID].Used++
		b.claims[e.AccountID]++
	}
	if !e.decision.Licensed {
		b.free[e.vm()] |= kindBit(e.Kind)
		return
	}
	if b.seats[e.vm()] == nil {
		b.seats[e.vm()] = &seat{event: e, kinds: b.free[e.vm()], claimed: e.decision.Claim}
	}
	b.seats[e.vm()].kinds |= kindBit(e.Kind)
}

// keep notes the answer to an idempotency key.
func (b *batch) keep(c Command, o Outcome) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	b.kept[c.replay()] = kept{c.Replay.BodyHash[:], string(text), instant(b.now)}
	b.answers[c.replay()] = answer{c.AccountID, c.Replay, string(text)}
	return nil
}

// column is one value of each of the rows.
func column[T, V any](rows []T, get func(T) V) []V {
	vs := make([]V, len(rows))
	for i, r := range rows {
		vs[i] = get(r)
	}
	return vs
}

// filter is those of the rows that are wanted.
func filter[T any](rows []T, want func(T) bool) (some []T) {
	for _, r := range rows {
		if want(r) {
			some = append(some, r)
		}
	}
	return some
}

// split is a map as two columns.
func split[K comparable, V any](m map[K]V) (keys []K, vs []V) {
	for k, v := range m {
		keys, vs = append(keys, k), append(vs, v)
	}
	return keys, vs
}

func values[K comparable, V any](m map[K]V) []V {
	_, vs := split(m)
	return vs
}
