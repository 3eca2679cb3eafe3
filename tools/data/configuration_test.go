package data

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

// TestOfConfigurationOnlyKeysMove: the role brings the rest, and the key that a
// package made for this very machine stays with its certificate.
func TestOfConfigurationOnlyKeysMove(t *testing.T) {
	is := is.New(t)
	key := "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n"
	root := machine(t, map[string]string{
		"etc/ssl/private/ssl-cert-snakeoil.key": key, "etc/ssl/private/shop.key": key, "etc/ssl/certs/shop.pem": "x",
		"etc/letsencrypt/archive/a.example/privkey1.pem": key, "etc/letsencrypt/archive/a.example/cert1.pem": "x", "etc/letsencrypt/renewal/a.example.conf": "x",
		"etc/openvpn/server.conf": "port 1194\n", "etc/openvpn/server.key": key,
	})
	is.NoErr(os.MkdirAll(filepath.Join(root, "etc/letsencrypt/live/a.example"), 0o755))
	is.NoErr(os.Symlink("../../archive/a.example/privkey1.pem", filepath.Join(root, "etc/letsencrypt/live/a.example/privkey.pem")))
	found := map[string][]string{}
	for _, p := range discovered(t, root).Places {
		if below(p.Path, "/etc") {
			found[p.Path] = p.Names
			is.Equal(p.Kind, Keys)
		}
	}
	is.Equal(found, map[string][]string{"/etc/ssl/private": {"shop.key"}, "/etc/letsencrypt/archive/a.example": {"privkey1.pem"}, "/etc/openvpn": {"server.key"}})
}
