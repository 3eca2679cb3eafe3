// Package repositories reads where a machine has its packages from.
package repositories

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/release"
)

// addRepository adds a repository of another manager than apt. Of a family that
// is not known nobody can tell whose it is; what is not told counts as a third party's,
// EPEL too.
func addRepository(m *assess.Machine, o assess.Origin) {
	own := m.Family().Conventions().Repositories
	o.ThirdParty = own != nil && (!own.MatchString(o.URI) || strings.Contains(o.URI, "epel") && m.Family() == release.EL)
	o.Components, o.Types = assess.List(o.Components), assess.List(o.Types)
	assess.Grow(m, "origins", &m.A.Origins, o)
}

// repoFolders are where yum, dnf and zypper look for repositories.
var repoFolders = []string{"etc/yum.repos.d", "etc/distro.repos.d", "etc/yum/repos.d", "etc/zypp/repos.d"}

// RPMOrigins reads the repositories of yum, dnf and zypper.
func RPMOrigins(m *assess.Machine) {
	vars := repoVariables(m)
	checked := map[string]bool{"etc/zypp/repos.d": true}
	for _, main := range []string{"etc/yum.conf", "etc/dnf/dnf.conf"} {
		text := m.Peek(main)
		for _, s := range RepoSections(text) {
			if s.Name != "main" {
				repository(m, "/"+main, s, vars, checked["etc/yum.repos.d"])
			} else if isYes(s.Values["gpgcheck"]) {
				checked["etc/yum.repos.d"], checked["etc/distro.repos.d"], checked["etc/yum/repos.d"] = true, true, true
			}
		}
	}
	for _, dir := range repoFolders {
		m.EachFile("origins."+path.Base(dir), dir, ".repo", func(file string) {
			text, _ := m.Text("origins."+path.Base(file), file)
			for _, s := range RepoSections(text) {
				repository(m, "/"+file, s, vars, checked[dir])
			}
		})
	}
	m.EachFile("origins.services.d", "etc/zypp/services.d", ".service", func(file string) {
		text, _ := m.Text("origins."+path.Base(file), file)
		for _, s := range RepoSections(text) {
			addRepository(m, assess.Origin{URI: s.Values["url"], Suite: s.Name, Types: []string{"service"}, Enabled: !isNo(s.Values["enabled"]), Evidence: assess.Evidence{Path: "/" + file, Line: s.line}})
		}
	})
}

// repository adds what one section of a .repo file names: an origin for each of
// its addresses, or its list of mirrors.
func repository(m *assess.Machine, file string, s repoSection, vars *strings.Replacer, checked bool) {
	if v := s.Values["gpgcheck"]; v != "" {
		checked = isYes(v)
	}
	o := assess.Origin{Suite: s.Name, Types: []string{"rpm"}, Enabled: !isNo(s.Values["enabled"]), Unchecked: !checked, Evidence: assess.Evidence{Path: file, Line: s.line}}
	if checked {
		o.SignedBy = vars.Replace(assess.First(assess.FieldsOf(s.Values["gpgkey"])))
	}
	addresses := assess.FieldsOf(s.Values["baseurl"])
	if len(addresses) == 0 {
		addresses = []string{cmp.Or(s.Values["metalink"], s.Values["mirrorlist"])}
	}
	for _, address := range addresses {
		o.URI = vars.Replace(address)
		addRepository(m, o)
	}
}

// repoSection is a section of a .repo file. Its name is the repository's id.
type repoSection struct {
	Name   string
	line   int
	Values map[string]string // by keys in lower case
}

