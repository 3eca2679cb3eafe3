package packages

import (
	"bufio"
	"cmp"
	"crypto"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"svc/assess"
)

// apkDatabases are where apk keeps its database.
var apkDatabases = []string{"lib/apk/db/installed", "usr/lib/apk/db/installed"}

// readAPK reads apk's database of installed packages.
func readAPK(m *assess.Machine) error {
	world := apkWorld(m)
	name := apkDatabases[0]
	if m.Exists(apkDatabases[1]) && !m.Exists(name) {
		name = apkDatabases[1]
	}
	m.Book.Database = "/" + name
	m.Book.Arch = assess.FirstLine(m.Peek("etc/apk/arch"))
	f, err := m.FS.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	end := &lastByte{r: io.LimitReader(f, maxStatus)}
	r := &apkReader{m: m, world: world}
	lines := bufio.NewScanner(end)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() && r.err == nil {
		r.n++
		r.line(lines.Text())
	}
	switch err := errors.Join(lines.Err(), r.err); {
	case err != nil:
		return fmt.Errorf("/%s, at line %d, after %d packages: %w", name, r.n, len(m.A.Packages), err)
	case r.pkg.Name != "" || r.n > 0 && end.last != '\n':
		return fmt.Errorf("/%s ends in the middle of a package, after %d of them", name, len(m.A.Packages))
	case len(m.A.Packages) == 0:
		return fmt.Errorf("/%s has no packages", name)
	}
	return nil
}

// apkWorld reads which packages were asked for; the value says whether a
// version was asked for too, so that apk does not move the package past it.
func apkWorld(m *assess.Machine) map[string]bool {
	text, _ := m.Text("packages.apk-world", "etc/apk/world")
	world := map[string]bool{}
	for _, entry := range strings.Fields(text) {
		entry, _, _ = strings.Cut(entry, "@")
		name, version := entry, ""
		if i := strings.IndexAny(entry, "=<>~"); i >= 0 {
			name, version = entry[:i], entry[i:]
		}
		if !strings.HasPrefix(name, "!") {
			world[name] = strings.ContainsAny(version, "=<~")
		}
	}
	return world
}

// apkReader reads the database line by line: a letter, a colon, a value. An
// empty line ends a package.
type apkReader struct {
	m     *assess.Machine
	world map[string]bool
	pkg   assess.Package
	dir   string // of the files that follow
	file  string // of the checksum that follows
	n     int
	err   error
}

// line takes one line.
func (r *apkReader) line(line string) {
	if line == "" {
		r.end()
		return
	}
	key, value, ok := strings.Cut(line, ":")
	if !ok || len(key) != 1 {
		r.err = errors.New("not a letter, a colon and a value: the file is cut off or damaged")
		return
	}
	switch key {
	case "P":
		r.pkg.Name = value
	case "V":
		r.pkg.Version = value
	case "A":
		r.pkg.Arch = value
	case "o":
		r.pkg.Source = value
	case "m":
		r.pkg.Maintainer = value
	case "F":
		r.dir = "/" + value
		r.own(r.dir)
	case "R":
		r.own(r.dir + "/" + value)
	case "Z":
		r.checksum(value)
	}
}

// own notes whose a file is, where that matters.
func (r *apkReader) own(file string) {
	r.file = ""
	r.m.Programs.Own([]byte(file), r.pkg.Name)
	if !inListed([]byte(r.dir+"/")) || !fs.ValidPath(file[1:]) {
		return
	}
	r.file = file
	r.m.Book.Own(file, r.pkg.Name)
}

// apkHashes are the digests that a checksum may be, by its first two letters.
var apkHashes = map[string]crypto.Hash{"Q1": crypto.SHA1, "Q2": crypto.SHA256}

// checksum notes how a file of /etc was shipped: apk keeps those that were
// changed when it updates their package.
func (r *apkReader) checksum(value string) {
	if len(value) < 2 || !strings.HasPrefix(r.file, "/etc/") {
		return
	}
	hash := apkHashes[value[:2]]
	digest, err := base64.StdEncoding.DecodeString(value[2:])
	if hash == 0 || err != nil || len(digest) != hash.Size() {
		r.err = fmt.Errorf("%s: a checksum of another form", path.Base(r.file))
		return
	}
	r.m.Book.Ship(r.file, assess.Conffile{Package: r.pkg.Name, Hash: hash, Digests: []string{hex.EncodeToString(digest)}})
}

// end takes the package that was read.
func (r *apkReader) end() {
	p := r.pkg
	r.pkg, r.dir, r.file = assess.Package{}, "", ""
	switch {
	case p.Name == "":
		return // of two empty lines, one ends nothing
	case p.Version == "":
		r.err = fmt.Errorf("%s has no version: the file is damaged", p.Name)
		return
	}
	p.Source = cmp.Or(p.Source, p.Name)
	p.SourceVersion = p.Version
	p.Held, p.Manual = r.world[p.Name], false
	_, p.Manual = r.world[p.Name]
	r.m.Install(p)
}
