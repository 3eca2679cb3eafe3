package record

import "strings"

// UnitFolder is where packages ship units of systemd.
const UnitFolder = "/usr/lib/systemd/system/"

// scriptFolder is where they ship scripts of which systemd makes units.
const scriptFolder = "/etc/init.d/"

// UnitOf is the unit that a file is, or that systemd makes of it.
func UnitOf(file string) (unit string, ok bool) {
	unit, ok = strings.CutPrefix(file, UnitFolder)
	if script, isScript := strings.CutPrefix(file, scriptFolder); isScript {
		unit, ok = script+".service", true
	}
	return unit, ok && strings.IndexByte(unit, '/') < 0
}

// FirstWord is that of a package's name: what comes apart of one software often has it.
func FirstWord(name string) string {
	word, _ := Cut(name, '-')
	return word
}
