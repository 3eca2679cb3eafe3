package move

import (
	"cmp"
	"fmt"
	"path/filepath"

	"svc/backend/api/attest"
	"svc/backend/visible"
	"svc/tools/evidence"
	"svc/tools/rehearsal"
)

// rehearsed is what the attestation of a migration says of the rehearsal that it
// names; nil where it names none.
func (m *Move) rehearsed() (*attest.Rehearsed, error) {
	d, r, err := evidence.ReadRehearsal(m.Env, m.in.Rehearsal)
	switch {
	case err != nil || d == nil:
		return nil, err
	case d.Fingerprint != m.Assessment.Fingerprint:
		return nil, fmt.Errorf("%s is the rehearsal of another machine; nothing was written", m.in.Rehearsal)
	case d.Target != m.Target.Slug:
		return nil, fmt.Errorf("%s is the rehearsal of a move to %s, not to %s; nothing was written", m.in.Rehearsal, d.Target, m.Target.Slug)
	}
	m.tried = d
	said := &attest.Rehearsed{SHA256: r.SHA256, Runs: d.Sum.Runs, Fails: d.Sum.Fails, Untried: d.Sum.Untried, Failed: map[string]int{}}
	for _, c := range d.Checks {
		if c.Verdict == rehearsal.Fails {
			said.Failed[c.Kind]++
		}
	}
	return said, nil
}

// rehearse is the command that tries a move before it is made.
func (m *Move) rehearse() string {
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
	return fmt.Sprintf("svc rehearse %s %s --target %s --out REHEARSAL", way, visible.Word(at), m.Target.Slug)
}
