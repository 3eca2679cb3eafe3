// Package store says what a store of the service's truth does: accounts, tokens,
// seats, events. Its packages sqlite and postgres are such stores, over what they have
// in common in ledger, and are the only ones that know SQL. The rules are package
// license's; a store reads their state and applies their decision in one transaction.
package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"svc/backend/api"
	"svc/backend/license"
)

// ErrNotFound means that there is no such thing, or that it is another
// account's.
var ErrNotFound = errors.New("not found")

// ErrTokenDisabled means that the token of a command, or its account, is
// disabled.
var ErrTokenDisabled = errors.New("token disabled")

// ErrNoStagedRelease means that a channel has no staged release.
var ErrNoStagedRelease = errors.New("no staged release")

// Unavailable is the answer of a store that can't be reached now.
func Unavailable(why string) error {
	e := api.Errorf(api.Unavailable, "%s; nothing was recorded: repeat the request", why)
	e.RetryAfter = 1
	return e
}

// Principal is who a token belongs to.
type Principal struct {
	AccountID int64
	TokenID   int64
	Plan      api.Plan
	Unlimited bool
}

// Command is one operation on a VM to decide and record.
type Command struct {
	RequestID   string // made before the first try; a repeat of it records nothing more
	AccountID   int64
	TokenID     int64 // checked again where the command is recorded; 0 for none
	Kind        api.Kind
	Fingerprint string
	Source      api.OS
	Target      *api.OS
	HostHint    string
	ScanID      string // the parts of one scan make one event
	Replay      *Replay
}

// Replay is an idempotency key: the same key and body get the first answer.
type Replay struct {
	Key      string
	BodyHash [32]byte
}

// Outcome is what happened to a command.
type Outcome struct {
	Decision license.Decision
	EventID  int64
	// Seated says that the VM had a seat before.
	Seated bool
	// Owner is the account as it was then.
	Owner license.Account `json:"-"`
}

// Account is an account with what an operator sees of it.
type Account struct {
	license.Account
	Disabled  bool
	Used      int
	Version   int64 // of what operators change: the account, its tokens and its grants
	CreatedAt time.Time
}

// Token is a token without its secret.
type Token struct {
	ID         int64      `json:"token_id"`
	AccountID  int64      `json:"account_id"`
	CreatedAt  time.Time  `json:"created_at"`
	DisabledAt *time.Time `json:"disabled_at"`
}

// Release is a product release, published or only staged.
type Release struct {
	Tag         string     `json:"tag"`
	Channel     string     `json:"channel"`
	Notes       string     `json:"notes"`
	StagedAt    time.Time  `json:"staged_at"`
	PublishedAt *time.Time `json:"published_at"`
}

// Copies are the hosts that report under one fingerprint.
type Copies struct {
	VM     string `json:"vm"`     // the first 12 characters of the fingerprint
	Hosts  int    `json:"hosts"`  // two or more
	Events int    `json:"events"` // of all of them
}

// AuditEntry is one act of an operator.
type AuditEntry struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Act    string    `json:"act"`
	Detail string    `json:"detail"`
}

// Shard is a part of the events of a store that is spread over several servers.
type Shard struct {
	ID     int64
	Server int64 // the number that the database gave it
	Bytes  int64
}

// Store is what the server and the operator's commands need. All methods are
// safe for concurrent use. A refusal is an *api.Error; what is not there is
// ErrNotFound; a store that can't be reached is an *api.Error UNAVAILABLE.
type Store interface {
	// Authenticate finds the account of a token by its SHA-256.
	Authenticate(ctx context.Context, hash [32]byte) (Principal, error)

	// Record decides a command and records it; a refusal records nothing. It is
	// ErrTokenDisabled where the token does not hold at the instant of the decision.
	Record(ctx context.Context, c Command) (Outcome, error)
	// Peek says what Record would, and records nothing.
	Peek(ctx context.Context, c Command) (Outcome, error)
	// Seated reports whether the account has a seat for the VM.
	Seated(ctx context.Context, account int64, fingerprint string) (bool, error)
	// Meter counts one metered request.
	Meter(ctx context.Context, account int64) error

	Summary(ctx context.Context, account int64) (api.Account, error)
	Capacity(ctx context.Context, account int64) (api.Capacity, error)
	// Statement is the bill with a page of its lines, the oldest first.
	Statement(ctx context.Context, account int64, p Page) (api.Statement, error)
	VMs(ctx context.Context, account int64, p Page) (api.VMList, error)
	Usage(ctx context.Context, account int64, p Page) (api.UsageHistory, error)

	FileFinding(ctx context.Context, account int64, f api.FindingRequest, redactions map[string]int, r *Replay) (api.Finding, error)
	Finding(ctx context.Context, account, id int64) (api.Finding, error)
	Findings(ctx context.Context, account int64, p Page) (api.FindingList, error)
	// ResolveFinding marks any account's finding fixed in the newest staged
	// release of the channel; one that is fixed already stays as it is.
	ResolveFinding(ctx context.Context, id int64, channel string) (api.Finding, error)
	AskQuestion(ctx context.Context, account int64, question string, redactions map[string]int, r *Replay) (api.Question, error)
	Question(ctx context.Context, account, id int64) (api.Question, error)
	Questions(ctx context.Context, account int64, p Page) (api.QuestionList, error)
	AnswerQuestion(ctx context.Context, id int64, answer string) (api.Question, error)

	// Releases lists the published releases, newest first.
	Releases(ctx context.Context) ([]api.Release, error)
	Keys(ctx context.Context) ([]api.Key, error)

	// Ready is nil where the store can be written to.
	Ready(ctx context.Context) error
	Close() error

	Operator
}

