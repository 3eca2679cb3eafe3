// Package tool is what tools have in common: the environment that they are called in,
// what they take and give, and how much of it, and how one is refused.
package tool

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/register"
)

// Env is everything that tools take from outside.
type Env struct {
	// Client opens the service, embedded or remote, on first use.
	Client func(ctx context.Context) (*client.Client, error)
	// Log gets what a person who searches for a fault needs.
	Log *slog.Logger
	// Progress is told how far a long step is; nil where nobody looks. A total
	// that is not known is -1.
	Progress func(what string, done, total int)
	// Now is the time; artifacts never depend on it.
	Now func() time.Time
	// Cache is a folder for what is downloaded from archives that the user names.
	Cache string
	// Rehearsals is a folder for fresh roots, their packages, and what a rehearsal
	// has of its own while it runs.
	Rehearsals string
	// Version of the program, for attestations and reports.
	Version string
	// Trust gives those of the service's keys that this user trusts, and pins
	// them at first use; nil trusts what the service says.
	Trust func(published []api.Key) ([]ed25519.PublicKey, error)
	// LocalKey is this user's own signing key, made at first use: it signs what
	// no service does.
	LocalKey func() (ed25519.PrivateKey, error)
	// Resources keeps what a result was too small for; nil where nobody reads it.
	Resources Resources
	// ForAgent is that an agent calls: what no person typed is confirmed before it is
	// done, an address to fetch, a folder of commands, the seat of a verification.
	ForAgent bool
	// Register is what this user calls machines; it is never sent.
	Register register.Register
	// Hosts are the names of the machine that svc runs on: they are stripped
	// from what is filed.
	Hosts []string
	// Admit is asked right before words are filed, and may refuse; nil where
	// nothing bounds how many are.
	Admit func(ctx context.Context) error
}

// Step tells how far a long step is, where somebody looks.
func (e *Env) Step(what string, done, total int) {
	if e.Progress != nil {
		e.Progress(what, done, total)
	}
}

// Call is one request of the service.
func Call[In, Out any](ctx context.Context, env *Env, e api.Endpoint[In, Out], in In) (out Out, err error) {
	c, err := env.Client(ctx)
	if err != nil {
		return out, err
	}
	return client.Call(ctx, c, e, in)
}

// Secret is what this user alone knows on this machine: the seed of the local key.
func (e *Env) Secret() ([]byte, error) {
	key, err := e.LocalKey()
	if err != nil {
		return nil, err
	}
	return key.Seed(), nil
}

// Resources keeps documents that a cut result names.
type Resources interface {
	// Put keeps a JSON document and gives the URI under which it, and never another,
	// can be read.
	Put(name string, document []byte) (uri string)
}

// Hints tell a client what a call may do. All four are always sent: clients
// that run without a person refuse a tool that leaves one open.
type Hints struct {
	ReadOnly    bool // changes nothing anywhere
	Destructive bool // may replace or delete what is there
	Idempotent  bool // a repeat changes nothing more
	OpenWorld   bool // may talk to machines that the call names
	Seats       bool // a confirmed call may claim a licence seat; clients are not told
}

// Tool is one thing that an agent can do.
type Tool struct {
	Name        string
	Title       string
	Description string
	Hints       Hints
	Enums       Enums // of types that not every tool has
	Input       *jsonschema.Schema
	Output      *jsonschema.Schema
	// Call decodes args strictly, runs the tool and gives a value of Output.
	Call func(ctx context.Context, env *Env, args json.RawMessage) (any, error)
}

// Define makes a tool of a function: the schemas are those of In and Out.
func Define[In, Out any](t Tool, fn func(context.Context, *Env, In) (Out, error)) Tool {
	return taking(t, prune(SchemaOf[Out](t.Enums)), func(ctx context.Context, env *Env, in In) (any, error) { return fn(ctx, env, in) })
}

// DefineForms makes a tool whose results have several forms: Out has the members of all.
func DefineForms[In, Out any](t Tool, fn func(context.Context, *Env, In) (any, error)) Tool {
	out := prune(SchemaOf[Out](t.Enums))
	out.Required = nil
	return taking(t, out, fn)
}

// taking completes a tool by what it takes.
func taking[In any](t Tool, out *jsonschema.Schema, fn func(context.Context, *Env, In) (any, error)) Tool {
	t.Input, t.Output = SchemaOf[In](t.Enums), out
	t.Call = func(ctx context.Context, env *Env, args json.RawMessage) (any, error) {
		in, err := decode[In](t.Input, args)
		if err != nil {
			return nil, &InputError{Tool: t.Name, Err: err}
		}
		return fn(ctx, env, in)
	}
	return t
}

// InputError is a call whose input is not what the tool takes: nothing was done.
type InputError struct {
	Tool string
	Err  error
}

func (e *InputError) Error() string {
	return fmt.Sprintf("%v; nothing was done: see the input schema of %s", e.Err, e.Tool)
}

// InputErrorf is an *InputError in words.
func InputErrorf(tool, format string, args ...any) error {
	return &InputError{Tool: tool, Err: fmt.Errorf(format, args...)}
}

func (e *InputError) Unwrap() error { return e.Err }

// Unfinished is a migration that claimed the machine's seat, and then could not
// write. Nothing was written.
type Unfinished struct{ Err error }

func (e *Unfinished) Error() string {
	return fmt.Sprintf("%v; nothing was written, but the machine's licence seat is claimed: repeat the call, which costs nothing more", e.Err)
}

func (e *Unfinished) Unwrap() error { return e.Err }

// NeedsConfirm is a call that would write, send or seat something and was not
// confirmed. Nothing was done.
type NeedsConfirm struct {
	Would string // what a confirmed call does, as a sentence's rest: "write …"
	Cost  string // a sentence: a seat or not
	Seat  bool   // a confirmed call claims a licence seat
	Needs string // what a confirmed call must name too: "out, the folder to write to"; empty where nothing lacks
	Shown string // the plan_digest that a confirmed call names where no person was asked; empty where it need not
}

func (e *NeedsConfirm) Error() string {
	confirm := "confirm"
	if e.Needs != "" {
		confirm += ", and with " + e.Needs + ","
	}
	if e.Shown != "" {
		confirm += " and plan_digest " + e.Shown
	}
	return fmt.Sprintf("not confirmed, so nothing was written, sent or seated. With confirm this would %s. %s Repeat the call with %s to go on.", e.Would, e.Cost, confirm)
}
