package assess

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// readSystem finds out what system this is; without that there is nothing to
// assess.
func (m *machine) readSystem() error {
	info, err := m.osRelease()
	if err != nil {
		return err
	}
	m.a.System = System{
		ID: info["ID"], VersionID: info["VERSION_ID"], Codename: info["VERSION_CODENAME"], Name: info["PRETTY_NAME"],
		Hostname: m.hostname(), TimeZone: m.timeZone(), Locale: m.assigned(locales), Keyboard: m.assigned(keyboards), Kernels: m.kernels(), InitSystem: m.initSystem(),
	}
	m.a.Release = m.slug(info)
	m.ids = append([]string{info["ID"]}, strings.Fields(info["ID_LIKE"])...)
	m.release, m.known = release.Lookup(m.a.Release)
	if m.known {
		m.a.Release = m.release.Slug
	}
	return nil
}

// slug names the release. Debian's testing has no VERSION_ID, but a code name.
func (m *machine) slug(info map[string]string) string {
	if info["VERSION_ID"] == "" {
		if r, ok := release.Lookup(info["VERSION_CODENAME"]); ok {
			return r.Slug
		}
		return release.Slug(info["ID"], "unknown")
	}
	return release.Slug(info["ID"], info["VERSION_ID"])
}

func (m *machine) osRelease() (map[string]string, error) {
	var failed error
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		b, err := host.ReadFile(m.fs, name, 64<<10)
		if err != nil {
			failed = err
			continue
		}
		if info := parseAssignments(string(b)); info["ID"] != "" {
			m.source("system.os-release", SourceOK, "/"+name)
			return info, nil
		}
	}
	if info, ok := m.oldRelease(); ok {
		return info, nil
	}
	if stateOf(failed) == SourceUnreadable {
		return nil, fmt.Errorf("reading os-release: %w", failed)
	}
	return nil, ErrNoSystem
}

// parseAssignments reads NAME=value lines as a shell would, without expanding
// anything.
func parseAssignments(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(name, "#") {
			m[strings.TrimSpace(name)] = unquote(strings.TrimSpace(value))
		}
	}
	return m
}

// unquote takes a pair of quotes off.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.NewReplacer(`\"`, `"`, `\$`, `$`, `\\`, `\`).Replace(s[1 : len(s)-1])
	}
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// timeZone is where /etc/localtime points, else what the family's own file says.
func (m *machine) timeZone() string {
	if target, err := m.fs.ReadLink("etc/localtime"); err == nil {
		if _, zone, ok := strings.Cut(target, "zoneinfo/"); ok {
			return zone
		}
	}
	return cmp.Or(firstLine(m.peek("etc/timezone")), m.assigned(timeZones))
}

// assignment is a variable in a file of a family.
type assignment struct{ file, name string }

var (
	hostnames = []assignment{{"etc/sysconfig/network", "HOSTNAME"}, {"etc/conf.d/hostname", "hostname"}}
	timeZones = []assignment{{"etc/sysconfig/clock", "ZONE"}, {"etc/sysconfig/clock", "TIMEZONE"}, {"etc/conf.d/clock", "TIMEZONE"}}
	locales   = []assignment{
		{"etc/default/locale", "LANG"},
		{"etc/locale.conf", "LANG"},
		{"etc/sysconfig/i18n", "LANG"},
		{"etc/sysconfig/language", "RC_LANG"},
		{"etc/profile.d/20locale.sh", "export LANG"},
		{"etc/profile.d/locale.sh", "export LANG"},
	}
	keyboards = []assignment{
		{"etc/vconsole.conf", "KEYMAP"},
		{"etc/default/keyboard", "XKBLAYOUT"},
		{"etc/sysconfig/keyboard", "KEYTABLE"},
		{"etc/conf.d/loadkmap", "KEYMAP"},
	}
)

// assigned is the first of the variables that has a value.
func (m *machine) assigned(where []assignment) string {
	for _, a := range where {
		if value := parseAssignments(m.peek(a.file))[a.name]; value != "" {
			return value
		}
	}
	return ""
}

func (m *machine) hostname() string {
	return cmp.Or(firstLine(m.peek("etc/hostname")), firstLine(m.peek("etc/HOSTNAME")), m.assigned(hostnames))
}

// kernels are the releases that have modules, or that can be booted.
func (m *machine) kernels() []string {
	names, err := m.files("usr/lib/modules")
	if err != nil {
		names, _ = m.files("lib/modules") // a container has neither
	}
	names = slices.Clone(names)
	boot, _ := m.files("boot") // nor this
	for _, name := range boot {
		if version := bootable.FindStringSubmatch(name); version != nil {
			names = append(names, version[1])
		}
	}
	slices.SortFunc(names, compareNatural)
	return list(slices.Compact(names))
}

// bootable is a kernel in /boot, but not one to rescue the machine with, nor a
// link that has a word for a version.
var bootable = lazyregexp.New(`^(?:vmlinuz|vmlinux|image|Image)-(\d+\.\d[^ ]*)$`)

// initSystems are init systems by what each one's machines have; a machine may
// have what is left of an earlier one.
var initSystems = []struct{ path, name string }{
	{"usr/lib/systemd/systemd", managerSystemd},
	{"lib/systemd/systemd", managerSystemd},
	{"etc/init/rcS.conf", managerUpstart},
	{"etc/init/rc-sysinit.conf", managerUpstart},
	{"sbin/openrc", managerOpenRC},
	{"usr/sbin/openrc", managerOpenRC},
	{"etc/inittab", "sysvinit"},
}

func (m *machine) initSystem() string {
	for _, s := range initSystems {
		if m.exists(s.path) {
			return s.name
		}
	}
	return ""
}

// compareNatural orders names so that numbers in them count as numbers.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na == 0 || nb == 0 {
			if a[0] != b[0] {
				return int(a[0]) - int(b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

// digits counts the digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
