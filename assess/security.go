package assess

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
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
func (m *machine) selinux() {
	policy := "targeted"
	for _, f := range m.facts("selinux") {
		if f.Key == "SELINUXTYPE" {
			policy = f.Value
		}
	}
	if policy == "" || strings.Contains(policy, "/") || policy == ".." {
		return
	}
	for _, store := range selinuxStores {
		dir := strings.Replace(store, "%", policy, 1)
		if _, err := m.fs.ReadDir(dir); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				m.outcome("selinux.store", dir, err)
			}
			continue
		}
		m.selinuxStore(dir)
	}
}

func (m *machine) selinuxStore(dir string) {
	for _, l := range selinuxLocal {
		file := path.Join(dir, l.file)
		if !m.exists(file) {
			continue
		}
		text, _ := m.text("selinux."+l.file, file)
		for n, line := range numberedLines(text) {
			if line != "" && line[0] != '#' {
				m.fact("selinux", l.key, strings.Join(strings.Fields(line), " "), Evidence{"/" + file, n})
			}
		}
	}
	modules := path.Join(dir, "modules", localPriority)
	names, _ := m.files(modules) // made with the first module
	for _, name := range names {
		m.fact("selinux", "module", name, Evidence{"/" + path.Join(modules, name), 0})
	}
}

// apparmor notes the profiles that people changed, wrote, disabled or let only
// complain.
func (m *machine) apparmor() {
	entries, err := m.fs.ReadDir("etc/apparmor.d")
	m.outcome("apparmor.profiles", "etc/apparmor.d", err)
	for _, e := range entries {
		if file := path.Join("etc/apparmor.d", e.Name()); e.Type().IsRegular() && !leftover(e.Name()) {
			m.profile(file)
		}
	}
	for _, way := range []string{"disable", "force-complain"} {
		names, _ := m.files(path.Join("etc/apparmor.d", way)) // beside the profiles
		for _, name := range names {
			m.fact("apparmor", way, name, Evidence{"/" + path.Join("etc/apparmor.d", way, name), 0})
		}
	}
	names, _ := m.files("etc/apparmor.d/local")
	for _, name := range names {
		if file := path.Join("etc/apparmor.d/local", name); name != "README" && hasSettings(m.peek(file)) {
			m.fact("apparmor", "local", name, Evidence{"/" + file, 0})
		}
	}
}

// profile notes a profile that is not as a package made it.
func (m *machine) profile(file string) {
	name := path.Base(file)
	switch {
	case m.isLocal("/" + file):
		m.fact("apparmor", "own", name, Evidence{"/" + file, 0})
	case m.changedConffile("/" + file):
		m.fact("apparmor", "changed", name, Evidence{"/" + file, 0})
	default:
		return
	}
	for n, line := range numberedLines(m.peek(file)) {
		if strings.Contains(line, "flags=") && strings.Contains(line, "complain") && line[0] != '#' {
			m.fact("apparmor", "complain", name, Evidence{"/" + file, n})
			return
		}
	}
}

// fips notes whether the machine keeps to FIPS 140, by the mark of its
// installation or what its kernel is started with.
func (m *machine) fips() {
	if m.exists("etc/system-fips") {
		m.fact("fips", "system-fips", "there", Evidence{"/etc/system-fips", 0})
	}
	for _, f := range m.facts("boot") {
		if slices.Contains(strings.Fields(f.Value), "fips=1") {
			m.fact("fips", "kernel", "fips=1", f.Evidence)
		}
	}
	policies, _ := m.files("etc/crypto-policies/policies") // with EL8 and later; its state is that of the policy's file
	for _, name := range policies {
		if strings.HasSuffix(name, ".pol") && m.isLocal("/etc/crypto-policies/policies/"+name) {
			m.fact("crypto-policy", "own policy", name, Evidence{"/etc/crypto-policies/policies/" + name, 0})
		}
	}
}
