package inspect

import (
	"strings"

	"svc/assess"
)

// readMounts reads fstab.
func readMounts(m *assess.Machine) {
	text, _ := m.Text("mounts.fstab", "etc/fstab")
	for n, line := range assess.NumberedLines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") {
			continue
		}
		mount := assess.Mount{Device: f[0], Path: unescapeMount(f[1]), Type: f[2], Options: []string{}, Evidence: assess.Evidence{Path: "/etc/fstab", Line: n}}
		if len(f) > 3 {
			mount.Options = strings.Split(f[3], ",")
		}
		m.A.Mounts = append(m.A.Mounts, mount)
	}
}

// unescapeMount undoes the escapes that fstab needs for spaces.
func unescapeMount(s string) string { return mountEscapes.Replace(s) }

var mountEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
