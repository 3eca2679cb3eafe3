package tools

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"

	"svc/backend/api/attest"
	"svc/backend/visible"
	"svc/tools/artifact"
	"svc/tools/rehearsal"
)

// rehearsalFile is the main file of a rehearsal's folder.
const rehearsalFile = "rehearsal.json"

// Rehearsed is what a rehearsal said, in short.
type Rehearsed struct {
	SHA256 string            `json:"sha256"` // of rehearsal.json
	Level  rehearsal.Level   `json:"level"`
	Sum    rehearsal.Sum     `json:"sum"`
	Failed []rehearsal.Check `json:"failed"` // the first of what did not run
}

// maxFailed is how many failures of a rehearsal a result has.
const maxFailed = 10

// readRehearsal reads a rehearsal's folder, which this user's own key has signed; nil
// where none is named.
func readRehearsal(env *Env, dir string) (*rehearsal.Document, *Rehearsed, error) {
	if dir == "" {
		return nil, nil, nil
	}
	o := &origin{digests: artifact.Digests{}}
	var d *rehearsal.Document
	if err := o.read(dir, rehearsalFile, rehearsal.Schema, &d); err != nil {
		return nil, nil, fmt.Errorf("the rehearsal: %w", err)
	}
	key, err := env.LocalKey()
	if err == nil {
		err = o.attested(dir, []ed25519.PublicKey{key.Public().(ed25519.PublicKey)})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the rehearsal: %w", err)
	}
	r := &Rehearsed{SHA256: o.digests[rehearsalFile], Level: d.Level, Sum: d.Sum, Failed: []rehearsal.Check{}}
	for _, c := range d.Checks {
		if c.Verdict == rehearsal.Fails && len(r.Failed) < maxFailed {
			r.Failed = append(r.Failed, c)
		}
	}
	return d, r, nil
}

// rehearsed is what the attestation of a migration says of the rehearsal that it
// names; nil where it names none.
func (m *move) rehearsed() (*attest.Rehearsed, error) {
	d, r, err := readRehearsal(m.env, m.in.Rehearsal)
	switch {
	case err != nil || d == nil:
		return nil, err
	case d.Fingerprint != m.a.Fingerprint:
		return nil, fmt.Errorf("%s is the rehearsal of another machine; nothing was written", m.in.Rehearsal)
	case d.Target != m.target.Slug:
		return nil, fmt.Errorf("%s is the rehearsal of a move to %s, not to %s; nothing was written", m.in.Rehearsal, d.Target, m.target.Slug)
	}
	said := &attest.Rehearsed{SHA256: r.SHA256, Runs: d.Sum.Runs, Fails: d.Sum.Fails, Untried: d.Sum.Untried, Failed: map[string]int{}}
	for _, c := range d.Checks {
		if c.Verdict == rehearsal.Fails {
			said.Failed[c.Kind]++
		}
	}
	return said, nil
}

// rehearse is the command that tries a move before it is made.
func (m *move) rehearse() string {
	way := "--root"
	switch {
	case m.in.Image != "":
		way = "--image"
	case m.in.SSH != "":
		way = "--ssh"
	}
	at := cmp.Or(m.in.Root, m.in.Image, m.in.SSH)
	if m.in.SSH == "" {
		at, _ = filepath.Abs(at) // opened already
	}
	return fmt.Sprintf("svc rehearse %s %s --target %s --out REHEARSAL", way, visible.Word(at), m.target.Slug)
}

var errOtherRehearsal = errors.New("the rehearsal is of another machine or another target; nothing was compared")
