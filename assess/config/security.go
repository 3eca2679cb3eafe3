package config

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess"
)

// selinuxPolicies is where policies keep what was changed on the machine: EL7
// and later, and EL6.
var selinuxStores = []string{"etc/selinux/%/active", "var/lib/selinux/%/active", "etc/selinux/%/modules/active"}

// selinuxLocal are the files of a store that hold what people set.
var selinuxLocal = []struct{ key, file string }{
	{"boolean", "booleans.local"},
	{"context", "file_contexts.local"},
	{"port", "ports.local"},
	{"user", "seusers.local"},
	{"login", "users.local"},
	{"interface", "interfaces.local"},
}

// localPriority is the one at which people's own modules are loaded; those of
// packages have 100 and 200.
const localPriority = "400"

// selinux notes what people changed of the policy.
func selinux(m *assess.Machine) {
	policy := "targeted"
	for _, f := range m.Facts("selinux") {
		if f.Key == "SELINUXTYPE" {
			policy = f.Value
		}
	}
	if policy == "" || strings.Contains(policy, "/") || policy == ".." {
		return
	}
	for _, store := range selinuxStores {
		dir := strings.Replace(store, "%", policy, 1)
		if _, err := m.FS.ReadDir(dir); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				m.Outcome("selinux.store", dir, err)
			}
			continue
		}
		selinuxStore(m, dir)
	}
}

func selinuxStore(m *assess.Machine, dir string) {
	for _, l := range selinuxLocal {
		file := path.Join(dir, l.file)
		if !m.Exists(file) {
			continue
		}
		text, _ := m.Text("selinux."+l.file, file)
		for n, line := range assess.NumberedLines(text) {
			if line != "" && line[0] != '#' {
				m.Fact("selinux", l.key, strings.Join(strings.Fields(line), " "), assess.Evidence{Path: "/" + file, Line: n})
			}
		}
	}
	modules := path.Join(dir, "modules", localPriority)
	names, _ := m.Files(modules) // made with the first module
	for _, name := range names {
		m.Fact("selinux", "module", name, assess.Evidence{Path: "/" + path.Join(modules, name), Line: 0})
	}
}

// apparmor notes the profiles that people changed, wrote, disabled or let only
// complain.
func apparmor(m *assess.Machine) {
	entries, err := m.FS.ReadDir("etc/apparmor.d")
	m.Outcome("apparmor.profiles", "etc/apparmor.d", err)
	for _, e := range entries {
		if file := path.Join("etc/apparmor.d", e.Name()); e.Type().IsRegular() && !assess.Leftover(e.Name()) {
			profile(m, file)
		}
	}
	for _, way := range []string{"disable", "force-complain"} {
		names, _ := m.Files(path.Join("etc/apparmor.d", way)) // beside the profiles
		for _, name := range names {
			m.Fact("apparmor", way, name, assess.Evidence{Path: "/" + path.Join("etc/apparmor.d", way, name), Line: 0})
		}
	}
	names, _ := m.Files("etc/apparmor.d/local")
	for _, name := range names {
		if file := path.Join("etc/apparmor.d/local", name); name != "README" && assess.HasSettings(m.Peek(file)) {
			m.Fact("apparmor", "local", name, assess.Evidence{Path: "/" + file, Line: 0})
		}
	}
}

// profile notes a profile that is not as a package made it.
func profile(m *assess.Machine, file string) {
	name := path.Base(file)
	switch {
	case m.IsLocal("/" + file):
		m.Fact("apparmor", "own", name, assess.Evidence{Path: "/" + file, Line: 0})
	case m.ChangedConffile("/" + file):
		m.Fact("apparmor", "changed", name, assess.Evidence{Path: "/" + file, Line: 0})
	default:
		return
	}
	for n, line := range assess.NumberedLines(m.Peek(file)) {
		if strings.Contains(line, "flags=") && strings.Contains(line, "complain") && line[0] != '#' {
			m.Fact("apparmor", "complain", name, assess.Evidence{Path: "/" + file, Line: n})
			return
		}
	}
}

// fips notes whether the machine keeps to FIPS 140 by what its kernel is started with; the
// mark of its installation is in the table.
func fips(m *assess.Machine) {
	for _, f := range m.Facts("boot") {
		if slices.Contains(strings.Fields(f.Value), "fips=1") {
			m.Fact("fips", "kernel", "fips=1", f.Evidence)
		}
	}
}
