package rpm

import (
	"iter"
	"strings"
)

// Spellings are other names by which a distribution may have an rpm of a name: they differ
// in capitals and dashes, in the "lib" and the version of headers, and in what modules of
// Python have before their own names. The name is given in small letters too.
func Spellings(name, lower string) iter.Seq[string] {
	return func(yield func(string) bool) {
		_ = (lower == name || yield(lower)) &&
			(strings.IndexByte(lower, '_') < 0 || yield(strings.ReplaceAll(lower, "_", "-"))) &&
			ofModule(lower, yield) && ofHeaders(name, yield)
	}
}

// ofModule yields the names of a module of Python.
func ofModule(name string, yield func(string) bool) bool {
	module, ok := strings.CutPrefix(name, "python3-")
	if !ok || module == "" {
		return true
	}
	bare, python := strings.CutPrefix(module, "python-")
	shorter, py := strings.CutPrefix(bare, "py")
	return yield("python3-"+strings.ToUpper(module[:1])+module[1:]) &&
		(strings.IndexByte(module, '-') < 0 || yield("python3-"+strings.ReplaceAll(module, "-", "_"))) &&
		(python && yield("python3-"+bare) || !python && yield("python3-python-"+bare)) &&
		yield("python3-py"+bare) && (!py || yield("python3-"+shorter)) && yield(module)
}

// ofHeaders yields the names of headers of a library.
func ofHeaders(name string, yield func(string) bool) bool {
	software, ok := strings.CutSuffix(name, "-devel")
	if !ok {
		return true
	}
	bare, lib := strings.CutPrefix(software, "lib")
	unnumbered := strings.TrimRight(bare, "0123456789.")
	return (lib && yield(bare+"-devel") || !lib && yield("lib"+bare+"-devel")) &&
		(strings.IndexByte(software, '-') < 0 || yield(strings.ReplaceAll(software, "-", "_")+"-devel")) &&
		(unnumbered == bare || yield(unnumbered+"-devel") && yield("lib"+unnumbered+"-devel"))
}
