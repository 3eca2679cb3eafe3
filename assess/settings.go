package assess

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/backend/sliced"
)

func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// ParseSettings reads "key SEP value" lines; an empty separator is any space.
func ParseSettings(file, text, sep string) iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for n, line := range NumberedLines(text) {
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			key, value := CutSetting(line, sep)
			if key != "" && !yield(Setting{strings.TrimPrefix(key, "-"), value, Evidence{file, n}}) {
				return
			}
		}
	}
}

// HasSettings reports whether a file of such lines has one that counts.
func HasSettings(text string) bool {
	for range ParseSettings("", text, "") {
		return true
	}
	return false
}

func CutSetting(line, sep string) (key, value string) {
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

// MaxIncludes bounds how deep a configuration may include others.
const MaxIncludes = 4

// maxFound bounds what a pattern of the machine's may find.
const maxFound = 4096

// Glob finds files by absolute paths whose elements may be patterns.
func (m *Machine) Glob(patterns ...string) []string { return sliced.FlatMap(patterns, m.glob) }

func (m *Machine) glob(pattern string) []string {
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
	return slices.DeleteFunc(found, func(file string) bool { return !isPattern(path.Base(pattern)) && !m.Exists(file[1:]) })
}

func isPattern(part string) bool { return strings.ContainsAny(part, "*?[") }

// matching are the paths of a folder's entries that match one element.
func (m *Machine) matching(dir, part string) (files []string) {
	if !isPattern(part) {
		return []string{path.Join(dir, part)}
	}
	name := cmp.Or(dir[1:], ".")
	names, err := m.Files(name)
	m.Unreadable("configuration.included", name, err) // to include nothing is fine with every server that has it
	for _, name := range names {
		if ok, err := path.Match(part, name); ok && err == nil {
			files = append(files, path.Join(dir, name))
		}
	}
	return files
}
