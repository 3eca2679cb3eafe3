// Package attest makes and checks attestations: in-toto Statements v1 in DSSE
// envelopes, signed with Ed25519. Server and client compute them alike.
package attest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"svc/backend/api/lazyregexp"
)

// The types that every attestation carries.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PayloadType   = "application/vnd.in-toto+json"
)

// Statement is an in-toto Statement v1.
type Statement struct {
	Type          string         `json:"_type"`
	Subject       []Subject      `json:"subject"`
	PredicateType string         `json:"predicateType"`
	Predicate     jsontext.Value `json:"predicate"`
}

// Subject is an artifact that the statement is about.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"` // algorithm to hex; sha256 at least
}

// File is the subject of a file's bytes' SHA-256, in hex.
func File(name, sha256 string) Subject {
	return Subject{Name: name, Digest: map[string]string{"sha256": sha256}}
}

// maxSubjects bounds the artifacts of one statement.
const maxSubjects = 10_000

var hex64 = lazyregexp.New(`^[0-9a-f]{64}$`)

// New makes the statement of a predicate about its subjects.
func New(subjects []Subject, p Predicate) (Statement, error) {
	b, err := json.Marshal(p, json.Deterministic(true))
	if err != nil {
		return Statement{}, fmt.Errorf("encoding the predicate: %w", err)
	}
	s := Statement{Type: StatementType, Subject: subjects, PredicateType: p.Type(), Predicate: b}
	return s, s.check()
}

// Parse reads a statement. Unknown and repeated members are refused, so that
// nothing is signed that no reader would see.
func Parse(b []byte) (*Statement, error) {
	var s Statement
	if err := decode(b, &s); err != nil {
		return nil, fmt.Errorf("reading the statement: %w", err)
	}
	return &s, s.check()
}

// check applies the rules of the in-toto specification.
func (s Statement) check() error {
	switch {
	case s.Type != StatementType:
		return fmt.Errorf("the statement's _type is %.80q, not %s", s.Type, StatementType)
	case s.PredicateType == "":
		return fmt.Errorf("the statement has no predicateType")
	case len(s.Subject) == 0 || len(s.Subject) > maxSubjects:
		return fmt.Errorf("the statement has %d subjects: it needs 1 to %d", len(s.Subject), maxSubjects)
	}
	for i, subject := range s.Subject {
		if subject.Name == "" || !hex64.MatchString(subject.Digest["sha256"]) {
			return fmt.Errorf("subject %d needs a name and a sha256 digest of 64 lower-case hexadecimal characters", i)
		}
	}
	return nil
}

// Known reads the predicate as the type that the statement names. A type that
// is not the project's own is an error.
func (s Statement) Known() (Predicate, error) {
	empty, ok := predicates[s.PredicateType]
	if !ok {
		return nil, fmt.Errorf("the predicate type %.80q is not known", s.PredicateType)
	}
	p := empty()
	if err := decode(s.Predicate, p); err != nil {
		return nil, fmt.Errorf("reading the predicate: %w", err)
	}
	return p, p.operation().check()
}

// Issue is the statement with the account and the time that the service adds.
func (s Statement) Issue(account int64, at time.Time) (Statement, error) {
	p, err := s.Known()
	if err != nil {
		return Statement{}, err
	}
	p.operation().Issued = &Issued{AccountID: account, At: at.UTC().Format(time.RFC3339)}
	return New(s.Subject, p)
}

// decode is strict: one value, no unknown, repeated or case-variant members.
func decode(b []byte, v any) error {
	return json.Unmarshal(bytes.TrimSpace(b), v, json.RejectUnknownMembers(true))
}
