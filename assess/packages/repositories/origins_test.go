package repositories

import (
	"testing"

	"github.com/matryer/is"
)

// TestWhoseAnArchiveIs: a mirror is the distribution's, and another's archive at a path like
// a mirror's is not.
func TestWhoseAnArchiveIs(t *testing.T) {
	is := is.New(t)
	for _, archive := range []struct {
		uri, key string
		others   bool
	}{
		{"http://deb.debian.org/debian", "", false},
		{"https://deb.debian.org/debian/", "/etc/apt/keyrings/own.gpg", false},
		{"http://mirror.example.org/debian", "/usr/share/keyrings/debian-archive-keyring.gpg", false},
		{"file:/srv/mirror/ubuntu", "", false},
		{"file:/srv/debian", "/usr/share/keyrings/house.gpg", true},
		{"https://packages.example.org/apt", "", true},
	} {
		is.Equal(others(archive.uri, archive.key), archive.others) // the archive
	}
}
