package data_test

import (
	"os"
	"path/filepath"
	"time"
)

// owner of a file, and of what is below it where it is a folder.
type owner struct {
	path     string
	uid, gid int
}

// hostile are names that a script may take for something else.
var hostile = []string{" ", "-rf", "--delete", "'", `"`, `\`, "*", "[a]", "tab\t", "end\n", "\xc3\x28", "`id`", ";", "~", "#", "-\n-"}

// system makes a folder a machine.
func (m *move) system(root, release, passwd, group string) {
	m.Files(root, map[string]string{
		"etc/os-release":      release,
		"etc/machine-id":      "0123456789abcdef0123456789abcdef\n",
		"etc/passwd":          "root:x:0:0::/root:/bin/sh\n" + passwd,
		"etc/group":           "root:x:0:\n" + group,
		"var/lib/dpkg/status": "Package: base-files\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n",
	})
	m.folders(root, "srv", "home")
}

func (m *move) folders(root string, names ...string) {
	for _, name := range names {
		m.is.NoErr(os.MkdirAll(filepath.Join(root, name), 0o755))
	}
}

// makeSource makes an enterprise Linux by its accounts; on the target the same people
// have other numbers, and the web server another name.
func (m *move) makeSource() {
	m.system(m.source, "ID=centos\nVERSION_ID=7\n", "apache:x:48:48::/:/bin/false\nanna:x:1000:1000::/home/anna:/bin/sh\n", "apache:x:48:\nanna:x:1000:\n")
	m.folders(m.source, "var/lib/rpm")
	shop := filepath.Join(m.source, "srv/shop")
	m.folders(shop, "-r", "new\nline", "\xff\xfe", "esc\033[1m", "deep/er/still", "$(touch pwned)", "**")
	for _, name := range hostile {
		m.Files(shop, map[string]string{name: name, "with space/" + name + ".x": name})
	}
	m.Files(shop, map[string]string{"plain": "plain\n", "setuid": "x", "upload?[x]*/f": "nested\n", "upload?ax/f": "outer\n"})
	m.Files(m.source, map[string]string{
		`srv/it's [a] \place*/file`: "inner\n",
		"home/anna/notes":           "hello\n",
		"var/mail/anna":             "mail\n",
		"etc/exports":               "/srv/shop/upload?[x]* *(rw)\n",
		"srv/\xff place/file":       "odd\n",
	})
	for _, name := range []string{"-rf", "it's [a]*.sql", "\xff loose", "new\nline"} { // beside the folders
		m.Files(m.source, map[string]string{"srv/" + name: name, "home/" + name: name})
	}
	m.Shell(0, `cd "$1"
		ln plain deep/hard
		ln -s /etc/shadow absolute
		ln -s $'new\nline/none' broken
		ln -s shop/plain ../link
		truncate -s 50M sparse
		echo end >>sparse
		mkfifo pipe
		setfattr -n user.note -v 'a b' plain
		setfacl -m u:48:rx,g:1000:r plain
		setfacl -d -m u:1000:rwx deep`, shop)
	m.own([]owner{
		{"srv/link", 48, 48},
		{"srv/-rf", 48, 48},
		{"srv/shop", 48, 48},
		{"home/anna", 1000, 1000},
		{"srv/shop/deep", 1000, 1000},
		{"var/mail/anna", 1000, 1000},
		{"srv/shop/setuid", 0, 1000},
		{"srv/shop/-rf", 4242, 4243},
	})
	m.is.NoErr(os.Chown(filepath.Join(m.source, "srv"), 0, 4243)) // a number that is another's on the target
	for name, mode := range map[string]os.FileMode{"srv": 0o755 | os.ModeSetgid, "srv/shop/setuid": 0o755 | os.ModeSetuid | os.ModeSetgid, "srv/shop/with space": 0o777 | os.ModeSticky} {
		m.is.NoErr(os.Chmod(filepath.Join(m.source, name), mode))
	}
	old := time.Date(2001, 2, 3, 4, 5, 6, 789e6, time.UTC)
	m.is.NoErr(os.Chtimes(filepath.Join(shop, "plain"), old, old))
}

// own gives files of the source their owners, the later ones over the earlier.
func (m *move) own(owners []owner) {
	for _, o := range owners {
		m.is.NoErr(filepath.WalkDir(filepath.Join(m.source, o.path), func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, o.uid, o.gid)
		}))
	}
}

func (m *move) makeTarget() {
	m.system(m.target, "ID=debian\nVERSION_ID=13\n",
		"www-data:x:33:33::/:/bin/false\nother:x:1000:1000::/:/bin/sh\nanna:x:1501:1502::/home/anna:/bin/sh\n", "www-data:x:33:\nother:x:1000:\nanna:x:1502:\n")
	m.Files(m.target, map[string]string{"srv/own": "own\n", "home/admin/own": "own\n", "srv/-rf": "own\n", "srv/shop/of the target": "old\n"})
	m.is.NoErr(os.Chown(filepath.Join(m.target, "srv/shop/of the target"), 33, -1))
}
