package packages

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/deb822"
	"svc/backend/lazyregexp"
)

// Limits of dpkg's files, in bytes: some twenty times those of a desktop with
// everything installed.
const (
	maxStatus = 128 << 20
	maxStates = 16 << 20
	MaxList   = 32 << 20
)

// readDpkg reads dpkg's status file, what apt adds to it, and the lists of files.
func readDpkg(m *assess.Machine) error {
	auto, err := automatic(m)
	m.Outcome("packages.apt-extended-states", "var/lib/apt/extended_states", err)
	err = readStatus(m, auto)
	for i := range m.A.Packages {
		m.A.Packages[i].Needed = m.Book.Needed[m.A.Packages[i].Name]
	}
	readUCF(m)
	readLists(m, err == nil)
	NativeArch(m)
	return err
}

// readStatus reads dpkg's status file; what stands before a fault is kept.
func readStatus(m *assess.Machine, auto map[string]bool) error {
	f, err := m.FS.Open("var/lib/dpkg/status")
	if err != nil {
		return err
	}
	defer f.Close()
	end := &lastByte{r: io.LimitReader(f, maxStatus)}
	r := deb822.NewReader(end)
	recommended := &recommendations{there: map[string]bool{}}
	defer recommended.take(m)
	for n := 0; ; n++ {
		p, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return errors.New("/var/lib/dpkg/status is empty")
		case errors.Is(err, io.EOF) && end.last != '\n':
			return fmt.Errorf("/var/lib/dpkg/status ends in the middle of a line, after %d packages", n)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("/var/lib/dpkg/status, after %d packages: %w", n, err)
		}
		if err := addPackage(m, p, auto, recommended); err != nil {
			return fmt.Errorf("/var/lib/dpkg/status, after %d packages: %w", n, err)
		}
	}
}

// lastByte remembers the last byte that was read.
type lastByte struct {
	r    io.Reader
	last byte
}

func (l *lastByte) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 {
		l.last = p[n-1]
	}
	return n, err
}

// addPackage takes one paragraph of the status file. Of a package that was
// removed but not purged, only the configuration is left: it is not installed.
func addPackage(m *assess.Machine, p deb822.Paragraph, auto map[string]bool, recommended *recommendations) error {
	name, status := p.Get("Package"), strings.Fields(p.Get("Status"))
	if name == "" || len(status) != 3 {
		return fmt.Errorf("the paragraph at line %d has no package or no status: the file is cut off or damaged", p.Line)
	}
	pkg := newPackage(name, p)
	if m.Book.Keep(len(name)) {
		m.Book.Named[name] = true
	}
	if status[2] == "installed" && pkg.Version == "" {
		return fmt.Errorf("%s, at line %d, is installed without a version: the file is cut off or damaged", name, p.Line)
	}
	pkg.Held = status[0] == "hold"
	// As apt has it: what it does not remember as pulled in was chosen.
	pkg.Manual = !auto[name+":"+pkg.Arch] && !auto[name+":"]
	switch status[2] {
	case "installed", "triggers-pending", "triggers-awaited":
		m.Install(pkg)
	case "half-installed", "unpacked", "half-configured":
		m.Install(pkg)
		m.Book.Unsettled = append(m.Book.Unsettled, pkg)
	default:
		return nil
	}
	addDepends(m, p.Get("Pre-Depends"))
	addDepends(m, p.Get("Depends"))
	addBounds(m, name, p.Get("Pre-Depends"))
	addBounds(m, name, p.Get("Depends"))
	recommended.add(m, pkg, p)
	addConffiles(m, name, p.Bytes("Conffiles"))
	return nil
}

// addDepends takes what a package depends on.
func addDepends(m *assess.Machine, depends string) {
	for of := range relations(depends) {
		if !m.Book.Needed[of] && m.Book.Keep(len(of)) {
			m.Book.Needed[strings.Clone(of)] = true
		}
	}
}

// relations are the names in a field of relations: "a (>= 1), b:any | c".
func relations(field string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for of := range strings.FieldsFuncSeq(field, func(r rune) bool { return r == ',' || r == '|' }) {
			of = strings.TrimSpace(of)
			if i := strings.IndexAny(of, " (:"); i >= 0 {
				of = of[:i]
			}
			if !yield(of) {
				return
			}
		}
	}
}

