package migration

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

// TestWhatConfigurationWritesTo: logs and folders that carried configuration names are
// made where the source has them, but for folders as every system's are.
func TestWhatConfigurationWritesTo(t *testing.T) {
	is := is.New(t)
	in := server(t, "debian-11", "debian-13", "p", "1")
	in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/p/p.conf", State: assess.ConfigUnowned, Mode: "0644", Owner: "root", Group: "root"}}
	in.Assessment.Folders = []assess.Folder{{Path: "/var/spool/known", Mode: "0700", Owner: "p", Group: "p", UID: 7}}
	in.Read = func(string) ([]byte, error) {
		return []byte("log = /var/log/p/p.log\nspool = /var/spool/print\n# old = /var/spool/old\nroot = /var/lib/plain\nname = /var/spool/known\nfile = /var/lib/p.db\nweb = /var/www/p\ngone = /var/spool/gone\n"), nil
	}
	folder := func(mode string, uid int) assess.Folder {
		return assess.Folder{Mode: mode, UID: uid, Owner: "root", Group: "lp"}
	}
	in.Described = func(name string) (assess.Folder, bool, bool) {
		switch name {
		case "/var/log/p/p.log", "/var/lib/p.db":
			return folder("0640", 0), false, true
		case "/var/spool/print", "/var/spool/old", "/var/www/p":
			return folder("1777", 0), true, true
		case "/var/spool/known":
			return folder("0700", 7), true, true
		case "/var/lib/plain":
			return folder("0755", 0), true, true
		}
		return assess.Folder{}, false, false
	}
	p := New(in)
	is.Equal(p.Logs, []Folder{{Path: "/var/log/p/p.log", Mode: "0640", Owner: "root", Group: "lp"}})
	is.Equal(p.Folders, []Folder{{Path: "/var/spool/known", Mode: "0700", Owner: "p", Group: "p"}, {Path: "/var/spool/print", Mode: "1777", Owner: "root", Group: "lp"}})
}
