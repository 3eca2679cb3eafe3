package datadir

import (
	"testing"

	"github.com/matryer/is"
)

// TestNoFolderIsNotTheWholeDisk: memcached keeps nothing on the disk, and an empty
// setting names nothing.
func TestNoFolderIsNotTheWholeDisk(t *testing.T) {
	is := is.New(t)
	fsys := machine(t, map[string]string{"etc/big": "0123456789", "mysql/x.frm": "x"})
	for _, dir := range []string{"", "/", "//."} {
		s := Read(fsys, Source{Engine: "memcached", Directory: dir})
		is.Equal(s.Bytes, int64(0))
		is.Equal(len(s.Unread), 1)
		is.Equal(Names(fsys, Source{Engine: "mariadb", Directory: dir}), nil)
	}
}
