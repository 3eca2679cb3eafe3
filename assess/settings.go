package assess

import (
	"cmp"
	"iter"
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
	m.eachOf("sysctl.sysctl.d", []string{"etc/sysctl.d", "usr/local/lib/sysctl.d"}, ".conf", func(file string) { files = append(files, file) })
	for _, file := range append(files, "etc/sysctl.conf") {
		if m.isLocal("/"+file) || m.changedConffile("/"+file) {
			text, _ := m.text("sysctl."+path.Base(file), file)
			for s := range parseSettings("/"+file, text, "=") {
				grow(m, "sysctl", &m.a.Sysctl, s)
			}
		}
	}
}

// parseSettings reads "key SEP value" lines; an empty separator is any space.
func parseSettings(file, text, sep string) iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			key, value := cutSetting(line, sep)
			if key != "" && !yield(Setting{strings.TrimPrefix(key, "-"), value, Evidence{file, n}}) {
				return
			}
		}
	}
}

// hasSettings reports whether a file of such lines has one that counts.
func hasSettings(text string) bool {
	for range parseSettings("", text, "") {
		return true
	}
	return false
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
	for s := range parseSettings(file, text, "") {
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

// maxFound bounds what a pattern of the machine's may find.
const maxFound = 4096

// glob finds files by an absolute path whose elements may be patterns.
func (m *machine) glob(pattern string) []string {
	found := []string{"/"}
	for _, part := range strings.Split(strings.Trim(path.Clean(pattern), "/"), "/") {
		var next []string
		for _, dir := range found {
			if len(next) < maxFound {
				next = append(next, m.matching(dir, part)...)
			}
		}
		found = next
	}
	return slices.DeleteFunc(found, func(file string) bool { return !isPattern(path.Base(pattern)) && !m.exists(file[1:]) })
}

func isPattern(part string) bool { return strings.ContainsAny(part, "*?[") }

// matching are the paths of a folder's entries that match one element.
func (m *machine) matching(dir, part string) (files []string) {
	if !isPattern(part) {
		return []string{path.Join(dir, part)}
	}
	name := cmp.Or(dir[1:], ".")
	names, err := m.files(name)
	if stateOf(err) == SourceUnreadable { // to include nothing is fine with every server that has it
		m.outcome("configuration.included", name, err)
	}
	for _, name := range names {
		if ok, err := path.Match(part, name); ok && err == nil {
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
