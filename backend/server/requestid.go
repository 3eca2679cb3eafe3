package server

import (
	"crypto/rand"

	"svc/backend/api/lazyregexp"
)

var callersID = lazyregexp.New(`^[A-Za-z0-9._-]{1,128}$`)

// requestID is the caller's, if it is one, else a new one.
func requestID(sent string) string {
	if callersID.MatchString(sent) {
		return sent
	}
	return rand.Text()
}
