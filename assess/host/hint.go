package host

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// hardwareIDs are where a running machine shows its hardware's identity, best
// first.
var hardwareIDs = []string{
	"sys/class/dmi/id/product_uuid", "sys/class/dmi/id/product_serial", "sys/class/dmi/id/board_serial",
	"sys/firmware/devicetree/base/serial-number",
}

// Hint is the one-way hash of a live machine's hardware id keyed with its
// machine-id: 64 lower-case hex characters, or "" where the machine is not
// running or shows no id.
func Hint(h Host, machineID string) string {
	if !h.Live() || machineID == "" {
		return ""
	}
	for _, name := range hardwareIDs {
		b, err := ReadFile(h.FS(), name, 4096)
		id := strings.ToLower(strings.Trim(string(b), " \n\x00"))
		if err != nil || id == "" {
			continue
		}
		mac := hmac.New(sha256.New, []byte(machineID))
		mac.Write([]byte(id))
		return hex.EncodeToString(mac.Sum(nil))
	}
	return ""
}
