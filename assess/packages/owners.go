package packages

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"svc/assess"
	"svc/assess/host"
)

// Described gives the mode and the owner of a regular file or a folder of a machine,
// whose accounts its assessment has.
func Described(h host.Host, a *assess.Assessment, name string) (f assess.Folder, folder, ok bool) {
	info, err := h.FS().Lstat(strings.TrimPrefix(name, "/"))
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return f, false, false
	}
	f = assess.Folder{Path: name, Mode: fmt.Sprintf("%04o", assess.Octal(info.Mode()))}
	f.UID, f.GID, ok = host.Owner(info)
	for _, u := range a.Users {
		if u.UID == f.UID && f.Owner == "" {
			f.Owner = u.Name
		}
	}
	for _, g := range a.Groups {
		if g.GID == f.GID && f.Group == "" {
			f.Group = g.Name
		}
	}
	return f, info.IsDir(), ok && f.Owner != "" && f.Group != ""
}

// Owners tells to which packages files of a machine belong, by paths with a leading
// slash; of what no package has, there is nothing. It asks dpkg's lists alone.
func Owners(ctx context.Context, h host.Host, paths []string) map[string]string {
	m := &assess.Machine{FS: assess.Watched{FS: h.FS(), Context: ctx}, Context: ctx, Host: h, Reading: assess.Reading{A: &assess.Assessment{}}}
	c := &m.Programs
	c.Aliases = m.FolderLinks()
	owners, asked := map[string]string{}, map[string][]string{}
	for _, p := range paths {
		real := c.Real(p)
		asked[real] = append(asked[real], p)
	}
	names, _ := m.Files("var/lib/dpkg/info")
	var mu sync.Mutex
	assess.InParallel(ctx, names, func(name string) {
		pkg, ok := strings.CutSuffix(name, ".list")
		if !ok {
			return
		}
		pkg, _, _ = strings.Cut(pkg, ":")
		_ = readList(m, path.Join("var/lib/dpkg/info", name), func(part []byte) { // the assessment says which lists are unreadable
			for line := range bytes.Lines(part) {
				for _, p := range asked[c.Real(string(bytes.TrimSpace(line)))] {
					mu.Lock()
					if old := owners[p]; old == "" || pkg < old {
						owners[p] = pkg
					}
					mu.Unlock()
				}
			}
		})
	})
	return owners
}
