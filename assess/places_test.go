package assess

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestPlaces(t *testing.T) {
	is := is.New(t)
	for l := range strings.Lines(placesTSV) {
		if l[0] != '#' {
			f := strings.Split(l, "\t")
			is.Equal(len(f), 3)
			is.True(f[1] == "secret" || f[1] == "closed")
		}
	}
	for _, file := range []string{"/etc/wireguard/wg0.conf", "/etc/postfix/sasl/sasl_passwd", "/etc/x/.htpasswd", "/etc/ssl/private/a/b.pem", "/etc/openvpn/client/auth.txt", "/etc/shadow-"} {
		is.Equal(kept(file), "secret")
	}
	is.Equal(kept("/etc/sudoers.d/x"), "closed")
	is.Equal(kept("/etc/hosts"), "")
}
