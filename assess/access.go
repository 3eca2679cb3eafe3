package assess

import (
	"fmt"
	"io/fs"
)

// Access is who may do what with a file; zero values are not known.
type Access struct {
	Mode        uint32 // as chmod takes it
	User, Group string
}

func (a Access) String() string { return fmt.Sprintf("%04o %s:%s", a.Mode, a.User, a.Group) }

// Octal is a mode as chmod takes it.
func Octal(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}
