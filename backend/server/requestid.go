package server

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"svc/backend/api"
)

// maxRequestID bounds a request id that a caller chose.
const maxRequestID = 128

// requestID is the caller's, if it is one, else a new one.
func requestID(sent string) string {
	if api.IsLabel(sent, maxRequestID) {
		return sent
	}
	return newID(rand.Uint64())
}

// newID is unlike any other, of other replicas too, and begins with a number. It is
// no secret.
func newID(first uint64) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], first)
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	return hex.EncodeToString(id[:])
}
