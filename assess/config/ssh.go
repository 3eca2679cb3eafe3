package config

import (
	"path"
	"strings"

	"svc/assess"
)

// ReadSysctl reads the kernel settings that were written on the machine: those
// that packages ship come with the packages.
func ReadSysctl(m *assess.Machine) {
	files := []string{}
	m.EachOf("sysctl.sysctl.d", []string{"etc/sysctl.d", "usr/local/lib/sysctl.d"}, ".conf", func(file string) { files = append(files, file) })
	for _, file := range append(files, "etc/sysctl.conf") {
		if m.IsLocal("/"+file) || m.ChangedConffile("/"+file) {
			text, _ := m.Text("sysctl."+path.Base(file), file)
			for s := range assess.ParseSettings("/"+file, text, "=") {
				assess.Grow(m, "sysctl", &m.A.Sysctl, s)
			}
		}
	}
}

// ReadSSH reads sshd's settings in the order in which sshd takes them: the
// first value of a key counts.
func ReadSSH(m *assess.Machine) {
	if text, ok := m.Text("ssh.sshd_config", "etc/ssh/sshd_config"); ok {
		sshFile(m, "/etc/ssh/sshd_config", text, 0)
	}
}

func sshFile(m *assess.Machine, file, text string, depth int) {
	for s := range assess.ParseSettings(file, text, "") {
		switch key := strings.ToLower(s.Key); {
		case key == "match":
			return // what follows holds for some connections only
		case key == "include" && depth < assess.MaxIncludes:
			sshInclude(m, s.Value, depth+1)
		default:
			m.A.SSH = append(m.A.SSH, s)
		}
	}
}

func sshInclude(m *assess.Machine, pattern string, depth int) {
	if m.Included == nil {
		m.Included = map[string]bool{}
	}
	for p := range strings.FieldsSeq(pattern) {
		for _, file := range m.Glob(assess.LeadsTo("/etc/ssh/sshd_config", p)) {
			if m.Included[file] {
				continue // sshd would read it again; its first values count
			}
			m.Included[file] = true
			if text, ok := m.Text("ssh."+path.Base(file), file[1:]); ok {
				sshFile(m, file, text, depth)
			}
		}
	}
}
