package assess

import (
	"maps"
	"path"
	"slices"
	"strings"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// readSysctl reads the kernel settings that were written on the machine: those
// that packages ship come with the packages.
func (m *machine) readSysctl() {
	files := []string{}
	m.eachFile("sysctl.sysctl.d", "etc/sysctl.d", ".conf", func(file string) { files = append(files, file) })
	for _, file := range append(files, "etc/sysctl.conf") {
		if m.isLocal("/"+file) || m.changedConffile("/"+file) {
			text, _ := m.text("sysctl."+path.Base(file), file)
			m.a.Sysctl = append(m.a.Sysctl, parseSettings("/"+file, text, "=")...)
		}
	}
}

// parseSettings reads "key SEP value" lines; an empty separator is any space.
func parseSettings(file, text, sep string) (settings []Setting) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value := cutSetting(line, sep)
		if key != "" {
			settings = append(settings, Setting{strings.TrimPrefix(key, "-"), value, Evidence{file, n}})
		}
	}
	return settings
}

func cutSetting(line, sep string) (key, value string) {
	if sep != "" {
		k, v, _ := strings.Cut(line, sep)
		return strings.TrimSpace(k), strings.TrimSpace(v)
	}
	i := strings.IndexAny(line, " \t=")
	if i < 0 {
		return line, ""
	}
	return line[:i], strings.Trim(line[i:], " \t=\"")
}

// readSSH reads sshd's settings in the order in which sshd takes them: the
// first value of a key counts.
func (m *machine) readSSH() {
	if text, ok := m.text("ssh.sshd_config", "etc/ssh/sshd_config"); ok {
		m.sshFile("/etc/ssh/sshd_config", text, 0)
	}
}

// maxIncludes bounds how deep a configuration may include others.
const maxIncludes = 4

func (m *machine) sshFile(file, text string, depth int) {
	for _, s := range parseSettings(file, text, "") {
		switch key := strings.ToLower(s.Key); {
		case key == "match":
			return // what follows holds for some connections only
		case key == "include" && depth < maxIncludes:
			m.sshInclude(s.Value, depth+1)
		default:
			m.a.SSH = append(m.a.SSH, s)
		}
	}
}

func (m *machine) sshInclude(pattern string, depth int) {
	if m.included == nil {
		m.included = map[string]bool{}
	}
	for _, p := range strings.Fields(pattern) {
		if !path.IsAbs(p) {
			p = path.Join("/etc/ssh", p)
		}
		for _, file := range m.glob(p) {
			if m.included[file] {
				continue // sshd would read it again; its first values count
			}
			m.included[file] = true
			if text, ok := m.text("ssh."+path.Base(file), file[1:]); ok {
				m.sshFile(file, text, depth)
			}
		}
	}
}

// glob finds files by a pattern in the last element of an absolute path.
func (m *machine) glob(pattern string) (files []string) {
	dir, base := path.Split(path.Clean(pattern))
	names, err := m.files(strings.Trim(dir, "/"))
	if stateOf(err) == SourceUnreadable { // to include nothing is fine with every server that has it
		m.outcome("configuration.included", strings.Trim(dir, "/"), err)
	}
	for _, name := range names {
		if ok, err := path.Match(base, name); ok && err == nil {
			files = append(files, path.Join(dir, name))
		}
	}
	return files
}

// sshd is the first value of an sshd setting, by its name in lower case.
func (m *machine) sshd(key string) (Setting, bool) {
	i := slices.IndexFunc(m.a.SSH, func(s Setting) bool { return strings.EqualFold(s.Key, key) })
	if i < 0 {
		return Setting{}, false
	}
	return m.a.SSH[i], true
}
