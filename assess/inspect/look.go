package inspect

import (
	"path"
	"slices"

	"svc/assess"
	"svc/assess/packages"
)

// look notes what stands on the machine that no list of the assessment has, for who
// judges it without a way to its files.
func look(m *assess.Machine) {
	s := &m.Seen
	s.Encrypted, s.Modules = assess.HasSettings(m.Peek("etc/crypttab")), m.Exists("var/lib/dkms")
	s.Containers = map[string]bool{}
	for _, c := range assess.ContainerFolders {
		s.Containers[c.Engine] = m.Exists(c.Dir)
	}
	for _, dir := range outside {
		names, _ := m.Files(dir) // none where it can't be listed
		for _, name := range names {
			if file := "/" + path.Join(dir, name); m.Book.Owned[file] == "" && !slices.Contains(usualLocal, file) {
				s.Outside = append(s.Outside, file)
			}
		}
	}
	s.Managers = packages.OtherManagers(m)
}

// outside are the places where software stands that no package manager knows.
var outside = []string{"opt", "usr/local/bin", "usr/local/sbin", "usr/local/lib", "usr/local/share", "usr/src"}

// usualLocal stand on every fresh system.
var usualLocal = []string{"/usr/local/lib/python2.7", "/usr/local/lib/python3.7", "/usr/local/lib/python3.9", "/usr/local/lib/python3.11", "/usr/local/lib/python3.13", "/usr/local/share/man", "/usr/local/share/ca-certificates", "/usr/local/share/fonts", "/usr/local/share/xml", "/usr/local/share/sgml"}