// RepoSections reads the sections of a .repo file. A value goes on in lines that
// begin with a space.
func RepoSections(text string) (sections []repoSection) {
	n, key := 0, ""
	for line := range strings.Lines(text) {
		n++
		value := strings.TrimSpace(line)
		switch name, isSection := strings.CutPrefix(value, "["); {
		case value == "" || value[0] == '#' || value[0] == ';':
		case isSection:
			name, _, _ = strings.Cut(name, "]")
			sections, key = append(sections, repoSection{name, n, map[string]string{}}), ""
		case sections == nil:
		case line[0] == ' ' || line[0] == '\t':
			if key != "" {
				sections[len(sections)-1].Values[key] += " " + value
			}
		default:
			k, v, _ := strings.Cut(value, "=")
			key = strings.ToLower(strings.TrimSpace(k))
			sections[len(sections)-1].Values[key] = strings.TrimSpace(v)
		}
	}
	return sections
}

func isYes(s string) bool {
	return slices.Contains([]string{"1", "yes", "true", "on"}, strings.ToLower(s))
}

func isNo(s string) bool {
	return slices.Contains([]string{"0", "no", "false", "off"}, strings.ToLower(s))
}

// repoVariables are what stands for $releasever and the like: what the machine
// sets itself, else what its release and architecture say.
func repoVariables(m *assess.Machine) *strings.Replacer {
	values := map[string]string{"releasever": releasever(m), "basearch": baseArch(m.A.System.Architecture), "arch": m.A.System.Architecture}
	for _, dir := range []string{"etc/yum/vars", "etc/dnf/vars", "etc/zypp/vars.d"} {
		m.EachFile("origins.vars", dir, "", func(file string) {
			values[path.Base(file)] = assess.FirstLine(m.Peek(file))
		})
	}
	major, minor, _ := strings.Cut(values["releasever"], ".")
	values["releasever_major"], values["releasever_minor"] = major, minor
	var pairs []string
	for _, name := range slices.Backward(assess.SortedKeys(values)) { // the longer of two names first
		if value := values[name]; value != "" {
			pairs = append(pairs, "${"+name+"}", value, "$"+name, value)
		}
	}
	return strings.NewReplacer(pairs...)
}

// releasever is the release as repositories name it: without the minor where a
// distribution has repositories for each major alone.
func releasever(m *assess.Machine) string {
	version := m.A.System.VersionID
	if m.Family() != release.EL {
		return version
	}
	major, _, _ := strings.Cut(version, ".")
	if m.A.System.ID == "rhel" && (major == "5" || major == "6" || major == "7") {
		return major + "Server"
	}
	return major
}

// baseArch is the architecture as repositories name it.
func baseArch(arch string) string {
	switch arch {
	case "i486", "i586", "i686", "athlon", "geode":
		return "i386"
	case "armv7hl", "armv7hnl", "armv8hl":
		return "armhfp"
	case "amd64", "ia32e":
		return "x86_64"
	}
	return arch
}

// APKOrigins reads the repositories of apk: an address a line, with a tag before
// it, or commented out.
func APKOrigins(m *assess.Machine) {
	files := []string{"etc/apk/repositories"}
	if m.Exists("etc/apk/repositories.d") {
		m.EachFile("origins.repositories.d", "etc/apk/repositories.d", ".list", func(file string) { files = append(files, file) })
	}
	for _, file := range files {
		text, _ := m.Text("origins."+path.Base(file), file)
		for n, line := range assess.NumberedLines(text) {
			if o, ok := parseAPKLine(line); ok {
				o.Evidence = assess.Evidence{Path: "/" + file, Line: n}
				addRepository(m, o)
			}
		}
	}
}

func parseAPKLine(line string) (o assess.Origin, ok bool) {
	rest, disabled := strings.CutPrefix(strings.TrimSpace(line), "#")
	f := strings.Fields(rest)
	if len(f) == 2 && strings.HasPrefix(f[0], "@") {
		f = f[1:]
	}
	if len(f) != 1 || !strings.Contains(f[0], "/") {
		return o, false
	}
	base, component := path.Split(strings.TrimSuffix(f[0], "/"))
	return assess.Origin{URI: f[0], Suite: path.Base(base), Components: []string{component}, Types: []string{"apk"}, Enabled: !disabled}, true
}
