// Package scripts reads the maintainer scripts that dpkg keeps, as text: what one of
// them names, its package may have made. Nothing of them is run. rpm keeps
// its scripts in its database: package rpm reads them.
package scripts

import (
	"bytes"
	"context"
	"path"
	"strings"

	"svc/assess/host"
	"svc/backend/sliced"
)

// Dir is where dpkg keeps its scripts.
const Dir = "var/lib/dpkg/info"

// Bounds of what is read, in bytes.
const (
	maxFile = 1 << 20
	maxAll  = 64 << 20
)

// Each gives the text of each script to a function, until the bounds are reached or
// the context ends. What can't be read names nothing.
func Each(ctx context.Context, fs host.FS, files []string, take func(script string, text []byte)) {
	host.Expect(fs, host.Files, files)
	left := int64(maxAll)
	for _, file := range files {
		if ctx.Err() != nil || left < 0 {
			return
		}
		text, err := host.ReadFile(fs, file, maxFile)
		if err != nil {
			continue
		}
		left -= int64(len(text))
		take("/"+file, text)
	}
}

// Wanted is what is looked for in scripts.
type Wanted struct {
	files []string
	names map[string]bool // that are no files
	words map[string]bool // all of these, and the folders of files
	bases map[string]bool // names of files within their folders
}

// Looking is for files, by their paths, and for names of other things.
func Looking(files, names []string) Wanted {
	w := Wanted{files, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, file := range files {
		w.words[file], w.words[path.Dir(file)], w.bases[path.Base(file)] = true, true, true
	}
	for _, name := range names {
		w.names[name], w.words[name] = true, true
	}
	return w
}

// In lists what of it a script names: a file by its path, or by its folder and its
// name apart, as in: cp $TEMPLATES/after.init $RULES/after.init.
func (w Wanted) In(text []byte) (named []string) {
	said, bases := map[string]bool{}, map[string]bool{}
	for word := range bytes.FieldsFuncSeq(text, Separates) {
		word = bytes.TrimRight(word, "/.:*")
		if w.words[string(word)] {
			said[string(word)] = true
		}
		for _, base := range [][]byte{word[bytes.LastIndexByte(word, '/')+1:], word[bytes.LastIndexByte(word, ':')+1:]} { // from:to, as helpers write pairs
			if w.bases[string(base)] {
				bases[string(base)] = true
			}
		}
	}
	for word := range said {
		if w.names[word] {
			named = append(named, word)
		}
	}
	return append(named, sliced.Filter(w.files, func(file string) bool { return said[file] || said[path.Dir(file)] && bases[path.Base(file)] })...)
}

// Separates reports whether a character of a shell script ends a word.
func Separates(c rune) bool {
	return c <= ' ' || strings.ContainsRune("\"'`;,|&()<>{}[]=$\\", c)
}

// PackageOf is the package of a script.
func PackageOf(script string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(path.Base(script), path.Ext(script)), ":")
	return name
}
