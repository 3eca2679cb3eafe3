package hazards

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// unreadRow is the hazard of programs that were not looked at: nothing is said of them.
func unreadRow() *Row {
	row := &Row{
		Key: "hazard.code-unread", Towards: Towards{anywhere: true}, Severity: "low", Title: "Not all of people's own programs were read",
		Text: fmt.Sprintf("They are more than are read: %d files, %d MiB, or %d folders. Nothing is said of what the others use that the target's languages and libraries have no more.", maxCode, maxCodeBytes>>20, maxCodeFolders),
		Do:   "Try the others on the target before the move.", Origin: "the bounds of the search for programs",
	}
	row.When = Condition{text: "code that was not read", root: &question{ask: func(m *Machine, _ *question, found *Match) {
		if m.code(""); m.unread != "" {
			found.file(m.unread, 0)
		}
	}}}
	var many []part
	for n := range maxCode + 1 {
		many = append(many, part{partFile, fmt.Sprintf("/opt/a/%d.py", n), "x = 1\n"})
	}
	row.Shows, row.Quiet = Example{many}, Example{many[:maxCode]}
	return row
}

// unreadScripts is the hazard of scripts in PHP that were not looked at, for those are found
// by patterns, each of which finds so many.
func unreadScripts() *Row {
	row := &Row{
		Key: "hazard.php.code-unread", Severity: "low", Title: "Not all of people's own scripts in PHP were read",
		Towards: Towards{any: []bound{{"php", ">=", "7.0"}, {"php", ">=", "7.2"}, {"php", ">=", "8.0"}, {"php", ">=", "8.1"}}},
		Text:    fmt.Sprintf("They are more than are read, %d of each depth, or stand deeper than is looked. Nothing is said of what the others use that the target's PHP refuses.", maxGlob),
		Do:      "Try the others on the target before the move.", Origin: "the bounds of the search for scripts",
	}
	row.When = Condition{text: "scripts in PHP that were not read", root: &question{ask: func(m *Machine, _ *question, found *Match) {
		for _, pattern := range patterns(scripts) {
			m.glob(pattern)
			if at := m.cut[pattern]; at != "" {
				found.file(at, 0)
			}
			if at := m.deeper(pattern); at != "" {
				found.file(at, 0)
			}
		}
	}}}
	var many []part
	for n := range maxGlob + 1 {
		many = append(many, part{partFile, fmt.Sprintf("/var/www/a/%d.php", n), "<?php\n"})
	}
	row.Shows, row.Quiet = Example{many}, Example{many[:maxGlob]}
	return row
}

// deeper is a script one folder below those of a pattern, where no other pattern looks.
func (m *Machine) deeper(pattern string) string {
	folder, file := path.Split(pattern)
	below := folder + "*/" + file
	if !strings.Contains(file, ".") || slices.Contains(patterns(scripts), below) {
		return ""
	}
	for _, name := range m.glob(below) {
		if !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(others, part) }) {
			return name
		}
	}
	return ""
}