// Operator is what people who run the service do. Every act is audited in its
// own transaction.
type Operator interface {
	CreateAccount(ctx context.Context, actor string, a license.Account) (int64, error)
	// SetAccount changes an account as it then is, which nobody else changes meanwhile.
	SetAccount(ctx context.Context, actor string, id int64, change func(*Account)) error
	Account(ctx context.Context, id int64) (Account, error)
	Accounts(ctx context.Context) ([]Account, error)
	CreateToken(ctx context.Context, actor string, account int64, hash [32]byte) (int64, error)
	Tokens(ctx context.Context, account int64) ([]Token, error)
	DisableToken(ctx context.Context, actor string, id int64) error
	// Holdings are all grants and POVs of an account, also those that count no more.
	Holdings(ctx context.Context, account int64) (license.Holdings, error)
	// Copies lists the VMs of an account that several hosts report as.
	Copies(ctx context.Context, account int64) ([]Copies, error)
	AddGrant(ctx context.Context, actor string, account int64, g license.Grant) (int64, error)
	RevokeGrant(ctx context.Context, actor string, id int64) error
	AddPOV(ctx context.Context, actor string, account int64, g license.Grant) (int64, error)
	// ConvertPOV turns a POV into a licence until the day, in one step.
	ConvertPOV(ctx context.Context, actor string, id int64, until string) (grant int64, err error)
	// StageRelease stages the tag of a release on its channel, and gives it with the time.
	StageRelease(ctx context.Context, actor string, r Release) (Release, error)
	PublishRelease(ctx context.Context, actor, tag string) (Release, error)
	Audit(ctx context.Context) ([]AuditEntry, error)
	// EveryFinding lists those of all accounts, oldest first; open leaves the fixed out.
	EveryFinding(ctx context.Context, open bool) ([]api.Finding, error)
	// EveryQuestion lists those of all accounts, oldest first; open leaves the answered out.
	EveryQuestion(ctx context.Context, open bool) ([]api.Question, error)
	// AddKey makes a public key the one that signs; those before it are retired.
	AddKey(ctx context.Context, actor string, k api.Key) error
	// Check lists what does not add up: counters that differ from the rows, copies
	// that differ from what they copy, and where the data lie.
	Check(ctx context.Context) ([]string, error)
	// Prune removes events before an instant, account by account; seats stay for ever.
	Prune(ctx context.Context, actor string, before time.Time) (int64, error)
	// Backup writes a consistent copy to a new file.
	Backup(ctx context.Context, file string) error
	// Spread moves a store on one server to several; nobody may use it meanwhile.
	Spread(ctx context.Context, actor string) error
	// Isolate gives an account a shard of its own in a store that is spread, on the server
	// HOST:PORT where one is named.
	Isolate(ctx context.Context, actor string, account int64, server string) (shard int64, err error)
	// Shards are those of a store that is spread; none of another.
	Shards(ctx context.Context) ([]Shard, error)
}

// Options are what a store takes beside its address. A nil Log is silent; a
// nil Now is the clock.
type Options struct {
	Now func() time.Time
	Log *slog.Logger
	// CheckPages is for how long at most the pages of a file are looked through before
	// it is used; not at all where zero.
	CheckPages time.Duration
}

// ErrAddress is an address of a store that has no such form.
var ErrAddress = errors.New("opening the store: the address must be sqlite:PATH or postgres://HOST/DATABASE")
