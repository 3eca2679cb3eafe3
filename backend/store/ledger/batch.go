package ledger

import (
	"context"
	"encoding/json"
	"time"

	"svc/backend/license"
	"svc/backend/sliced"
	"svc/backend/store"
)

// Entry is a command that waits for its decision; without a kind it is a metered
// request.
type Entry struct {
	store.Command
	Outcome store.Outcome
	Refusal error
}

// Record implements store.Store.
func (s *Ledger) Record(ctx context.Context, c store.Command) (store.Outcome, error) {
	e := &Entry{Command: c}
	if err := s.Enter(ctx, e); err != nil {
		return store.Outcome{}, err
	}
	return e.Outcome, e.Refusal
}

// Meter implements store.Store.
func (s *Ledger) Meter(ctx context.Context, account int64) error {
	_, err := s.Record(ctx, store.Command{AccountID: account})
	return err
}

// OfVM is the name of a scan, or of a host, of a VM.
type OfVM struct{ Fingerprint, Name string }

// Scan is the scan that a command is a part of.
func (e *Entry) Scan() OfVM { return OfVM{e.Fingerprint, e.ScanID} }

// Event is a command with its decision.
type Event struct {
	store.Command
	ID       int64
	Decision license.Decision
}

// Seat is what a batch writes of a seat.
type Seat struct {
	Event
	Kinds   int64
	Claimed bool
}

// Owner is an account, what it holds, and those of its tokens that hold; the account is
// nil where there is none.
type Owner struct {
	Account  *store.Account
	Holdings *license.Holdings
	Tokens   map[int64]bool
}

// NewOwner knows nothing of an account yet.
func NewOwner() Owner { return Owner{Holdings: &license.Holdings{}, Tokens: map[int64]bool{}} }

// Batch is what of one account is decided in a transaction: what was read when nobody
// else could write to the account, kept up to date by the decisions, and what is to be
// written.
type Batch struct {
	Now     time.Time
	Entries []*Entry
	Owner
	Seated   map[string]bool          // by fingerprint
	Recorded map[string]store.Outcome // by request
	Scanned  map[OfVM]store.Outcome   // by fingerprint and scan
	Kept     map[string]Kept          // by idempotency key
	IDs      []int64                  // of events to come

	Events  []Event
	Seats   map[string]*Seat
	Free    map[string]int64 // kinds that VMs ran without a seat
	Claims  int64
	Hosts   map[OfVM]int64 // events by fingerprint and host
	Metered int64
	Answers map[string]Answer
}

// NewBatch is a batch of entries of one account.
func NewBatch(entries []*Entry) *Batch {
	return &Batch{
		Entries: entries, Owner: NewOwner(), Seated: map[string]bool{},
		Recorded: map[string]store.Outcome{}, Scanned: map[OfVM]store.Outcome{}, Kept: map[string]Kept{}, Seats: map[string]*Seat{}, Free: map[string]int64{},
		Hosts: map[OfVM]int64{}, Answers: map[string]Answer{},
	}
}

// Commands are the entries that are to be decided.
func (b *Batch) Commands() []*Entry {
	return sliced.Filter(b.Entries, func(e *Entry) bool { return e.Kind != "" })
}

// Decide decides the entries in their order.
func (b *Batch) Decide() {
	for _, e := range b.Entries {
		e.Outcome, e.Refusal = b.record(e)
		if e.Refusal == nil {
			e.Outcome.Owner = b.Account.Account
		}
	}
}

// record decides an entry as if those before it had been committed.
func (b *Batch) record(e *Entry) (o store.Outcome, err error) {
	switch {
	case b.Account == nil:
		return o, store.ErrNotFound
	case e.TokenID != 0 && (b.Account.Disabled || !b.Tokens[e.TokenID]):
		return o, store.ErrTokenDisabled
	case e.Kind == "":
		b.Metered++
		return o, nil
	case e.Replay == nil:
		return b.decide(e)
	}
	if k, ok := b.Kept[e.Replay.Key]; ok {
		found, err := k.answers(e.Replay, b.Now, &o)
		if err != nil || found {
			return o, err
		}
	}
	if o, err = b.decide(e); err != nil {
		return o, err
	}
	return o, b.keep(e.Command, o)
}

// decide finds a command's event, or makes one.
func (b *Batch) decide(e *Entry) (store.Outcome, error) {
	c := e.Command
	if o, ok := b.Recorded[c.RequestID]; ok {
		return repeated(o, b.Seated[c.Fingerprint]), nil
	}
	if o, ok := b.Scanned[e.Scan()]; ok && c.ScanID != "" {
		o.Decision.Claim = false // the first part of the scan claimed it
		return repeated(o, b.Seated[c.Fingerprint]), nil
	}
	o := b.outcome(c)
	if o.Decision.Refusal != nil {
		return o, o.Decision.Refusal
	}
	o.EventID, b.IDs = b.IDs[0], b.IDs[1:]
	b.apply(Event{c, o.EventID, o.Decision}, o)
	return o, nil
}

// outcome is what comes of a command, by what is known now.
func (b *Batch) outcome(c store.Command) store.Outcome {
	seated := b.Seated[c.Fingerprint]
	state := StateOf(b.Account, b.Holdings, license.Day(b.Now), seated)
	return store.Outcome{Decision: license.Decide(state, c.Kind, c.Target), Seated: seated}
}

// apply adds an event to what is to be written and to what the next ones see.
func (b *Batch) apply(e Event, o store.Outcome) {
	vm := e.Fingerprint
	b.Events = append(b.Events, e)
	b.Recorded[e.RequestID] = o
	if e.ScanID != "" {
		b.Scanned[OfVM{vm, e.ScanID}] = o
	}
	if e.HostHint != "" {
		b.Hosts[OfVM{vm, e.HostHint}]++
	}
	if e.Decision.Claim {
		b.Seated[vm] = true
		b.Account.Used++
		b.Claims++
	}
	if !e.Decision.Licensed {
		b.Free[vm] |= KindBit(e.Kind)
		return
	}
	if b.Seats[vm] == nil {
		b.Seats[vm] = &Seat{Event: e, Kinds: b.Free[vm], Claimed: e.Decision.Claim}
	}
	b.Seats[vm].Kinds |= KindBit(e.Kind)
}

// keep notes the answer to an idempotency key.
func (b *Batch) keep(c store.Command, o store.Outcome) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	b.Kept[c.Replay.Key] = Kept{c.Replay.BodyHash[:], string(text), Instant(b.Now)}
	b.Answers[c.Replay.Key] = Answer{c.AccountID, c.Replay, string(text)}
	return nil
}
