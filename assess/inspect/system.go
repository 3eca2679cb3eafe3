package inspect

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/tsv"
)

// readSystem finds out what system this is; without that there is nothing to
// assess.
func readSystem(m *assess.Machine) error {
	info, err := readOSRelease(m)
	if err != nil {
		return err
	}
	m.A.System = assess.System{
		ID: info["ID"], VersionID: info["VERSION_ID"], Codename: info["VERSION_CODENAME"], Name: info["PRETTY_NAME"],
		Hostname: hostname(m), TimeZone: timeZone(m), Locale: assigned(m, "locale"), Keyboard: assigned(m, "keyboard"), Kernels: kernels(m), InitSystem: initSystem(m),
	}
	m.A.Release = slug(m, info)
	m.IDs = append([]string{info["ID"]}, strings.Fields(info["ID_LIKE"])...)
	m.Release, m.Known = release.Lookup(m.A.Release)
	if m.Known {
		m.A.Release = m.Release.Slug
	}
	return nil
}

// slug names the release. Debian's testing has no VERSION_ID, but a code name.
func slug(m *assess.Machine, info map[string]string) string {
	if info["VERSION_ID"] == "" {
		if r, ok := release.Lookup(info["VERSION_CODENAME"]); ok {
			return r.Slug
		}
		return release.Slug(info["ID"], "unknown")
	}
	return release.Slug(info["ID"], info["VERSION_ID"])
}

func readOSRelease(m *assess.Machine) (map[string]string, error) {
	var failed error
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		b, err := host.ReadFile(m.FS, name, 64<<10)
		if err != nil {
			failed = err
			continue
		}
		if info := assess.ParseAssignments(string(b)); info["ID"] != "" {
			m.Source("system.os-release", assess.SourceOK, "/"+name)
			return info, nil
		}
	}
	if info, ok := oldRelease(m); ok {
		return info, nil
	}
	if assess.StateOf(failed) == assess.SourceUnreadable {
		return nil, fmt.Errorf("reading os-release: %w", failed)
	}
	return nil, assess.ErrNoSystem
}

// timeZone is where /etc/localtime points, else what the family's own file says.
func timeZone(m *assess.Machine) string {
	if target, err := m.FS.ReadLink("etc/localtime"); err == nil {
		if _, zone, ok := strings.Cut(target, "zoneinfo/"); ok {
			return zone
		}
	}
	return cmp.Or(assess.FirstLine(m.Peek("etc/timezone")), assigned(m, "time zone"))
}

// assignment is a variable in a file of a family.
type assignment struct{ what, file, name string }

//go:embed assignments.tsv
var assignmentRows string

var assignments = tsv.List(assignmentRows, 3, func(c []string) assignment { return assignment{c[0], c[1], c[2]} })

// assigned is the first of the variables that has a value.
func assigned(m *assess.Machine, what string) string {
	for _, a := range assignments() {
		if a.what != what {
			continue
		}
		if value := assess.ParseAssignments(m.Peek(a.file))[a.name]; value != "" {
			return value
		}
	}
	return ""
}

func hostname(m *assess.Machine) string {
	return cmp.Or(assess.FirstLine(m.Peek("etc/hostname")), assess.FirstLine(m.Peek("etc/HOSTNAME")), assigned(m, "host name"))
}

// kernels are the releases that have modules, or that can be booted.
func kernels(m *assess.Machine) []string {
	names, err := m.Files("usr/lib/modules")
	if err != nil {
		names, _ = m.Files("lib/modules") // a container has neither
	}
	names = slices.Clone(names)
	boot, _ := m.Files("boot") // nor this
	for _, name := range boot {
		if version := bootable.FindStringSubmatch(name); version != nil {
			names = append(names, version[1])
		}
	}
	slices.SortFunc(names, assess.CompareNatural)
	return assess.List(slices.Compact(names))
}

// bootable is a kernel in /boot, but not one to rescue the machine with, nor a
// link that has a word for a version.
var bootable = lazyregexp.New(`^(?:vmlinuz|vmlinux|image|Image)-(\d+\.\d[^ ]*)$`)

// initRows are init systems by what each one's machines have; a machine may
// have what is left of an earlier one.
//
//go:embed inits.tsv
var initRows string

func initSystem(m *assess.Machine) string {
	for row := range tsv.Rows(initRows, 2) {
		if m.Exists(row[0]) {
			return row[1]
		}
	}
	return ""
}
