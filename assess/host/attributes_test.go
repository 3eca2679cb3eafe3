package host

import (
	"testing"

	"github.com/matryer/is"
)

func TestAttributesAreNamed(t *testing.T) {
	is := is.New(t)
	is.Equal(ParseAttributes("security.selinux\x00user.a\x00system.posix_acl_access\x00security.capability\x00"), AttributesKnown|SELinux|UserAttributes|ACL|Capabilities)
	is.Equal(ParseAttributes("trusted.overlay.opaque\x00"), AttributesKnown)
}
