package agent

import (
	"errors"
	"strings"

	"svc/agent/writecap"
	"svc/backend/api"
	"svc/backend/plainly"
	"svc/tools/tool"
)

// next says what to do about a refusal of the service, by its code.
var next = map[api.Code]string{
	api.Unauthenticated: "Ask the user to store a valid token with `svc auth --server URL TOKEN`, or to set SVC_API_KEY where this server is configured.",
	api.SeatQuota:       "Ask the user to raise the account's capacity; svc_migrate with preflight=true stays free.",
	api.VMLimit:         "Ask the user to have the account's VM limit raised.",
	api.UnlicensedVM:    "License the machine first: a confirmed svc_migrate claims its seat.",
	api.UnknownRelease:  "Repeat the call with one of the releases named.",
	api.RateLimited:     "Wait, then repeat the call.",
	api.Unavailable:     "Wait, then repeat the call; a repeat never bills twice.",
}

// explain turns an error into what an agent needs: what happened, that nothing
// changed, and what to do next.
func explain(err error) string {
	var confirm *tool.NeedsConfirm
	var unfinished *tool.Unfinished
	var refused *api.Error
	var full *writecap.Full
	var working *StillWorking
	switch {
	case errors.As(err, &confirm), errors.As(err, &unfinished), errors.As(err, &full), errors.As(err, &working):
		return err.Error()
	case errors.As(err, &refused):
		return strings.TrimSpace(string(refused.Code) + ": " + plainly.Error(err) + ". Nothing was changed. " + next[refused.Code])
	}
	return plainly.Error(err) + ". Nothing was changed."
}
