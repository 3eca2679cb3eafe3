package server

import (
	"crypto/rand"

	"svc/backend/api"
)

// maxRequestID bounds a request id that a caller chose.
const maxRequestID = 128

// requestID is the caller's, if it is one, else a new one.
func requestID(sent string) string {
	if api.IsLabel(sent, maxRequestID) {
		return sent
	}
	return rand.Text()
}
