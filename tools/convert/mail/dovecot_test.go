package mail

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/tools/convert"
)

// TestDatabasesHaveNamesOfTheirOwn also beside one of Dovecot's own file, which is included
// as the target's package has it.
func TestDatabasesHaveNamesOfTheirOwn(t *testing.T) {
	is := is.New(t)
	local := convert.File{Path: "/etc/dovecot/local.conf", Text: "passdb {\n  driver = passwd-file\n  args = /srv/users\n}\n"}
	auth := convert.File{Path: "/etc/dovecot/conf.d/10-auth.conf", Text: "#!include auth-passwdfile.conf.ext\n"}
	now := func(files ...convert.File) string {
		r := Dovecot(convert.Input{Files: files})
		is.Equal(len(r.Refusals), 0)
		return r.Files[0].Text
	}
	is.True(strings.HasPrefix(now(local, auth), "passdb passwd-file {\n"))
	auth.Text = "!include auth-passwdfile.conf.ext\n"
	is.True(strings.HasPrefix(now(local, auth), "passdb passwd-file-2 {\n  driver = passwd-file\n"))
	own := convert.File{Path: "/etc/dovecot/conf.d/auth-passwdfile.conf.ext", Text: "passdb {\n  driver = passwd-file\n  args = /etc/dovecot/users\n}\n"}
	is.True(strings.HasPrefix(now(local, auth, own), "passdb passwd-file {\n"))
}
