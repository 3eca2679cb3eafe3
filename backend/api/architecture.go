package api

import "svc/backend/lazyregexp"

// ARM64 is the architecture of 64-bit ARM, which rpm calls aarch64.
const ARM64 = "arm64"

// BesideX86 is an architecture by the name that Debian has for it; empty for x86-64, which
// the index is made of, and for the 32-bit PCs that move to it.
func BesideX86(architecture string) string {
	switch architecture {
	case "", "amd64", "x86_64", "i386", "i486", "i586", "i686", "athlon", "noarch", "all":
		return ""
	case "aarch64":
		return ARM64
	}
	return architecture
}

var architectureForm = lazyregexp.Whole(`[a-z0-9_-]{0,32}`)

func checkArchitecture(name string) error {
	if !architectureForm.MatchString(name) {
		return Errorf(MalformedRequest, "%.40q is no architecture: write it as the package manager does, such as amd64 or arm64", name)
	}
	return nil
}