func newPackage(name string, p deb822.Paragraph) assess.Package {
	pkg := assess.Package{
		Name: name, Version: p.Get("Version"), Arch: p.Get("Architecture"), Section: p.Get("Section"),
		Essential: p.Get("Essential") == "yes", Origin: p.Get("Origin"), Maintainer: p.Get("Maintainer"),
	}
	priority := p.Get("Priority")
	pkg.Base = priority == "required" || priority == "important"
	pkg.Source, pkg.SourceVersion = name, pkg.Version
	if source := p.Get("Source"); source != "" {
		var version string
		pkg.Source, version, _ = strings.Cut(source, " ")
		if version != "" {
			pkg.SourceVersion = strings.Trim(version, "()")
		}
	}
	return pkg
}

// addConffiles takes the lines "path digest [obsolete]"; a path may have spaces.
func addConffiles(m *assess.Machine, pkg string, lines []byte) {
	for line := range bytes.Lines(lines) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		f := assess.Conffile{Package: pkg, Hash: crypto.MD5}
		rest := strings.TrimSpace(string(line))
		rest = strings.TrimSuffix(rest, " remove-on-upgrade")
		rest, f.Obsolete = strings.CutSuffix(rest, " obsolete")
		i := strings.LastIndexByte(rest, ' ')
		if i < 0 || !strings.HasPrefix(rest, "/") || !fs.ValidPath(rest[1:i]) {
			continue // dpkg writes no such line; a hostile one names no file of ours
		}
		if rest[i+1:] == "newconffile" {
			continue // dpkg has no digest of it yet: it gave the file up, or another package has it
		}
		f.Digests = []string{rest[i+1:]}
		m.Book.Ship(rest[:i], f)
	}
}

// automatic reads which packages apt installed as dependencies, as
// "name:architecture".
func automatic(m *assess.Machine) (map[string]bool, error) {
	f, err := m.FS.Open("var/lib/apt/extended_states")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	auto := map[string]bool{}
	for r := deb822.NewReader(io.LimitReader(f, maxStates)); ; {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return auto, nil
		}
		if err != nil {
			return auto, fmt.Errorf("/var/lib/apt/extended_states: %w", err)
		}
		if p.Get("Auto-Installed") == "1" {
			auto[p.Get("Package")+":"+p.Get("Architecture")] = true
			if p.Get("Architecture") == NativeArch(m) {
				auto[p.Get("Package")+":all"] = true // apt files those under the native architecture
			}
		}
	}
}

// NativeArch is the machine's own architecture: dpkg's first.
func NativeArch(m *assess.Machine) string {
	if m.Book.Arch == "" {
		m.Book.Arch = assess.FirstLine(m.Peek("var/lib/dpkg/arch"))
	}
	if m.Book.Arch == "" {
		m.Book.Arch = archOfDpkg(m)
	}
	return m.Book.Arch
}

// archOfDpkg looks at which libc's package lists there are: dpkg keeps no other
// note of the architecture on a machine that has only one.
func archOfDpkg(m *assess.Machine) string {
	names, _ := m.Files("var/lib/dpkg/info") // its state is noted where the lists are read
	for _, name := range names {
		if arch, ok := strings.CutPrefix(name, "libc6:"); ok && strings.HasSuffix(arch, ".list") {
			return strings.TrimSuffix(arch, ".list")
		}
	}
	return ""
}

// readUCF reads the digests of configuration files that ucf manages for
// packages: dpkg does not know those.
func readUCF(m *assess.Machine) {
	owners := map[string]string{}
	for line := range strings.Lines(m.Peek("var/lib/ucf/registry")) {
		if f := strings.Fields(line); len(f) == 2 {
			owners[f[1]] = f[0]
		}
	}
	passwords := databasePasswords(m)
	hashes, ok := m.Text("configuration.ucf", "var/lib/ucf/hashfile")
	if !ok {
		return
	}
	for line := range strings.Lines(hashes) {
		md5, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if _, known := m.Book.Conffiles[name]; ok && !known && strings.HasPrefix(name, "/") && fs.ValidPath(name[1:]) && !says(m, name, passwords) {
			m.Book.Ship(name, assess.Conffile{Package: owners[name], Hash: crypto.MD5, Digests: []string{md5}})
		}
	}
}

// databasePassword is what dbconfig-common made up for a package's account of a database.
var databasePassword = lazyregexp.New(`(?m)^dbc_dbpass='([^'\n]{4,})'`)

