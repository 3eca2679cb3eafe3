package services

import (
	"strings"

	"svc/tools/convert"
)

// HAProxy stays where it is; keywords of old versions have others in their
// place.
var HAProxy = convert.Same(convert.Settings{Program: "haproxy", Comment: "#", Places: convert.Places{
	{"/usr/share/haproxy", "/etc/haproxy/errors"},
	{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	{"/etc/pki/tls/certs", "/etc/ssl/certs"},
	{"/etc/pki/tls/private", "/etc/ssl/private"},
	{"/var/lib/haproxy/stats", "/run/haproxy/admin.sock"},
}, Own: func(p *convert.Page, i int, name, value string) bool {
	if name == "option" && strings.HasPrefix(value, "forceclose") {
		p.Replace(i, "option httpclose", "HAProxy 2.0 has another name for it.")
		return true
	}
	return false
}}, convert.There)
