// Package packages reads what package managers know of a machine: what is installed,
// what belongs to whom, what was shipped, and from where it came.
package packages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/packages/repositories"
	"svc/backend/sliced"
)

// manager is a package manager.
type manager struct {
	Name     string   // its source is packages.NAME
	Database []string // where its database is; a machine has one of these
	// read lists the packages and what belongs to whom. What stands before a
	// fault is kept.
	read func(*assess.Machine) error
	// origins lists the repositories.
	origins func(*assess.Machine)
}

// Managers are those whose databases svc reads.
var Managers = []manager{
	{"dpkg", []string{"var/lib/dpkg/status"}, readDpkg, repositories.AptOrigins},
	{"rpm", rpmDatabases, readRPM, repositories.RPMOrigins},
	{"apk", apkDatabases, readAPK, repositories.APKOrigins},
}

// ReadPackages reads the database of the machine's own package manager.
func ReadPackages(m *assess.Machine) {
	own := OwnManager(m)
	m.Book = assess.Book{Source: "packages." + own.Name, Database: "/" + own.Database[0], Conffiles: map[string]assess.Conffile{}, Owned: map[string]string{}, Named: map[string]bool{}, Needed: map[string]bool{}}
	err := own.read(m)
	m.Outcome(m.Book.Source, m.Book.Database[1:], err)
	if m.Book.Full() {
		m.Source(m.Book.Source, assess.SourceCorrupt, fmt.Sprintf("%s has more than any real one: only %d packages were taken", m.Book.Database, len(m.A.Packages)))
	}
	m.A.System.Architecture = architecture(m)
}

// ReadOrigins reads the repositories that the machine is set up to use.
func ReadOrigins(m *assess.Machine) { OwnManager(m).origins(m) }

// OwnManager is the manager that the machine's system comes with; where nothing
// says which, one whose database is there.
func OwnManager(m *assess.Machine) manager {
	name := m.Family().Conventions().Database
	i := slices.IndexFunc(Managers, func(o manager) bool { return o.Name == name || name == "" && DatabaseOf(m, o) != "" })
	return Managers[max(i, 0)]
}

// OtherManagers are those beside the system's own that have a database.
func OtherManagers(m *assess.Machine) (all []assess.OtherManager) {
	own := OwnManager(m)
	for _, o := range Managers {
		file := DatabaseOf(m, o)
		if o.Name == own.Name || file == "" {
			continue
		}
		if info, err := m.FS.Stat(file); err == nil && info.Size() > 0 {
			all = append(all, assess.OtherManager{Name: o.Name, Own: own.Name, Database: file})
		}
	}
	return all
}

// DatabaseOf is where a manager's database is, or "".
func DatabaseOf(m *assess.Machine, o manager) string {
	return sliced.First(o.Database, m.Exists)
}

// architecture is that of most packages, where dpkg's own note is missing.
func architecture(m *assess.Machine) string {
	if m.Book.Arch != "" {
		return m.Book.Arch
	}
	count, best := map[string]int{}, ""
	for _, p := range m.A.Packages {
		if !AnyArch(p.Arch) {
			count[p.Arch]++
		}
	}
	for arch, n := range count {
		if n > count[best] || n == count[best] && arch < best {
			best = arch
		}
	}
	return best
}

// AnyArch reports whether packages of the architecture run on all.
func AnyArch(arch string) bool { return arch == "all" || arch == "noarch" || arch == "" }

// FromOutside reports whether a package says, or its silence lets expect, that
// it is not the distribution's.
func FromOutside(m *assess.Reading, p assess.Package) bool {
	if own := m.Family().Conventions().Vendor; own != nil {
		return !own.MatchString(p.Origin)
	}
	return m.Book.Source == "packages.dpkg" && debFromOutside(m, p)
}

// openLogged opens a file of SQLite and the write-ahead log beside it; the log
// is nil where there is none.
func openLogged(m *assess.Machine, name string) (l logged, err error) {
	if l.file, l.size, l.closers[0], err = openAt(m, name); err != nil {
		return l, err
	}
	if l.log, l.logSize, l.closers[1], err = openAt(m, name+"-wal"); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if head, _ := m.Head(name+"-journal", int64(len(hotJournal))); err == nil && string(head) == hotJournal {
		err = fmt.Errorf("/%s-journal: a change was cut short, and what undoes it was not applied", name)
	}
	if err != nil {
		l.Close()
	}
	return l, err
}

// hotJournal begins the journal of a change that was not finished.
const hotJournal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// logged is an open file and its log.
type logged struct {
	file, log     io.ReaderAt
	size, logSize int64
	closers       [2]io.Closer
}

// Close closes both. They were only read: there is nothing to lose.
func (l logged) Close() {
	for _, c := range l.closers {
		if c != nil {
			c.Close()
		}
	}
}

// maxCopied bounds a file that is copied to memory, because it can't be read at
// a place.
const maxCopied = 256 << 20

// openAt opens a file to be read at places: through itself where it can do
// that, else from a copy in memory.
func openAt(m *assess.Machine, name string) (at io.ReaderAt, size int64, closer io.Closer, err error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, nil, errors.Join(err, f.Close())
	}
	if at, ok := f.(io.ReaderAt); ok {
		if _, err := at.ReadAt(make([]byte, 1), 0); !errors.Is(err, errors.ErrUnsupported) {
			return at, info.Size(), f, nil
		}
	}
	if info.Size() > maxCopied {
		return nil, 0, nil, errors.Join(&fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: over %d bytes", host.ErrTooBig, maxCopied)}, f.Close())
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, 0, nil, errors.Join(err, f.Close())
	}
	return bytes.NewReader(b), info.Size(), f, nil
}
