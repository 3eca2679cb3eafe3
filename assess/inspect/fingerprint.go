package inspect

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
)

// fingerprintKey sets svc's fingerprints apart from every other hash of a
// machine-id. Changing it would make a stranger of every licensed machine.
const fingerprintKey = "svc vm fingerprint v1"

var (
	machineIDForm   = lazyregexp.New(`^[0-9a-f]{32}$`)
	fingerprintForm = lazyregexp.New(`^[0-9a-f]{64}$`)
)

// Fingerprint is the one-way form of a machine-id.
func Fingerprint(machineID string) string {
	mac := hmac.New(sha256.New, []byte(fingerprintKey))
	mac.Write([]byte(machineID))
	return hex.EncodeToString(mac.Sum(nil))
}

// HostHint is the hint that goes with the usage of a live host, or "".
func HostHint(h host.Host) string { return host.Hint(h, machineID(h.FS())) }

// readFingerprint takes the fingerprint that a migration left, which is that of
// the machine's source, before it makes one of the machine-id. One that is left
// but can't be used is no reason to take the machine for another.
func readFingerprint(m *assess.Machine) {
	b, err := host.ReadFile(m.FS, "etc/svc/fingerprint", 4096)
	left := strings.TrimSpace(string(b))
	switch {
	case err == nil && fingerprintForm.MatchString(left):
		m.A.Fingerprint = left
		m.Source("identity.fingerprint", assess.SourceOK, "/etc/svc/fingerprint")
	case err == nil:
		m.Source("identity.fingerprint", assess.SourceCorrupt, "/etc/svc/fingerprint is not 64 lower-case hexadecimal characters")
	case assess.StateOf(err) != assess.SourceAbsent:
		m.Source("identity.fingerprint", assess.StateOf(err), err.Error())
	default:
		m.Source("identity.fingerprint", assess.SourceAbsent, "")
		identify(m)
	}
}

// identify makes the fingerprint of the machine-id.
func identify(m *assess.Machine) {
	id, err := readMachineID(m.FS)
	m.Outcome("identity.machine-id", "etc/machine-id", err)
	if err == nil {
		m.A.Fingerprint = Fingerprint(id)
	}
}

// machineID is the machine's id, or "" where it has none that can be read.
func machineID(fsys host.FS) string {
	id, _ := readMachineID(fsys) // a hint without an id is left out
	return id
}

// readMachineID reads the first machine-id that is one; a new image has an
// empty file.
func readMachineID(fsys host.FS) (string, error) {
	failed := fmt.Errorf("no machine-id: %w", fs.ErrNotExist)
	for _, name := range []string{"etc/machine-id", "var/lib/dbus/machine-id"} {
		b, err := host.ReadFile(fsys, name, 4096)
		if id := strings.TrimSpace(string(b)); err == nil && machineIDForm.MatchString(id) {
			return id, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return "", failed
}
