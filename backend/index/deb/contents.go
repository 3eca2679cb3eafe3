package deb

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
)

// maxLine bounds one line, in bytes.
const maxLine = 4 << 20

// File is a path of a Contents file that the index keeps, absolute and below
// /usr where the systems merged it, and a package that ships it.
type File struct{ Path, Package string }

// perlFolder is below what modules of Perl are kept, those with compiled parts too.
const perlFolder = "/usr/share/perl5/"

// PerlModule is the module of Perl that a file is, with dashes between its parts.
func (f File) PerlModule() (module string, ok bool) {
	path, ok := strings.CutPrefix(f.Path, perlFolder)
	module, isModule := strings.CutSuffix(path, ".pm")
	return strings.ReplaceAll(module, "/", "-"), ok && isModule
}

// kept maps the beginnings of paths that configure a system to the form in
// which the index keeps them.
var kept = []struct{ archive, system string }{
	{"etc/", "/etc/"},
	{"lib/systemd/system/", "/usr/lib/systemd/system/"},
	{"usr/lib/systemd/system/", "/usr/lib/systemd/system/"},
	{"usr/lib/sysusers.d/", "/usr/lib/sysusers.d/"},
}

// Contents yields the configuration, units, sysusers and modules of Perl of a
// Contents file, once for each package that ships them. It ends with the first
// error.
func Contents(r io.Reader) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(make([]byte, 64<<10), maxLine)
		for line := 1; s.Scan(); line++ {
			path, ok := keptPath(s.Bytes())
			if !ok {
				path, ok = perlPath(s.Bytes())
			}
			if !ok {
				continue
			}
			name, packages, ok := cutLast(path)
			if !ok {
				yield(File{}, fmt.Errorf("line %d has no packages: %.60q", line, path))
				return
			}
			if strings.HasPrefix(name, perlFolder) && !strings.HasSuffix(name, ".pm") {
				continue
			}
			for pkg := range strings.SplitSeq(packages, ",") {
				if !yield(File{name, pkg[strings.LastIndexByte(pkg, '/')+1:]}, nil) {
					return
				}
			}
		}
		if err := s.Err(); err != nil {
			yield(File{}, fmt.Errorf("reading contents: %w", err))
		}
	}
}

func keptPath(line []byte) (string, bool) {
	if len(line) == 0 || (line[0] != 'e' && line[0] != 'l' && line[0] != 'u') {
		return "", false
	}
	for _, k := range kept {
		if bytes.HasPrefix(line, []byte(k.archive)) {
			return k.system + string(line[len(k.archive):]), true
		}
	}
	return "", false
}

// perlPath is a path of a module of Perl as if it had no compiled parts:
// usr/lib/x86_64-linux-gnu/perl5/5.40/DBI.pm is beside usr/share/perl5/CGI.pm.
func perlPath(line []byte) (string, bool) {
	if rest, ok := bytes.CutPrefix(line, []byte(perlFolder[1:])); ok {
		return perlFolder + string(rest), true
	}
	rest, ok := bytes.CutPrefix(line, []byte("usr/lib/"))
	if !ok {
		return "", false
	}
	_, rest, ok = bytes.Cut(rest, []byte("/perl5/"))
	if !ok {
		return "", false
	}
	_, rest, ok = bytes.Cut(rest, []byte("/")) // Perl's version
	return perlFolder + string(rest), ok
}

// KeptPath is a path that configures a system, without the leading slash, in
// the form in which the index keeps it.
func KeptPath(path string) (string, bool) { return keptPath([]byte(path)) }

// cutLast parts a line at its last run of blanks: paths may hold blanks.
func cutLast(line string) (path, packages string, ok bool) {
	line = strings.TrimRight(line, " \t")
	i := strings.LastIndexAny(line, " \t")
	if i < 0 {
		return "", "", false
	}
	path, packages = strings.TrimRight(line[:i], " \t"), line[i+1:]
	return path, packages, !strings.HasSuffix(path, "/")
}
