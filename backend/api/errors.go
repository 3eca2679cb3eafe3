package api

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// Code names a kind of refusal. It is stable: callers branch on it.
type Code string

// The codes of the contract.
const (
	MalformedRequest     Code = "MALFORMED_REQUEST"
	EmptyBatch           Code = "EMPTY_BATCH"
	BatchTooLarge        Code = "BATCH_TOO_LARGE"
	BadKind              Code = "BAD_KIND"
	BadHostHint          Code = "BAD_HOST_HINT"
	BadFingerprint       Code = "BAD_FINGERPRINT"
	Unauthenticated      Code = "UNAUTHENTICATED"
	SeatQuota            Code = "SEAT_QUOTA"
	VMLimit              Code = "VM_LIMIT"
	UnlicensedVM         Code = "UNLICENSED_VM"
	InternalPlanRequired Code = "INTERNAL_PLAN_REQUIRED"
	UnknownRelease       Code = "UNKNOWN_RELEASE"
	NotFound             Code = "NOT_FOUND"
	MethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	NoStagedRelease      Code = "NO_STAGED_RELEASE"
	IdempotencyInFlight  Code = "IDEMPOTENCY_IN_FLIGHT"
	IdempotencyMismatch  Code = "IDEMPOTENCY_MISMATCH"
	BodyTooLarge         Code = "BODY_TOO_LARGE"
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	RateLimited          Code = "RATE_LIMITED"
	Internal500          Code = "INTERNAL"
	Unavailable          Code = "UNAVAILABLE"
)

// statuses is the one mapping of codes to HTTP statuses.
var statuses = map[Code]int{
	MalformedRequest:     http.StatusBadRequest,
	EmptyBatch:           http.StatusBadRequest,
	BatchTooLarge:        http.StatusBadRequest,
	BadKind:              http.StatusBadRequest,
	BadHostHint:          http.StatusBadRequest,
	BadFingerprint:       http.StatusBadRequest,
	Unauthenticated:      http.StatusUnauthorized,
	SeatQuota:            http.StatusPaymentRequired,
	VMLimit:              http.StatusPaymentRequired,
	UnlicensedVM:         http.StatusPaymentRequired,
	InternalPlanRequired: http.StatusForbidden,
	UnknownRelease:       http.StatusNotFound,
	NotFound:             http.StatusNotFound,
	MethodNotAllowed:     http.StatusMethodNotAllowed,
	NoStagedRelease:      http.StatusConflict,
	IdempotencyInFlight:  http.StatusConflict,
	IdempotencyMismatch:  http.StatusUnprocessableEntity,
	BodyTooLarge:         http.StatusRequestEntityTooLarge,
	UnsupportedMediaType: http.StatusUnsupportedMediaType,
	RateLimited:          http.StatusTooManyRequests,
	Internal500:          http.StatusInternalServerError,
	Unavailable:          http.StatusServiceUnavailable,
}

// Codes lists every code, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(statuses)) }

// Error is a refusal, the same value on both sides of the wire.
type Error struct {
	// Message is a sentence for people: what happened and what to do next.
	Message   string `json:"error"`
	Code      Code   `json:"code"`
	RequestID string `json:"request_id,omitempty"`
	// RetryAfter is the number of seconds after which a repeat may succeed;
	// zero where waiting does not help. It travels as the Retry-After header.
	RetryAfter int `json:"-"`
}

// Errorf makes an *Error of a code.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return e.Message }

// Status is the HTTP status of the error's code; an unknown code is 500.
func (e *Error) Status() int {
	if s, ok := statuses[e.Code]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// CodeOf is the code of the first *Error in err's chain, or "".
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
