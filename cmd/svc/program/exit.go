package program

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
	ExitDone            = 0
	ExitFailed          = 1
	ExitUsage           = 2
	ExitRefused         = 3
	ExitNotFound        = 4
	ExitUnauthenticated = 5
	ExitDiffers         = 6
	ExitNotCompared     = 7
	ExitInterrupted     = 130
)

// ExitError ends the program with a code of its own; without an error there is
// nothing more to say.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Usagef is a call that the program does not understand: nothing was done.
func Usagef(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

// Differs ends a command that found what its caller asked about.
func Differs(found bool) error {
	if found {
		return &ExitError{Code: ExitDiffers}
	}
	return nil
}

// byStatus are the codes of the service's refusals.
var byStatus = map[int]int{401: ExitUnauthenticated, 402: ExitRefused, 403: ExitRefused, 404: ExitNotFound}

// ExitCode is the exit code of an error.
func ExitCode(err error) int {
	var own *ExitError
	var refused *api.Error
	var confirm *tool.NeedsConfirm
	var input *tool.InputError
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &confirm), errors.As(err, &input), errors.Is(err, several.ErrList), errors.Is(err, locate.ErrLocation), errors.Is(err, remote.ErrDestination), errors.Is(err, store.ErrAddress), errors.Is(err, client.ErrPlainHTTP):
		return ExitUsage
	case errors.Is(err, several.ErrCapacity):
		return ExitRefused
	case errors.Is(err, token.ErrNone):
		return ExitUnauthenticated
	case errors.As(err, &refused) && byStatus[refused.Status()] != 0:
		return byStatus[refused.Status()]
	}
	return ExitFailed
}
