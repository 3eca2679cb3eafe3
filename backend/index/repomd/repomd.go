// Package repomd reads the metadata of rpm repositories, as createrepo_c and
// its kin write them: repomd.xml, primary, filelists, and the module streams of
// modules.yaml. All are read as streams, with bounds on what one package or
// one document may hold.
package repomd

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"svc/backend/index/record"
	"svc/backend/sliced"
)

// Limits of what is read.
const (
	maxRepomd  = 4 << 20  // bytes of repomd.xml
	maxElement = 64 << 20 // bytes of one package
)

// Part is a file of a repository that repomd.xml lists.
type Part struct {
	Type   string // primary, filelists, modules, …
	Path   string // from the repository's folder, such as repodata/primary.xml.gz
	SHA256 string // of the file as it is packed; empty where another digest is given
}

// Parts reads a repomd.xml. It refuses one without a primary part, and paths
// that lead out of the repository.
func Parts(r io.Reader) ([]Part, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxRepomd+1))
	if err != nil {
		return nil, fmt.Errorf("reading repomd.xml: %w", err)
	}
	if len(b) > maxRepomd {
		return nil, fmt.Errorf("reading repomd.xml: it has more than %d bytes", maxRepomd)
	}
	var d struct {
		XMLName xml.Name `xml:"repomd"`
		Data    []struct {
			Type     string   `xml:"type,attr"`
			Checksum checksum `xml:"checksum"`
			Location struct {
				Href string `xml:"href,attr"`
			} `xml:"location"`
		} `xml:"data"`
	}
	if err := xml.NewDecoder(bytes.NewReader(b)).Decode(&d); err != nil {
		return nil, fmt.Errorf("reading repomd.xml: %w", err)
	}
	var parts []Part
	for _, data := range d.Data {
		p := Part{Type: data.Type, Path: path.Clean(data.Location.Href), SHA256: data.Checksum.sha256()}
		if leadsOut(p.Path) {
			return nil, fmt.Errorf("reading repomd.xml: %.80q lies outside of the repository", data.Location.Href)
		}
		parts = append(parts, p)
	}
	if !slices.ContainsFunc(parts, func(p Part) bool { return p.Type == "primary" }) {
		return nil, errors.New("reading repomd.xml: it lists no primary part")
	}
	return parts, nil
}

// leadsOut reports whether a path leads out of the repository.
func leadsOut(p string) bool {
	return path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "\\")
}

// checksum is a digest as the metadata give it.
type checksum struct {
	Type  string `xml:"type,attr"`
	Value string `xml:",chardata"`
}

func (c checksum) sha256() string {
	if c.Type != "sha256" {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(c.Value))
}

// Package is a binary package of a repository.
type Package struct {
	Name, Arch, Source string
	Version            string // epoch:version-release, the epoch left out where it is 0
	Provides           []string
	Obsoletes          []record.Obsolete
	Files              []string // those that primary lists
	Path               string   // of the package, from the repository's folder
	SHA256             string   // of the package; empty where another digest is given
}

type entry struct {
	Name    string `xml:"name,attr"`
	Flags   string `xml:"flags,attr"`
	Epoch   string `xml:"epoch,attr"`
	Version string `xml:"ver,attr"`
	Release string `xml:"rel,attr"`
}

func evr(epoch, version, release string) string {
	if release != "" {
		version += "-" + release
	}
	if epoch != "" && epoch != "0" {
		version = epoch + ":" + version
	}
	return version
}

// primary is a package element of primary.xml.
type primary struct {
	Type     string   `xml:"type,attr"`
	Name     string   `xml:"name"`
	Arch     string   `xml:"arch"`
	Version  entry    `xml:"version"`
	Checksum checksum `xml:"checksum"`
	Location struct {
		Href string `xml:"href,attr"`
	} `xml:"location"`
	Format struct {
		Source    string   `xml:"sourcerpm"`
		Provides  []entry  `xml:"provides>entry"`
		Obsoletes []entry  `xml:"obsoletes>entry"`
		Files     []string `xml:"file"`
	} `xml:"format"`
}

func (p primary) pkg() Package {
	return Package{
		Name: p.Name, Arch: p.Arch, Version: evr(p.Version.Epoch, p.Version.Version, p.Version.Release),
		Source: sourceOf(p.Format.Source), Files: p.Format.Files, Path: path.Clean(p.Location.Href), SHA256: p.Checksum.sha256(),
		Provides: sliced.Map(p.Format.Provides, func(e entry) string { return e.Name }),
		Obsoletes: sliced.Map(p.Format.Obsoletes, func(e entry) record.Obsolete {
			return record.Obsolete{Name: e.Name, Flags: e.Flags, Version: evr(e.Epoch, e.Version, e.Release)}
		}),
	}
}

// sourceOf is the name in that of a source package: name-version-release.src.rpm.
func sourceOf(file string) string {
	for range 2 {
		if i := strings.LastIndexByte(file, '-'); i > 0 {
			file = file[:i]
		}
	}
	return file
}

// Packages yields the binary packages of a primary.xml. It ends with the first
// error: what is no XML, or a package without a name or version.
func Packages(r io.Reader) iter.Seq2[Package, error] {
	return func(yield func(Package, error) bool) {
		for p, err := range elements[primary](r) {
			if err == nil && (!plain(p.Name) || p.Version.Version == "") {
				err = fmt.Errorf("the package %.60q has no usable name or version", p.Name)
			}
			if err == nil && leadsOut(path.Clean(p.Location.Href)) {
				err = fmt.Errorf("the package %s lies outside of the repository, at %.80q", p.Name, p.Location.Href)
			}
			if err == nil && (p.Type != "rpm" || p.Arch == "src" || p.Arch == "nosrc") {
				continue
			}
			if !yield(p.pkg(), err) || err != nil {
				return
			}
		}
	}
}

// plain reports whether a name is one word.
func plain(name string) bool {
	return name != "" && len(name) < 300 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// Shipped are the files of a package.
type Shipped struct {
	Name string `xml:"name,attr"`
	Arch string `xml:"arch,attr"`
	// Files are all paths; folders and ghosts have a type.
	Files []struct {
		Type string `xml:"type,attr"`
		Path string `xml:",chardata"`
	} `xml:"file"`
}

// Filelists yields what a filelists.xml says of each package. It ends with the
// first error.
func Filelists(r io.Reader) iter.Seq2[Shipped, error] { return elements[Shipped](r) }

// elements yields the package elements of a document, each decoded by itself.
func elements[T any](r io.Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		in := &metered{r: r, left: maxElement}
		d := xml.NewDecoder(in)
		opened := false
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) && opened {
				return
			}
			if err != nil {
				yield(none, fmt.Errorf("reading xml: %w", err))
				return
			}
			start, ok := token.(xml.StartElement)
			opened = opened || ok
			if !ok || start.Name.Local != "package" {
				continue
			}
			var v T
			in.left = maxElement
			if err := d.DecodeElement(&v, &start); err != nil {
				yield(none, fmt.Errorf("reading xml: %w", err))
				return
			}
			in.left = maxElement
			if !yield(v, nil) {
				return
			}
		}
	}
}

// metered fails once more was read than one element may have.
type metered struct {
	r    io.Reader
	left int
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.left -= n; m.left < 0 {
		return 0, fmt.Errorf("an element has more than %d bytes", maxElement)
	}
	return n, err
}
