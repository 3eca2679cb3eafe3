package assess

import (
	"testing"

	"svc/backend/tsv"

	"github.com/matryer/is"
)

func TestPlaces(t *testing.T) {
	is := is.New(t)
	for f := range tsv.Rows(placesTSV, 3) {
		is.True(f[1] == "secret" || f[1] == "closed")
	}
	for _, file := range []string{"/etc/wireguard/wg0.conf", "/etc/postfix/sasl/sasl_passwd", "/etc/x/.htpasswd", "/etc/ssl/private/a/b.pem", "/etc/openvpn/client/auth.txt", "/etc/shadow-"} {
		is.Equal(kept(file), "secret")
	}
	is.Equal(kept("/etc/sudoers.d/x"), "closed")
	is.Equal(kept("/etc/hosts"), "")
}
