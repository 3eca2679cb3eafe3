package registry

import (
	"testing"

	"github.com/matryer/is"

	"svc/tools/convert"
	"svc/tools/convert/system"
)

// TestASettingThatIsRenamedKeepsWhatIsLeftOfIt: what a list of algorithms has no more
// does not come back with the setting's new name, nor does a line that was left out.
func TestASettingThatIsRenamedKeepsWhatIsLeftOfIt(t *testing.T) {
	is := is.New(t)
	in := convert.Input{Source: lookup(t, "debian-12"), Target: lookup(t, "debian-13")}
	in.Files = []convert.File{{Path: "/etc/ssh/sshd_config", Text: "PubkeyAcceptedKeyTypes +ssh-rsa,ssh-dss\nHostbasedAcceptedKeyTypes +ssh-dss\nPort 22\n"}}
	r := system.SSHD(in)
	is.Equal(len(r.Files), 1)
	is.Equal(r.Files[0].Text, "PubkeyAcceptedAlgorithms +ssh-rsa\n# HostbasedAcceptedKeyTypes +ssh-dss\nPort 22\n")
}

// TestAHostsCertificateIsKept: sshd -T tells of it only where one is set.
func TestAHostsCertificateIsKept(t *testing.T) {
	is := is.New(t)
	in := convert.Input{Source: lookup(t, "debian-12"), Target: lookup(t, "debian-13")}
	in.Files = []convert.File{{Path: "/etc/ssh/sshd_config.d/a.conf", Text: "HostCertificate /etc/ssh/ssh_host_ed25519_key-cert.pub\n"}}
	is.Equal(len(system.SSHD(in).Refusals), 0)
}
