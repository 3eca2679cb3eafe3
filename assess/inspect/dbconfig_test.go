package inspect

import (
	"crypto/md5"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
)

// TestPasswordsOfDatabasesAreTheMachinesOwn: dbconfig-common makes them up when a package is
// installed; the file that has one is as the package made it, and no other machine's.
func TestPasswordsOfDatabasesAreTheMachinesOwn(t *testing.T) {
	is := is.New(t)
	root, hashes, owners := t.TempDir(), "", ""
	write := func(name, text string) {
		is.NoErr(os.MkdirAll(filepath.Join(root, path.Dir(name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
		if strings.HasPrefix(name, "etc/mail") || strings.HasPrefix(name, "etc/dbconfig") {
			hashes += fmt.Sprintf("%x  /%s\n", md5.Sum([]byte(text)), name)
			owners += "webmail \t/" + name + "\n"
		}
	}
	write("etc/dbconfig-common/webmail.conf", "dbc_dbuser='webmail'\ndbc_dbpass='MadeUp77'\n")
	write("etc/mail/database.php", "<?php $password='MadeUp77';\n")
	write("etc/mail/shipped.php", "<?php $theme='plain';\n")
	write("var/lib/dpkg/status", "Package: webmail\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n")
	write("etc/os-release", "ID=debian\nVERSION_ID=12\n")
	write("var/lib/ucf/hashfile", hashes)
	write("var/lib/ucf/registry", owners)
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	a, err := Assess(t.Context(), h, assess.Options{})
	is.NoErr(err)
	is.True(configOf(a, "/etc/mail/database.php") != nil)
	is.True(configOf(a, "/etc/dbconfig-common/webmail.conf") != nil)
	is.True(configOf(a, "/etc/mail/shipped.php") == nil)
}
