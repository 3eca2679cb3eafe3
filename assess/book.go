package assess

import (
	"crypto"
	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"strings"

	"svc/backend/sliced"
)

// maxBook bounds what is kept of a package database, in bytes: some times what a
// desktop with everything installed has.
const maxBook = 10 << 20

// Bytes that an entry takes beside its words: of a package, of a path.
const (
	packageCost = 300
	pathCost    = 120
)

// Book is what the package manager's database says beside the packages.
type Book struct {
	Source    string              // its name among the sources: packages.dpkg
	Database  string              // where it is, with a leading slash
	Arch      string              // as the manager itself notes it; only dpkg does
	Conffiles map[string]Conffile // by path with a leading slash
	Owned     map[string]string   // other paths of /etc and of unit folders, to the package
	Named     map[string]bool     // every package that the status file names, in whatever state
	Needed    map[string]bool     // packages that others depend on
	Unsettled []Package           // half installed, half configured
	Links     map[string]string   // links right in /etc to places below it
	kept      int                 // bytes of all that, about
}

// Conffile is a configuration file as a package shipped it.
type Conffile struct {
	Package  string
	Hash     crypto.Hash
	Digests  []string // in hex; packages that share the file may differ
	Link     string   // where it leads, where it was shipped as a link
	Access   Access   // only rpm says
	Obsolete bool     // need not be there any more
}

// Keep reports whether there is room for so many bytes more.
func (d *Book) Keep(n int) bool {
	d.kept += n
	return !d.Full()
}

// Full reports whether something was left out.
func (d *Book) Full() bool { return d.kept > maxBook }

// Own notes whose a file is: of several packages always the same one, whichever
// is read first.
func (d *Book) Own(file, pkg string) {
	old, taken := d.Owned[file]
	if taken && pkg < old || !taken && d.Keep(pathCost+len(file)) {
		d.Owned[file] = pkg
	}
}

// Ship notes a configuration file.
func (d *Book) Ship(file string, c Conffile) {
	if d.Keep(pathCost + len(file)) {
		d.Conffiles[file] = c
	}
}

// Named are the digests that were shipped, each with its algorithm.
func (c Conffile) Named() []string {
	return sliced.FilterMap(c.Digests, func(digest string) (string, bool) {
		return strings.ToLower(c.Hash.String()) + ":" + digest, c.Hash.Available() && digest != ""
	})
}
