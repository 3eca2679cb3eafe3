// Package attest makes and checks attestations: in-toto Statements v1 in DSSE
// envelopes, signed with Ed25519. Server and client compute them alike.
package attest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"svc/backend/lazyregexp"
)

// The types that every attestation carries.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PayloadType   = "application/vnd.in-toto+json"
)

// Manifest is the one subject of every statement: the file that lists the
// digests of all others of its folder, and of a salt among them. So the one
// digest that leaves the host tells of no file, not even to who guesses one.
const Manifest = "manifest.sha256"

// Statement is an in-toto Statement v1.
type Statement struct {
	Type          string         `json:"_type"`
	Subject       []Subject      `json:"subject"`
	PredicateType string         `json:"predicateType"`
	Predicate     jsontext.Value `json:"predicate"`
}

// Subject is what the statement is about: a manifest.
type Subject struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// Digest is the SHA-256 of a subject.
type Digest struct {
	SHA256 string `json:"sha256"` // 64 lower-case hex characters
}

var hex64 = lazyregexp.New(`^[0-9a-f]{64}$`)

// New makes the statement of a predicate about the manifest whose SHA-256, in
// hex, is root.
func New(root string, p Predicate) (Statement, error) {
	b, err := json.Marshal(p, json.Deterministic(true))
	if err != nil {
		return Statement{}, fmt.Errorf("encoding the predicate: %w", err)
	}
	s := Statement{Type: StatementType, Subject: []Subject{{Manifest, Digest{root}}}, PredicateType: p.Type(), Predicate: b}
	return s, s.check()
}

// Root is the SHA-256 of the manifest that the statement is about, in hex.
func (s Statement) Root() string { return s.Subject[0].Digest.SHA256 }

// Parse reads a statement. Unknown and repeated members are refused, so that
// nothing is signed that no reader would see.
func Parse(b []byte) (*Statement, error) {
	var s Statement
	if err := decode(b, &s); err != nil {
		return nil, fmt.Errorf("reading the statement: %w", err)
	}
	return &s, s.check()
}

// check applies the rules of the in-toto specification, and wants the manifest
// alone as subject.
func (s Statement) check() error {
	switch {
	case s.Type != StatementType:
		return fmt.Errorf("the statement's _type is %.80q, not %s", s.Type, StatementType)
	case s.PredicateType == "":
		return errors.New("the statement has no predicateType")
	case len(s.Subject) != 1 || s.Subject[0].Name != Manifest:
		return fmt.Errorf("the statement must have one subject, %s: names and digests of other files are not taken", Manifest)
	case !hex64.MatchString(s.Root()):
		return errors.New("the subject's sha256 must be 64 lower-case hexadecimal characters")
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
	return New(s.Root(), p)
}

// kind is the word for what stands in a JSON document.
func kind(e *json.SemanticError) string {
	return strings.NewReplacer("{", "object", "[", "array").Replace(e.JSONKind.String())
}

// decode is strict: one value, no unknown, repeated or case-variant members. It
// says what is wrong in words that need no knowledge of this program.
func decode(b []byte, v any) error {
	err := json.Unmarshal(bytes.TrimSpace(b), v, json.RejectUnknownMembers(true))
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return fmt.Errorf("%s is no member of it", semantic.JSONPointer)
	case errors.As(err, &semantic) && semantic.JSONPointer != "":
		return fmt.Errorf("%s must not be a JSON %s", semantic.JSONPointer, kind(semantic))
	case errors.As(err, &semantic):
		return fmt.Errorf("it must be a JSON object, not a JSON %s", kind(semantic))
	}
	return fmt.Errorf("it is not valid JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
}
