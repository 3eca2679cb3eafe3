package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"svc/backend/osfile"
	"svc/tools/upgrade/safefile"
)

// JournalSchema names the form of a journal.
const JournalSchema = "svc.db-upgrade/v1"

// journalFile is the journal's name in the backup directory: a JSON object on
// each line, on the disk before what it tells of happens.
const journalFile = "journal.jsonl"

// State is what becomes of a step.
type State string

// The states of a step: those that a line of the journal says it enters.
const (
	Started State = "started"
	Done    State = "done"
	Undoing State = "undoing"
	Undone  State = "undone"
)

// Outcome is how an upgrade ended; empty while it has not.
type Outcome string

// The ends of an upgrade.
const (
	Upgraded   Outcome = "upgraded"
	RolledBack Outcome = "rolled back"
)

// Entry is a line of a journal: the first says what the upgrade is, each further
// one what becomes of a step, or how the upgrade ended.
type Entry struct {
	At time.Time `json:"at"`

	Schema  string         `json:"schema,omitzero"`
	ID      string         `json:"id,omitzero"` // of this upgrade: marks the programs that it runs
	Engine  string         `json:"engine,omitzero"`
	Upgrade jsontext.Value `json:"job,omitzero"` // what the engine needs to make its steps again

	Step    string  `json:"step,omitzero"`
	State   State   `json:"state,omitzero"`
	Why     string  `json:"why,omitzero"` // a step is undone
	Outcome Outcome `json:"outcome,omitzero"`
}

// Progress is how far an upgrade is.
type Progress struct {
	begin   Entry
	steps   map[string]State
	outcome Outcome
	at      map[string]time.Time // when a step last entered a state, by both
}

// Errors of a journal that can't be gone on with.
var (
	ErrNoJournal = errors.New("no upgrade has begun here")
	ErrJournal   = errors.New("the journal is damaged")
)

// parseJournal reads a journal; whole is the length of what is sound. The last
// line may be cut off, or be anything that a power cut leaves: it tells of
// something that has not happened yet.
func parseJournal(b []byte) (p Progress, whole int, err error) {
	p.steps, p.at = map[string]State{}, map[string]time.Time{}
	for n := 0; whole < len(b); n++ {
		line, rest, ended := bytes.Cut(b[whole:], []byte{'\n'})
		e, err := parseEntry(line, n == 0)
		if !ended || err != nil && len(bytes.Trim(rest, "\x00")) == 0 {
			break
		}
		if err != nil {
			return p, whole, fmt.Errorf("%w: line %d: %w", ErrJournal, n+1, err)
		}
		p.add(e)
		whole += len(line) + 1
	}
	if whole == 0 {
		return p, 0, ErrNoJournal
	}
	return p, whole, nil
}

// parseEntry reads a line; the first one has the schema, and no other has.
func parseEntry(line []byte, first bool) (e Entry, err error) {
	if err := json.Unmarshal(line, &e, json.RejectUnknownMembers(true)); err != nil {
		return e, err
	}
	switch {
	case first && (e.Schema != JournalSchema || e.ID == "" || e.Engine == "" || e.Step != "" || e.Outcome != ""):
		return e, fmt.Errorf("it does not begin an upgrade of form %s", JournalSchema)
	case !first && (e.Schema != "" || (e.Step == "") == (e.Outcome == "")):
		return e, errors.New("it tells neither of a step nor of an end")
	}
	return e, nil
}

// add takes a line in.
func (p *Progress) add(e Entry) {
	switch {
	case e.Schema != "":
		p.begin = e
	case e.Outcome != "":
		p.outcome = e.Outcome
	default:
		p.steps[e.Step], p.outcome = e.State, ""
		p.at[e.Step+" "+string(e.State)] = e.At
	}
}

// journal is an open journal.
type journal struct {
	file *os.File
	so   Progress
	now  func() time.Time
}

// Bounds of a journal: what it may have, and what is kept free for it, so that a
// full disk does not stop it.
const (
	maxJournal     = 16 << 20
	journalReserve = 256 << 10
)

// readJournal reads the journal of a backup directory. It says what root is to do:
// one that others could have written is not read.
func readJournal(dir string) (so Progress, whole int, err error) {
	f, err := safefile.Open(dir, journalFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return so, 0, ErrNoJournal
	}
	if err != nil {
		return so, 0, fmt.Errorf("reading the journal: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxJournal+1))
	switch {
	case err != nil:
		return so, 0, fmt.Errorf("reading the journal: %w", err)
	case len(b) > maxJournal:
		return so, 0, fmt.Errorf("%w: it has more than %d bytes", ErrJournal, maxJournal)
	}
	return parseJournal(b)
}

// beginJournal makes a new journal, in a directory where no upgrade has begun.
func beginJournal(dir string, begin Entry, now func() time.Time) (*journal, error) {
	f, err := safefile.Open(dir, journalFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("making the journal: %w", err)
	}
	j := &journal{file: f, so: Progress{steps: map[string]State{}, at: map[string]time.Time{}}, now: now}
	if err := errors.Join(f.Truncate(0), reserve(f), j.write(begin), osfile.SyncNames(dir)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// reserve keeps room on the disk; where the file system can't, lines take theirs
// as they come.
func reserve(f *os.File) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, journalReserve)
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("making the journal: %w", err)
	}
	return nil
}

// openJournal opens a journal to go on with, without a line that was cut off.
func openJournal(dir string, now func() time.Time) (*journal, error) {
	so, whole, err := readJournal(dir)
	if err != nil {
		return nil, err
	}
	f, err := safefile.Open(dir, journalFile, os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	_, err = f.Seek(int64(whole), io.SeekStart)
	if err = errors.Join(err, f.Truncate(int64(whole)), reserve(f)); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", errors.Join(err, f.Close()))
	}
	return &journal{file: f, so: so, now: now}, nil
}

// write adds a line; it is on the disk when write returns.
func (j *journal) write(e Entry) error {
	e.At = j.now().UTC()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err = errors.Join(err, j.file.Sync()); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	j.so.add(e)
	return nil
}
