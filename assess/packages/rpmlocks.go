package packages

import (
	"path"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/packages/repositories"
	"svc/assess/packages/rpm"
	"svc/backend/lazyregexp"
)

// maxLocks bounds the patterns that each package is held against.
const maxLocks = 1000

// locks are patterns of packages that are to stay as they are.
type locks struct {
	exact    map[string]bool
	patterns []string
}

func (l *locks) add(pattern string) {
	switch {
	case pattern == "":
	case !strings.ContainsAny(pattern, `*?[\`):
		l.exact[pattern] = true
	case len(l.patterns) < maxLocks:
		l.patterns = append(l.patterns, pattern)
	}
}

// hold reports whether a package is locked, by any of the forms in which the
// managers write one.
func (l *locks) hold(p *rpm.Package) bool {
	vr := p.Version + "-" + p.Release
	evr := strconv.Itoa(p.Epoch) + ":" + vr
	for _, form := range []string{
		p.Name, p.Name + "." + p.Arch, p.Name + "-" + p.Version, p.Name + "-" + vr, p.Name + "-" + vr + "." + p.Arch,
		p.Name + "-" + evr, p.Name + "-" + evr + "." + p.Arch, strconv.Itoa(p.Epoch) + ":" + p.Name + "-" + vr + "." + p.Arch,
	} {
		if l.exact[form] {
			return true
		}
		for _, pattern := range l.patterns {
			if ok, err := path.Match(pattern, form); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// readLocks reads the lists of yum's and dnf's versionlock and of zypper, and
// what yum and dnf are told to leave alone.
func readLocks(m *assess.Machine) *locks {
	l := &locks{exact: map[string]bool{}}
	for _, file := range []string{"etc/yum/pluginconf.d/versionlock.list", "etc/dnf/plugins/versionlock.list"} {
		text, _ := m.Text("packages.versionlock", file)
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "!") { // one version that is not to come
				l.add(line)
			}
		}
	}
	text, _ := m.Text("packages.versionlock", "etc/dnf/versionlock.toml")
	for _, entry := range tomlName.FindAllStringSubmatch(text, -1) {
		l.add(entry[1])
	}
	zyppLocks(m, l)
	for _, file := range []string{"etc/yum.conf", "etc/dnf/dnf.conf"} {
		for _, s := range repositories.RepoSections(m.Peek(file)) {
			for _, pattern := range assess.FieldsOf(s.Values["exclude"] + " " + s.Values["excludepkgs"]) {
				if s.Name == "main" {
					l.add(pattern)
				}
			}
		}
	}
	return l
}

// tomlName is a name in dnf 5's list of locks.
var tomlName = lazyregexp.New(`(?m)^\s*name\s*=\s*["']([^"'\n]+)["']`)

// zyppLocks reads zypper's locks: lines of "key: value", an empty line between
// two locks. What is not a package's lock is passed over.
func zyppLocks(m *assess.Machine, l *locks) {
	text, _ := m.Text("packages.zypp-locks", "etc/zypp/locks")
	for lock := range strings.SplitSeq(text, "\n\n") {
		values := map[string]string{}
		for line := range strings.Lines(lock) {
			if key, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
				values[strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
		if kind := values["type"]; kind == "" || kind == "package" {
			l.add(values["solvable_name"])
		}
	}
}