// databasePasswords are those by which packages reach their databases here: what ucf has of
// them is of this machine alone, however nobody changed it.
func databasePasswords(m *assess.Machine) (all []string) {
	names, _ := m.Files("etc/dbconfig-common") // there may be none
	for _, name := range names {
		if found := databasePassword.FindStringSubmatch(m.Peek(path.Join("etc/dbconfig-common", name))); found != nil {
			all = append(all, found[1])
		}
	}
	return all
}

// says reports whether a file has one of these words.
func says(m *assess.Machine, name string, words []string) bool {
	text := ""
	if len(words) > 0 {
		text = m.Peek(name[1:])
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// listed are the folders whose owners matter.
var listed = [][]byte{[]byte("\n/etc/"), []byte("\n/lib/systemd/system/"), []byte("\n/usr/lib/systemd/system/"), []byte("\n/var/")}

// readLists notes which package owns what below /etc and in the unit folders. A
// status file that looks whole is held against the lists.
func readLists(m *assess.Machine, whole bool) {
	names, failed := m.Files("var/lib/dpkg/info")
	if whole {
		missingFromStatus(m, names)
	}
	var mu sync.Mutex
	assess.InParallel(m.Context, names, func(name string) {
		pkg, ok := strings.CutSuffix(name, ".list")
		if !ok {
			return
		}
		pkg, _, _ = strings.Cut(pkg, ":")
		err := readList(m, path.Join("var/lib/dpkg/info", name), func(part []byte) {
			mu.Lock()
			defer mu.Unlock()
			eachListed(part, func(file string) { m.Book.Own(file, pkg) })
			m.Programs.OwnPrograms(part, pkg)
		})
		mu.Lock()
		defer mu.Unlock()
		if err != nil && (failed == nil || err.Error() < failed.Error()) {
			failed = err
		}
	})
	m.Outcome("packages.dpkg-lists", "var/lib/dpkg/info", failed)
}

// lists are buffers for parts of lists.
var lists = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// readList calls do with a list in parts of whole lines.
func readList(m *assess.Machine, name string, do func(part []byte)) error {
	f, err := m.FS.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := lists.Get().(*[]byte)
	defer lists.Put(buf)
	for rest, all := 0, 0; ; {
		n, err := io.ReadFull(f, (*buf)[rest:])
		part := (*buf)[:rest+n]
		switch all += n; {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			do(part)
			return nil
		case err != nil:
			return err
		}
		end := bytes.LastIndexByte(part, '\n')
		if end <= 0 || all > MaxList {
			return &fs.PathError{Op: "read", Path: name, Err: host.ErrTooBig}
		}
		do(part[:end])
		rest = copy(*buf, part[end:]) // from the end of the line on, so that the next begins as any does
	}
}

// missingFromStatus notes packages of which dpkg has the files' list but no
// entry: a status file that was cut off between two packages looks whole.
func missingFromStatus(m *assess.Machine, names []string) {
	var lost []string
	for _, name := range names {
		pkg, ok := strings.CutSuffix(name, ".list")
		if pkg, _, _ = strings.Cut(pkg, ":"); ok && !m.Book.Named[pkg] {
			lost = append(lost, pkg)
		}
	}
	if len(lost) > 0 {
		m.Source(m.Book.Source, assess.SourceCorrupt, fmt.Sprintf("/var/lib/dpkg/status lacks %s, whose files dpkg has lists of: it is cut off or damaged", assess.Some(lost)))
	}
}

// eachListed calls do with each path of a package's list that stands in one of
// the listed folders.
func eachListed(list []byte, do func(string)) {
	for _, prefix := range listed {
		if bytes.HasPrefix(list, prefix[1:]) {
			line, _, _ := bytes.Cut(list, []byte("\n"))
			do(string(line))
		}
		for rest := list; ; {
			i := bytes.Index(rest, prefix)
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			do(string(line))
		}
	}
}

// ownMaintainer tells packages of Debian and Ubuntu by who maintains them.
var ownMaintainer = lazyregexp.New(`(?i)@([a-z0-9.-]+\.)?(debian\.(org|net)|ubuntu\.com|canonical\.com)>|^(debian|ubuntu)`)

// debFromOutside tells a package of another origin, or, where there are other
// archives, of another maintainer.
func debFromOutside(m *assess.Reading, p assess.Package) bool {
	return p.Origin != "" && !ownMaintainer.MatchString(p.Origin) ||
		p.Maintainer != "" && !ownMaintainer.MatchString(p.Maintainer) && len(m.ThirdParty()) > 0
}
