package services

import (
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
	"svc/tools/convert"
)

// TestAuditedOperationsHaveTheirNames: Samba 4.22 refuses a share whose list of operations
// has a name that it does not know.
func TestAuditedOperationsHaveTheirNames(t *testing.T) {
	is := is.New(t)
	source, _ := release.Lookup("debian-11")
	for _, to := range []struct{ target, success, failure string }{
		{"debian-13", "mkdirat unlinkat renameat !pread_send", "none"},
		{"debian-12", "mkdir rmdir unlink rename, !read", "wrote"},
	} {
		target, _ := release.Lookup(to.target)
		r := Samba(convert.Input{Source: source, Target: target, Files: []convert.File{{
			Path: "/etc/samba/smb.conf",
			Text: "[a]\n   full_audit:success = mkdir rmdir unlink rename, !read\n   full_audit:failure = wrote\n   full_audit:prefix = %u\n   Full_Audit:success = all\n",
		}}})
		is.Equal(r.Files[0].Text, "[a]\n   full_audit:success = "+to.success+"\n   full_audit:failure = "+to.failure+"\n   full_audit:prefix = %u\n   Full_Audit:success = all\n")
	}
}
