package system

import (
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
	"svc/tools/convert"
)

// TestWhatTheSourcesPackageSetsForSSHD stays in force: EL 9 says in a file of its own that
// PAM is asked, and the target's package has no such file.
func TestWhatTheSourcesPackageSetsForSSHD(t *testing.T) {
	is := is.New(t)
	lookup := func(slug string) release.Release { r, ok := release.Lookup(slug); is.True(ok); return r }
	own := convert.File{Path: "/etc/ssh/sshd_config.d/10-own.conf", Text: "AllowGroups wheel staff root\n"}
	in := convert.Input{
		Source: lookup("rocky-9"), Target: lookup("debian-13"),
		Files: []convert.File{own, {Path: "/etc/ssh/sshd_config", Text: "Include /etc/ssh/sshd_config.d/*.conf\nAuthorizedKeysFile .ssh/authorized_keys\nMatch User a Group wheel,b\n"}},
		Folder: func(string, string) []convert.File {
			return []convert.File{own, {Path: "/etc/ssh/sshd_config.d/50-redhat.conf", Text: "Include /etc/crypto-policies/back-ends/opensshserver.config\n# PAM\nUsePAM yes\nAllowUsers hidden\n"}}
		},
	}
	r := SSHD(in)
	is.Equal(len(r.Refusals), 0)
	is.Equal(r.Files[0].Text, "AllowGroups sudo staff root\n")
	is.Equal(r.Files[1].Text, "Include /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\nAuthorizedKeysFile .ssh/authorized_keys\nMatch User a Group sudo,b\n")
	in.Target = lookup("almalinux-10")
	is.Equal(SSHD(in).Files[0].Text, "AllowGroups wheel staff root\n")
}
