package inspect

import (
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
)

// releaseFiles are what systems from before os-release say of themselves, best
// first: the derivatives of EL have /etc/redhat-release too.
var releaseFiles = []string{
	"etc/oracle-release", "etc/centos-release", "etc/redhat-release", "etc/SuSE-release", "etc/system-release", "etc/alpine-release",
}

// releaseForms give the ID of a system by how such a file begins, and find its
// version.
var releaseForms = []struct {
	id   string
	form *lazyregexp.Regexp
}{
	{"ol", lazyregexp.New(`^(?:Oracle Linux Server|Enterprise Linux Enterprise Linux Server) release ([\d.]+)`)},
	{"centos", lazyregexp.New(`^CentOS(?: Linux)? release ([\d.]+)`)},
	{"rhel", lazyregexp.New(`^Red Hat Enterprise Linux.* release ([\d.]+)`)},
	{"fedora", lazyregexp.New(`^Fedora(?: Core)? release (\d+)`)},
	{"amzn", lazyregexp.New(`^Amazon Linux(?: AMI)? release ([\d.]+)`)},
	{"sles", lazyregexp.New(`^SUSE Linux Enterprise Server ([\d.]+)`)},
	{"opensuse", lazyregexp.New(`^openSUSE ([\d.]+)`)},
	{"alpine", lazyregexp.New(`^(\d+\.\d+(?:\.\d+)?)$`)},
}

// patchLevel is the second half of a version of SUSE, in a line of its own.
var patchLevel = lazyregexp.New(`(?m)^PATCHLEVEL\s*=\s*(\d+)`)

// oldRelease reads a system that has no os-release, as assignments of one.
func oldRelease(m *assess.Machine) (map[string]string, bool) {
	for _, name := range releaseFiles {
		b, err := host.ReadFile(m.FS, name, 64<<10)
		if err != nil {
			continue
		}
		if info, ok := parseRelease(string(b)); ok {
			m.Source("system.release", assess.SourceOK, "/"+name)
			return info, true
		}
	}
	return nil, false
}

// parseRelease reads what a system from before os-release says of itself.
func parseRelease(text string) (map[string]string, bool) {
	name := assess.FirstLine(text)
	for _, r := range releaseForms {
		found := r.form.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		version := found[1]
		if level := patchLevel.FindStringSubmatch(text); level != nil && level[1] != "0" && !strings.Contains(version, ".") {
			version += "." + level[1]
		}
		return map[string]string{"ID": r.id, "VERSION_ID": version, "PRETTY_NAME": name}, true
	}
	return nil, false
}
