package main

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
	exitDone            = 0
	exitFailed          = 1
	exitUsage           = 2
	exitRefused         = 3
	exitNotFound        = 4
	exitUnauthenticated = 5
	exitDiffers         = 6
	exitNotCompared     = 7
	exitInterrupted     = 130
)

// exitError ends the program with a code of its own; without an error there is
// nothing more to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef is a call that the program does not understand: nothing was done.
func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// differs ends a command that found what its caller asked about.
func differs(found bool) error {
	if found {
		return &exitError{code: exitDiffers}
	}
	return nil
}

// byStatus are the codes of the service's refusals.
var byStatus = map[int]int{401: exitUnauthenticated, 402: exitRefused, 403: exitRefused, 404: exitNotFound}

// exitCode is the exit code of an error.
func exitCode(err error) int {
	var own *exitError
	var refused *api.Error
	var confirm *tool.NeedsConfirm
	var input *tool.InputError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &confirm), errors.As(err, &input), errors.Is(err, several.ErrList), errors.Is(err, locate.ErrLocation), errors.Is(err, remote.ErrDestination), errors.Is(err, store.ErrAddress), errors.Is(err, client.ErrPlainHTTP):
		return exitUsage
	case errors.Is(err, several.ErrCapacity):
		return exitRefused
	case errors.Is(err, token.ErrNone):
		return exitUnauthenticated
	case errors.As(err, &refused) && byStatus[refused.Status()] != 0:
		return byStatus[refused.Status()]
	}
	return exitFailed
}
