package api

import "encoding/json"

// SignRequest carries an in-toto Statement v1 to sign.
type SignRequest struct {
	Statement json.RawMessage `json:"statement"`
}

// Check refuses a request without a statement.
func (r SignRequest) Check() error {
	if len(r.Statement) == 0 {
		return Errorf(MalformedRequest, "statement is required: an in-toto Statement v1")
	}
	return nil
}

// Envelope is a DSSE envelope.
type Envelope struct {
	PayloadType string      `json:"payloadType"` // application/vnd.in-toto+json
	Payload     string      `json:"payload"`     // base64
	Signatures  []Signature `json:"signatures"`
}

// Signature is one signature of an envelope.
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"` // base64
}

// KeysResponse lists the keys that sign and have signed.
type KeysResponse struct {
	Keys []Key `json:"keys"`
}

// Key is a public key.
type Key struct {
	KeyID     string  `json:"keyid"` // SHA-256 of the DER form, hex
	Algorithm string  `json:"algorithm"`
	PEM       string  `json:"pem"` // PKIX
	CreatedAt string  `json:"created_at"`
	RetiredAt *string `json:"retired_at"`
}

// SchemaRequest names a published schema.
type SchemaRequest struct {
	Name SchemaName `path:"name"`
}

// SchemaName is the name of a published schema, as package schema has them.
type SchemaName string

// Document is a JSON document as it is: the OpenAPI document, a JSON Schema.
type Document json.RawMessage

// MarshalJSON gives the document as it is.
func (d Document) MarshalJSON() ([]byte, error) { return d, nil }
