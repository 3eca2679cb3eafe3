package hazards

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/backend/release"
)

// Example is the least of a machine that meets a condition, or does not. It is
// written in parts between " ;; ": a package and its version, a file and its text
// (in which \n is a new line and \t a tab), or a word and what it says.
//
//	openssh-server 8.0p1 ;; /etc/ssh/sshd_config: Port 22\nProtocol 1
//	/etc/localtime -> /usr/share/zoneinfo/US/Eastern
//	unit: nfs-blkmap.service ;; arch: i386 ;; release: el-8 ;; own: /etc/x
//	fact: selinux SELINUX enforcing
//	certificate: /etc/ssl/a.pem ;; /etc/ssl/a.pem: -----BEGIN …
type Example struct{ parts []part }

type part struct{ kind, name, text string }

const (
	partPackage = "package"
	partFile    = "file"
	partLink    = "link"
)

// partWords are the parts that begin with a word and a colon.
var partWords = []string{"unit", "arch", "release", "own", "fact", "certificate", "brought"}

func parseExample(text string) (Example, error) {
	var e Example
	if text == "-" {
		return e, nil
	}
	for item := range strings.SplitSeq(text, " ;; ") {
		item = strings.TrimSpace(item)
		p, err := parsePart(item)
		if err != nil {
			return e, err
		}
		e.parts = append(e.parts, p)
	}
	return e, nil
}

func parsePart(item string) (part, error) {
	if name, to, ok := strings.Cut(item, " -> "); ok && path.IsAbs(name) {
		return part{partLink, name, to}, nil
	}
	name, text, colon := strings.Cut(item, ":")
	switch {
	case path.IsAbs(name):
		return part{partFile, name, strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.TrimPrefix(text, " "))}, nil
	case colon && slices.Contains(partWords, name):
		return part{name, "", strings.TrimSpace(text)}, nil
	}
	name, version, ok := strings.Cut(item, " ")
	if !ok || strings.ContainsAny(version, " ") {
		return part{}, fmt.Errorf("%q is neither a package and its version, nor a file and its text, nor one of %s", item, strings.Join(partWords, ", "))
	}
	return part{partPackage, name, version}, nil
}

// machine is the example as conditions ask it.
func (e Example) machine() *Machine {
	files := memory{}
	m := &Machine{Packages: map[string][]string{}, Brought: map[string]string{}, Units: map[string]string{}, Files: files}
	for _, p := range e.parts {
		switch p.kind {
		case partPackage:
			m.Packages[p.name] = append(m.Packages[p.name], p.text)
		case partFile:
			files[p.name] = entry{text: p.text}
		case partLink:
			files[p.name] = entry{link: p.text}
		case "unit":
			m.Units[p.text] = "enabled"
		case "arch":
			m.Architecture = p.text
		case "own":
			m.Own = append(m.Own, p.text)
		case "brought":
			m.Brought[p.text] = ""
		case "certificate":
			m.Certificates = append(m.Certificates, p.text)
		case "release":
			family, version, _ := strings.Cut(p.text, "-")
			m.Release = release.Release{Family: release.Family(family), Version: version}
		case "fact":
			f := append(strings.SplitN(p.text, " ", 3), "", "", "")
			m.Facts = append(m.Facts, Fact{Area: f[0], Key: f[1], Value: f[2]})
		}
	}
	return m
}

// memory are files by their whole names.
type memory map[string]entry

type entry struct{ text, link string }

func (f memory) Text(name string) string { return f[name].text }
func (f memory) Link(name string) string { return f[name].link }

func (f memory) Exists(name string) bool {
	_, ok := f[name]
	return ok || len(f.Names(name)) > 0
}

func (f memory) Folders(folder string) []string {
	return slices.DeleteFunc(f.Names(folder), func(name string) bool { return len(f.Names(path.Join(folder, name))) == 0 })
}

func (f memory) Names(folder string) (names []string) {
	for name := range f {
		if below, ok := strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); ok {
			first, _, _ := strings.Cut(below, "/")
			names = append(names, first)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
