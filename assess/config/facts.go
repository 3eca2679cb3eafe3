package config

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// factFile is a file of which some settings are facts as they stand, or that it is there.
type factFile struct {
	area string
	file string   // may end in a pattern: /etc/modprobe.d/*.conf
	sep  string   // between key and value; empty is any space
	keys []string // all where there are none; in lower case; of what is there, the value
	own  bool     // only what is not as a package made it
	name string   // of the one setting of a file that has no keys, and of what is there
}

//go:embed facts.tsv
var factRows string

// factFiles are those of the table.
var factFiles = tsv.List(factRows, 6, func(c []string) factFile {
	return factFile{area: c[0], file: c[1], sep: c[2], keys: strings.FieldsFunc(c[3], func(r rune) bool { return r == ',' }), own: c[4] == "own", name: c[5]}
})

// isThere stands in the table where what parts key and value would: the file is the fact.
const isThere = "there"

// ReadFacts reads what the files of the table say.
func ReadFacts(m *assess.Machine) {
	for _, f := range factFiles() {
		files := []string{f.file}
		several, there := strings.Contains(f.file, "*"), f.sep == isThere
		if several || there {
			files = m.Glob(f.file)
		}
		for _, file := range files {
			switch {
			case f.own && !m.IsLocal(file) && !m.ChangedConffile(file):
			case there && several:
				m.Fact(f.area, f.name, path.Base(file), assess.Evidence{Path: file})
			case there:
				m.Fact(f.area, f.name, f.keys[0], assess.Evidence{Path: file})
			default:
				factsOf(m, f, file)
			}
		}
	}
	releaseFacts(m)
	aptFacts(m)
	selinux(m)
	apparmor(m)
	fips(m)
	pam(m)
	sudoRules(m)
	logrotate(m)
}

// factsOf reads one file of the table.
func factsOf(m *assess.Machine, f factFile, file string) {
	text, _ := m.Text(f.area+"."+path.Base(file), file[1:])
	for s := range assess.ParseSettings(file, text, f.sep) {
		if f.name != "" {
			s.Key, s.Value = f.name, s.Key
		}
		key := strings.ToLower(s.Key)
		if s.Value == "" && f.sep == "=" || strings.HasPrefix(key, "[") || len(f.keys) > 0 && !slices.Contains(f.keys, key) || usualFact(f.area, s) {
			continue
		}
		m.Fact(f.area, s.Key, assess.Unquote(s.Value), s.Evidence)
	}
}

// usualFact tells what stands on every machine: the aliases of a system's own
// accounts.
func usualFact(area string, s assess.Setting) bool {
	return area == "mail" && path.Base(s.Evidence.Path) == "aliases" && slices.Contains([]string{"root", "postmaster", "/dev/null"}, s.Value)
}

// releaseFacts notes what the release file of a family says beside os-release.
func releaseFacts(m *assess.Machine) {
	for _, file := range []string{"etc/redhat-release", "etc/SuSE-release", "etc/alpine-release", "etc/debian_version"} {
		if line := assess.FirstLine(m.Peek(file)); line != "" {
			m.Fact("release", path.Base(file), line, assess.Evidence{Path: "/" + file, Line: 1})
		}
	}
}

// sudoRules notes what sudo lets people do, and where a password is not asked.
func sudoRules(m *assess.Machine) {
	names, _ := m.Files("etc/sudoers.d") // noted with the accounts
	for _, file := range append([]string{"etc/sudoers"}, sliced.Map(names, func(name string) string { return path.Join("etc/sudoers.d", name) })...) {
		if !m.IsLocal("/"+file) && !m.ChangedConffile("/"+file) {
			continue
		}
		for s := range assess.ParseSettings("/"+file, m.Peek(file), "") {
			if strings.Contains(s.Value, "ALL") || strings.Contains(s.Value, "=") && s.Key != "Defaults" {
				m.Fact("sudo", s.Key, strings.Join(strings.Fields(s.Value), " "), s.Evidence)
			}
		}
	}
}

// logrotate notes the rules for logs that no package made: the logs, and what
// is done to them.
func logrotate(m *assess.Machine) {
	m.EachFile("logrotate.logrotate.d", "etc/logrotate.d", "", func(file string) {
		if !m.IsLocal("/"+file) && !m.ChangedConffile("/"+file) {
			return
		}
		text, _ := m.Text("logrotate."+path.Base(file), file)
		for _, s := range parseLogrotate("/"+file, text) {
			m.Fact("logrotate", s.Key, s.Value, s.Evidence)
		}
	})
}

// parseLogrotate reads blocks of logs and directives; scripts are left out.
func parseLogrotate(file, text string) (rules []assess.Setting) {
	script := false
	var logs []string
	for n, line := range assess.NumberedLines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0][0] == '#':
		case script:
			script = f[0] != "endscript"
		case slices.Contains(logScripts, f[0]):
			script = true
		case strings.HasSuffix(line, "{"):
			logs = append(logs, strings.TrimSpace(strings.TrimSuffix(line, "{")))
			rules = append(rules, assess.Setting{Key: strings.TrimSpace(strings.Join(logs, " ")), Value: "", Evidence: assess.Evidence{Path: file, Line: n}})
			logs = nil
		case line == "}":
		case line[0] == '/' || line[0] == '"':
			logs = append(logs, line)
		case len(rules) > 0:
			last := &rules[len(rules)-1]
			last.Value = strings.TrimPrefix(last.Value+", "+strings.Join(f, " "), ", ")
		}
	}
	return rules
}

var logScripts = []string{"postrotate", "prerotate", "firstaction", "lastaction", "preremove"}

// pamModule is a line of PAM's: type, control, module.
var pamModule = lazyregexp.New(`^-?(?:auth|account|password|session)\s+(?:\[[^\]]*\]|\S+)\s+(\S+\.so)`)

// pam notes the modules that say how people of this machine prove who they
// are, beside those of every system.
func pam(m *assess.Machine) {
	seen := map[string]bool{}
	m.EachFile("directory.pam", "etc/pam.d", "", func(file string) {
		for n, line := range assess.NumberedLines(m.Peek(file)) {
			f := pamModule.FindStringSubmatch(line)
			if f == nil {
				continue
			}
			if module := path.Base(f[1]); !slices.Contains(etc()["usual-pam"], module) && !seen[module] {
				seen[module] = true
				m.Fact("pam", module, strings.Join(strings.Fields(line), " "), assess.Evidence{Path: "/" + file, Line: n})
			}
		}
	})
}
