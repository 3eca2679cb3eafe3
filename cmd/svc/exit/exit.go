// Package exit is how svc ends: its exit codes, and the errors that carry one.
package exit

import (
	"context"
	"errors"
	"fmt"

	"svc/agent/token"
	"svc/assess/host/locate"
	"svc/assess/host/remote"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/store"
	"svc/tools/several"
	"svc/tools/tool"
)

// The exit codes of the contract.
const (
	Done            = 0
	Failed          = 1
	Usage           = 2
	Refused         = 3
	NotFound        = 4
	Unauthenticated = 5
	Differ          = 6
	NotCompared     = 7
	Interrupted     = 130
)

// Error ends the program with a code of its own; without an error there is
// nothing more to say.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Usagef is a call that the program does not understand: nothing was done.
func Usagef(format string, args ...any) error {
	return &Error{Usage, fmt.Errorf(format, args...)}
}

// Differs ends a command that found what its caller asked about.
func Differs(found bool) error {
	if found {
		return &Error{Code: Differ}
	}
	return nil
}

// byStatus are the codes of the service's refusals.
var byStatus = map[int]int{401: Unauthenticated, 402: Refused, 403: Refused, 404: NotFound}

// Code is the exit code of an error.
func Code(err error) int {
	var own *Error
	var refused *api.Error
	var confirm *tool.NeedsConfirm
	var input *tool.InputError
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &confirm), errors.As(err, &input), errors.Is(err, several.ErrList), errors.Is(err, locate.ErrLocation), errors.Is(err, remote.ErrDestination), errors.Is(err, store.ErrAddress), errors.Is(err, client.ErrPlainHTTP):
		return Usage
	case errors.Is(err, several.ErrCapacity):
		return Refused
	case errors.Is(err, token.ErrNone):
		return Unauthenticated
	case errors.As(err, &refused) && byStatus[refused.Status()] != 0:
		return byStatus[refused.Status()]
	}
	return Failed
}
