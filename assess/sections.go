package assess

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"svc/assess/conf"
)

// EachAssigned notes those of a file's variables that have a value.
func (m *Machine) EachAssigned(area, file string, names ...string) {
	values := ParseAssignments(m.Peek(file))
	for _, name := range names {
		if values[name] != "" {
			m.Fact(area, name, values[name], Evidence{"/" + file, 0})
		}
	}
}

// EachFile reads the files of a folder that end in ext.
func (m *Machine) EachFile(what, dir, ext string, read func(file string)) {
	names, err := m.Files(dir)
	m.Outcome(what, dir, err)
	for _, name := range names {
		if strings.HasSuffix(name, ext) && !strings.HasPrefix(name, ".") && !Leftover(name) {
			read(path.Join(dir, name))
		}
	}
}

// EachOf reads the files of several folders that end in ext: of two of one
// name, that of the first folder counts.
func (m *Machine) EachOf(what string, dirs []string, ext string, read func(file string)) {
	seen := map[string]bool{}
	for i, dir := range dirs {
		names, err := m.Files(dir)
		if i == 0 || !errors.Is(err, fs.ErrNotExist) {
			m.Outcome(what, dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, ext) && !seen[name] {
				seen[name] = true
				read(path.Join(dir, name))
			}
		}
	}
}

// FieldsOf splits a list whatever stands between its members.
func FieldsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
}

// Section is a part of a file in the form of INI.
type Section struct {
	Name   string              // in lower case
	Values map[string][]string // by keys in lower case; a key may come more than once
}

// Get is the first value of the first of the keys that has one.
func (s Section) Get(keys ...string) string {
	for _, key := range keys {
		if v := First(s.Values[key]); v != "" {
			return v
		}
	}
	return ""
}

// IniSections reads "key=value" lines below [section] headings.
func IniSections(text string) (sections []Section) {
	for line := range conf.INI(text) {
		switch {
		case line.Heading:
			sections = append(sections, Section{strings.ToLower(line.Section), map[string][]string{}})
			continue
		case !line.Set:
			continue
		case sections == nil:
			sections = []Section{{"", map[string][]string{}}}
		}
		values, key := sections[len(sections)-1].Values, strings.ToLower(strings.TrimSpace(line.Key))
		values[key] = append(values[key], line.Value)
	}
	return sections
}

// IniValues are the values of all sections, as section.key.
func IniValues(text string) map[string][]string {
	values := map[string][]string{}
	for _, s := range IniSections(text) {
		for key, v := range s.Values {
			values[s.Name+"."+key] = append(values[s.Name+"."+key], v...)
		}
	}
	return values
}

// First is the first value of a key, or "".
func First(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
