package evidence

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"svc/tools/rehearsal"
	"svc/tools/tool"
)

// Rehearsed is what a rehearsal said, in short.
type Rehearsed struct {
	SHA256 string            `json:"sha256"` // of rehearsal.json
	Level  rehearsal.Level   `json:"level"`
	Sum    rehearsal.Sum     `json:"sum"`
	Failed []rehearsal.Check `json:"failed"` // the first of what did not run
}

// maxFailed is how many failures of a rehearsal a result has.
const maxFailed = 10

// ReadRehearsal reads a rehearsal's folder, which this user's own key has signed; nil
// where none is named.
func ReadRehearsal(env *tool.Env, dir string) (*rehearsal.Document, *Rehearsed, error) {
	if dir == "" {
		return nil, nil, nil
	}
	o := &Signed{}
	var d *rehearsal.Document
	if err := o.Read(dir, RehearsalFile, rehearsal.Schema, &d); err != nil {
		return nil, nil, fmt.Errorf("the rehearsal: %w", err)
	}
	key, err := env.LocalKey()
	if err == nil {
		err = o.Attested(dir, []ed25519.PublicKey{key.Public().(ed25519.PublicKey)})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the rehearsal: %w", err)
	}
	r := &Rehearsed{SHA256: o.Digests[RehearsalFile], Level: d.Level, Sum: d.Sum, Failed: []rehearsal.Check{}}
	for _, c := range d.Checks {
		if c.Verdict == rehearsal.Fails && len(r.Failed) < maxFailed {
			r.Failed = append(r.Failed, c)
		}
	}
	return d, r, nil
}

// ErrOtherRehearsal is that a rehearsal has nothing to say of a machine.
var ErrOtherRehearsal = errors.New("the rehearsal is of another machine or another target; nothing was compared")
