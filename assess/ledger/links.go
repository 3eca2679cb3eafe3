package ledger

import (
	"io/fs"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
)

// alias is one name of a file that has several, by where its content stands.
type alias struct {
	device, number uint64
	name           string
}

// aliasOf is that of a path; the zero value where a file has one name.
func aliasOf(n *host.Node) alias {
	if n.Inode && n.Links > 1 && n.Mode.IsRegular() {
		return alias{n.Device, n.Number, n.Name}
	}
	return alias{}
}

// maxLinks bounds how many links of what is nobody's are read.
const maxLinks = 1000

// named parts what is nobody's from other names of packages' files: hard links under the
// same name in another folder, which packages make of what they may switch on, and links
// between / and /usr, which are one on releases that have both merged.
func (b *book) named(nobody []Path, linked map[alias]bool) (left, other []Path) {
	read := 0
	for _, p := range nobody {
		name := p.Path[1:]
		link := p.mode&fs.ModeSymlink != 0 && read < maxLinks
		if link {
			read++
		}
		if linked[p.alias] || link && b.merged(name) {
			other = append(other, p)
		} else {
			left = append(left, p)
		}
	}
	return left, other
}

// merged reports whether a link is a package's file on the other side of /usr.
func (b *book) merged(name string) bool {
	to, err := b.host.FS().ReadLink(name)
	if err != nil {
		return false
	}
	target := strings.TrimPrefix(assess.LeadsTo("/"+name, to), "/")
	sides := []string{strings.TrimPrefix(name, "usr/"), strings.TrimPrefix(target, "usr/")}
	_, owned := b.owners.of(target)
	return owned && target != name && len(slices.Compact(sides)) == 1
}
