package packages

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/packages/rpm"
)

// rpmDatabases are where rpm keeps its database, in each of its forms, the
// newest form first: an old one may be left beside it.
var rpmDatabases = []string{
	"var/lib/rpm/rpmdb.sqlite", "usr/lib/sysimage/rpm/rpmdb.sqlite", "usr/share/rpm/rpmdb.sqlite",
	"var/lib/rpm/Packages.db", "usr/lib/sysimage/rpm/Packages.db", "usr/share/rpm/Packages.db",
	"var/lib/rpm/Packages", "usr/lib/sysimage/rpm/Packages", "usr/share/rpm/Packages",
}

// readRPM reads rpm's database: the first that has packages. Tools that expect
// another form leave empty ones.
func readRPM(m *assess.Machine) error {
	r := &rpmReader{Machine: m, pulledIn: pulledIn(m), locks: readLocks(m)}
	failed := fmt.Errorf("no database of rpm: %w", fs.ErrNotExist)
	for _, name := range rpmDatabases {
		err := r.database(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		m.Book.Database = "/" + name
		if len(m.A.Packages) > 0 || err != nil {
			return err
		}
		failed = fmt.Errorf("/%s has no packages", name)
	}
	return failed
}

// rpmReader reads rpm's database; what other places say of packages is known by
// then.
type rpmReader struct {
	*assess.Machine
	pulledIn map[string]bool
	locks    *locks
}

// database reads one database file with what is beside it.
func (m *rpmReader) database(name string) error {
	db, err := openLogged(m.Machine, name)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.packages(m.addRPM); err != nil {
		return fmt.Errorf("/%s, of which %d packages were read: %w", name, len(m.A.Packages), err)
	}
	return nil
}

// addRPM takes one package.
func (m *rpmReader) addRPM(p *rpm.Package) error {
	pkg := assess.Package{
		Name: p.Name, Version: evr(p), Arch: p.Arch, Section: p.Group, Origin: p.Vendor, Maintainer: p.Packager,
		Module: stream(p.Module), InstalledAt: p.Installed, Held: m.locks.hold(p),
		Manual: !m.pulledIn[p.Name+"."+p.Arch] && !m.pulledIn[p.Name],
	}
	pkg.Source, pkg.SourceVersion = sourceOf(p)
	m.Install(pkg)
	return addRPMFiles(m.Machine, p)
}

// evr is a package's version as people write it.
func evr(p *rpm.Package) string {
	v := p.Version + "-" + p.Release
	if p.Epoch != 0 {
		v = strconv.Itoa(p.Epoch) + ":" + v
	}
	return v
}

// stream is a module's name and stream, of the label name:stream:version:context.
func stream(label string) string {
	name, rest, _ := strings.Cut(label, ":")
	stream, _, _ := strings.Cut(rest, ":")
	if stream == "" {
		return name
	}
	return name + ":" + stream
}

// sourceOf takes apart the name of a source package's file,
// name-version-release.src.rpm; it says no epoch.
func sourceOf(p *rpm.Package) (name, version string) {
	rest := strings.TrimSuffix(strings.TrimSuffix(p.SourceRPM, ".rpm"), ".src")
	rest = strings.TrimSuffix(rest, ".nosrc")
	i := strings.LastIndexByte(rest, '-')
	if j := strings.LastIndexByte(rest[:max(i, 0)], '-'); j > 0 {
		return rest[:j], rest[j+1:]
	}
	return p.Name, p.Version + "-" + p.Release
}

// addRPMFiles notes what the package owns in the listed folders, and how its
// files of /etc looked.
func addRPMFiles(m *assess.Machine, p *rpm.Package) error {
	configs := map[int]string{}
	in := func(dir []byte) bool { return inListed(dir) || m.Programs.Folders[string(dir)] }
	err := p.Paths(in, func(i int, file string) {
		if !fs.ValidPath(strings.TrimPrefix(file, "/")) {
			return
		}
		if m.Programs.Own([]byte(file), p.Name) {
			configs[i] = m.Programs.Real(file)
		}
		if !inListed([]byte(file)) {
			return
		}
		file = realPath(m, file)
		m.Book.Own(file, p.Name)
		if strings.HasPrefix(file, "/etc/") {
			configs[i] = file
		}
	})
	if err != nil || len(configs) == 0 {
		return err
	}
	files, err := p.Files(configs)
	for _, f := range files {
		if strings.HasPrefix(f.Path, "/etc/") {
			addRPMFile(m, p.Name, f)
		} else {
			if f.Rights == "" && slices.ContainsFunc(p.Scripts(), func(text string) bool { return strings.Contains(text, "setcap") && strings.Contains(text, f.Path) }) {
				f.Rights = "setcap" // a scriptlet gives it them
			}
			m.Programs.Shipped[f.Path] = f
		}
	}
	return err
}

// addRPMFile notes how a file of /etc looked when its package was installed. As
// `rpm -V` does, it leaves out what the package says not to compare: but of a
// configuration file everybody wants to know. A ghost is named by the package,
// and made on the machine.
func addRPMFile(m *assess.Machine, pkg string, f rpm.File) {
	config, old := f.Flags&rpm.Config != 0, m.Book.Conffiles[f.Path]
	switch {
	case f.Absent || f.Shared:
		return
	case f.Flags&rpm.Ghost != 0:
		if config {
			delete(m.Book.Owned, f.Path)
		}
		return
	case f.Link != "" && (config || f.Verify&rpm.VerifyLink != 0), f.Digest != "" && (config || f.Verify&rpm.VerifyDigest != 0):
	default:
		return
	}
	c := assess.Conffile{Package: m.Book.Owned[f.Path], Hash: f.Hash, Digests: old.Digests, Link: f.Link, Obsolete: f.Flags&rpm.MissingOK != 0 || !config}
	if f.Digest != "" && !slices.Contains(c.Digests, f.Digest) {
		c.Digests = append(c.Digests, f.Digest)
	}
	c.Package, c.Access = cmp.Or(c.Package, pkg), accessOf(f)
	m.Book.Ship(f.Path, c)
}

// accessOf is a file's owner and mode as far as they are to be compared.
func accessOf(f rpm.File) (a assess.Access) {
	if f.Verify&rpm.VerifyMode != 0 {
		a.Mode = uint32(f.Mode) & 0o7777
	}
	if f.Verify&rpm.VerifyUser != 0 {
		a.User = f.User
	}
	if f.Verify&rpm.VerifyGroup != 0 {
		a.Group = f.Group
	}
	return a
}

// inListed reports whether files in the folder have owners that matter.
func inListed(dir []byte) bool {
	return slices.ContainsFunc(listed, func(prefix []byte) bool { return bytes.HasPrefix(dir, prefix[1:]) })
}

// realPath is the path of a file of which a folder right in /etc may be a link
// to another: packages also have files in /etc/init.d, which is /etc/rc.d/init.d.
func realPath(m *assess.Machine, file string) string {
	rest, ok := strings.CutPrefix(file, "/etc/")
	top, below, nested := strings.Cut(rest, "/")
	if !ok || !nested {
		return file
	}
	if m.Book.Links == nil {
		m.Book.Links = linksInEtc(m)
	}
	if target := m.Book.Links[top]; target != "" {
		return path.Join(target, below)
	}
	return file
}

// linksInEtc are the links right in /etc that lead to places below it.
func linksInEtc(m *assess.Machine) map[string]string {
	links := map[string]string{}
	entries, _ := m.FS.ReadDir("etc") // its state is noted where the configuration is read
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := m.FS.ReadLink(path.Join("etc", e.Name()))
		if err != nil {
			continue
		}
		if target = assess.LeadsTo("/etc/"+e.Name(), target); strings.HasPrefix(target, "/etc/") {
			links[e.Name()] = target
		}
	}
	return links
}

// EachRPM calls do with every package of rpm's database, of the first form that
// there is; fs.ErrNotExist where there is none.
func EachRPM(fsys host.FS, do func(*rpm.Package) error) error {
	m := &assess.Machine{FS: fsys}
	for _, name := range rpmDatabases {
		db, err := openLogged(m, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		defer db.Close()
		return db.packages(do)
	}
	return fmt.Errorf("no database of rpm: %w", fs.ErrNotExist)
}

// packages calls do with every package of an open database of rpm.
func (l logged) packages(do func(*rpm.Package) error) error {
	var faults rpm.Faults
	faults.Add(rpm.Database{File: l.file, Size: l.size, Log: l.log, LogSize: l.logSize}.Each(func(p *rpm.Package) {
		if p.Name != "gpg-pubkey" { // a key that was imported
			faults.Add(do(p))
		}
	}))
	return faults.Err()
}
