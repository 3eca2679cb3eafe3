package api

import "slices"

// Limits of every request.
const (
	MaxBody      = 4 << 20 // bytes of a request body
	MaxBatch     = 1000    // items of a batch
	DefaultLimit = 50      // of every list
	MaxLimit     = 1000    // of /v1/account/usage and /v1/account/vms
	MaxShort     = 100     // of /v1/findings and /v1/questions
	MaxTitle     = 200     // characters of a finding's title
	MaxText      = 20_000  // characters of a finding's body, a question and an answer
	MaxKey       = 255     // characters of an Idempotency-Key
	VMKeyLength  = 12      // characters of a fingerprint that lists show
)

// The characters of what every request carries. A regular expression would cost
// twenty times as much.
var (
	hexDigits  = bytesOf("0123456789abcdef")
	labelChars = bytesOf(base62 + "._-")
	tokenChars = bytesOf(base62)
)

// byteSet is a set of bytes.
type byteSet [256]bool

func bytesOf(s string) *byteSet {
	var set byteSet
	for i := range len(s) {
		set[s[i]] = true
	}
	return &set
}

// hasAll reports whether nothing else is in s.
func (set *byteSet) hasAll(s string) bool {
	for i := range len(s) {
		if !set[s[i]] {
			return false
		}
	}
	return true
}

func isHex64(s string) bool { return len(s) == 64 && hexDigits.hasAll(s) }

// IsLabel reports whether s is 1 to most of A-Z a-z 0-9 . _ -.
func IsLabel(s string, most int) bool {
	return s != "" && len(s) <= most && labelChars.hasAll(s)
}

func isOSLabel(s string) bool { return IsLabel(s, 64) }

// VMKey is the part of a fingerprint that lists and answers show.
func VMKey(fingerprint string) string {
	return fingerprint[:min(VMKeyLength, len(fingerprint))]
}

func checkBatch(n int, what string) error {
	switch {
	case n == 0:
		return Errorf(EmptyBatch, "%s is empty: send 1 to %d items", what, MaxBatch)
	case n > MaxBatch:
		return Errorf(BatchTooLarge, "%s has %d items: send at most %d in one request", what, n, MaxBatch)
	}
	return nil
}

func checkItems(items []string, what string) error {
	if err := checkBatch(len(items), what); err != nil {
		return err
	}
	if i := slices.IndexFunc(items, func(s string) bool { return s == "" || len(s) > 256 }); i >= 0 {
		return Errorf(MalformedRequest, "%s[%d] must have 1 to 256 bytes", what, i)
	}
	return nil
}

func checkFingerprint(fp string) error {
	if !isHex64(fp) {
		return Errorf(BadFingerprint, "vm_fingerprint must be exactly 64 lower-case hexadecimal characters")
	}
	return nil
}
