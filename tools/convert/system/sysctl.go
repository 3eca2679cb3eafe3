// Package system converts what a system has of its own: jobs, accounts' limits,
// log files, clocks, names and logins.
package system

import (
	"strings"

	"svc/tools/convert"
)

// Sysctl drops settings that the kernel has no more. systemd-sysctl of Debian 13
// reads /etc/sysctl.d alone.
var Sysctl = convert.Same(convert.Settings{Program: "sysctl", Comment: "#", Equals: true, Own: func(_ *convert.Page, _ int, name, _ string) bool {
	return strings.HasPrefix(name, ";")
}}, func(in convert.Input, file string) string {
	if file == "/etc/sysctl.conf" && convert.DebianFamily(in.Target) {
		return "/etc/sysctl.d/99-local.conf"
	}
	return file
})
