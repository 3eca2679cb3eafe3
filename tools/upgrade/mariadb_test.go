package upgrade

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// help is the end of what mariadbd --verbose --help prints.
const help = `
Default options are read from the following files in the given order:
/etc/my.cnf

Variables (--variable-name=value)
and boolean options {FALSE|TRUE}                             Value (after reading options)
------------------------------------------------------------ -------------
allow-suspicious-udfs                                        FALSE
aria-log-dir-path                                            /srv/a b/
datadir                                                      /srv/a b/
innodb-data-file-path                                        ibdata1:12M:autoextend
innodb-data-home-dir                                         (No default value)
innodb-undo-directory                                        ./undo
log-error
version                                                      11.8.6-MariaDB-0+deb13u1 from Debian
`

func TestMariaDBOptions(t *testing.T) {
	is := is.New(t)
	options := mariadbOptions(help)
	is.Equal(options["datadir"], "/srv/a b/")
	is.Equal(options["version"], "11.8.6-MariaDB-0+deb13u1 from Debian")
	is.Equal(options["log-error"], "")
	is.Equal(options["Default"], "") // what stands before the table is none
	m := mariadb{}
	is.NoErr(m.places(options))
	is.Equal(m.Places, map[string]string{"aria-log-dir-path": ".", "innodb-undo-directory": "undo"})
}

func TestFilesOutsideTheDataAreRefused(t *testing.T) {
	is := is.New(t)
	for option, value := range map[string]string{
		"innodb-data-home-dir": "/elsewhere", "innodb-log-group-home-dir": "../logs", "innodb-undo-directory": "/srv/a", "aria-log-dir-path": "/srv/a bc",
		"innodb-data-file-path": "/elsewhere/ibdata1:12M:autoextend",
	} {
		options := mariadbOptions(help)
		options[option] = value
		m := mariadb{}
		err := m.places(options)
		is.True(err != nil) // outside
		is.True(strings.Contains(err.Error(), "nothing was changed"))
	}
}

func TestEveryTableIsCounted(t *testing.T) {
	is := is.New(t)
	has := stock{"table shop.a": "InnoDB"}
	is.NoErr(has.count([]string{"table shop.a"}, [][]string{{"shop.a", "77"}, {"5"}}))
	is.Equal(has["table shop.a"], "InnoDB, 5 rows, checksum 77")
	is.True(has.count([]string{"table shop.a"}, [][]string{{"shop.a", "NULL"}, {"5"}}) != nil) // a table that the server can't read
	is.True(has.count([]string{"table shop.a"}, [][]string{{"shop.a", "77"}}) != nil)
}

func TestWhatIsMissingOrOtherIsSaid(t *testing.T) {
	is := is.New(t)
	m := &mariadb{}
	was := stock{"table a": "1", "account u@h": "x"}
	is.NoErr(m.same(was, stock{"table a": "1", "account u@h": "x", "account mariadb.sys@localhost": "y"}))
	for _, now := range []stock{{"table a": "2", "account u@h": "x"}, {"account u@h": "x"}, {"table a": "1", "account u@h": "x", "table b": "1"}} {
		is.True(m.same(was, now) != nil)
	}
}

func TestAServerGreetsBeforeOneLogsIn(t *testing.T) {
	is := is.New(t)
	socket := filepath.Join(t.TempDir(), "s")
	is.True(mariadbGreets(socket) != nil) // nobody listens
	l, err := net.Listen("unix", socket)
	is.NoErr(err)
	defer l.Close()
	go func() {
		for _, greeting := range []string{"\x4a\x00\x00\x00\x0a11.8.6-MariaDB\x00", "HTTP/1.1 400 Bad Request\r\n"} {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(greeting))
			c.Close()
		}
	}()
	is.NoErr(mariadbGreets(socket))
	is.True(mariadbGreets(socket) != nil)
}

func TestUnitsAndMounts(t *testing.T) {
	is := is.New(t)
	is.Equal(unitIn([]byte("0::/system.slice/mariadb.service\n")), "mariadb.service")
	is.Equal(unitIn([]byte("1:name=systemd:/system.slice/system-redis.slice/redis@a.service\n")), "redis@a.service")
	is.Equal(unitIn([]byte("0::/user.slice/user-0.slice/session-1.scope\n0::/user.slice/user-0.slice/user@0.service\n")), "")
	mounts := []byte("22 1 254:0 / / rw - ext4 /dev/vda rw\n30 22 0:5 / /srv/a\\040b rw - tmpfs none rw\nshort\n")
	is.True(mountedAt(mounts, "/srv/a b"))
	is.True(!mountedAt(mounts, "/srv/a"))
}

func TestAServerIsFoundByWhereItWorks(t *testing.T) {
	is := is.New(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	is.NoErr(err)
	sleep, err := filepath.EvalSymlinks("/bin/sleep")
	is.NoErr(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	h := &Host{Backup: t.TempDir()}
	go func() {
		_, err := h.run(ctx, command{args: []string{sleep, "60"}, dir: dir})
		ended <- err
	}()
	var s *server
	is.NoErr(await(ctx, func(context.Context) error {
		if s, err = serverOn(dir, sleep, []string{filepath.Base(sleep)}); s == nil {
			return errors.Join(errors.New("there is no process"), err)
		}
		return nil
	}))
	is.True(s.same)
	other, err := serverOn(dir, sleep, []string{"mariadbd"})
	is.NoErr(err)
	is.True(other == nil)
	is.NoErr(s.stop(ctx, h))
	<-ended
	cancel()
	gone, err := serverOn(filepath.Join(dir, "none"), sleep, nil)
	is.NoErr(err)
	is.True(gone == nil)
	_, err = os.Stat(dir)
	is.NoErr(err)
}

// TestDataAreNotMovedFromUnderAServer has a server that does not stop stand in
// the way of going back.
func TestDataAreNotMovedFromUnderAServer(t *testing.T) {
	is := is.New(t)
	data := filepath.Join(t.TempDir(), "data")
	f := directory{Data: data, Names: []string{"sleep"}, Quit: unix.SIGWINCH} // which it takes no notice of
	h := &Host{Backup: t.TempDir()}
	is.NoErr(errors.Join(os.Mkdir(f.kept(), 0o700), os.Mkdir(data, 0o700)))
	var err error
	f.Inode, err = inodeOf(f.kept())
	is.NoErr(err)
	sleep := exec.Command("sleep", "60")
	sleep.Dir = data
	is.NoErr(sleep.Start())
	defer func() { _ = sleep.Wait() }()
	defer sleep.Process.Kill()
	is.NoErr(await(t.Context(), func(context.Context) error {
		if s, err := f.server(data); s == nil {
			return errors.Join(errors.New("there is no process"), err)
		}
		return nil
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = f.exchangeBack(h, &mariadb{})(ctx)
	is.True(err != nil && strings.Contains(err.Error(), "does not stop"))
	_, err = os.Stat(data)
	is.NoErr(err) // it is where it was
}

// TestTablesWithSystemVersioning reads what MariaDB 11.8 has written.
func TestTablesWithSystemVersioning(t *testing.T) {
	is := is.New(t)
	for head, want := range map[string]bool{
		"fe010a0c1d0061000100fd01000010001300000000000000000000020800080000050000000000000009000000000010000000d9b0010010000000000000000000102fba849ee76611f18c4102fc000000010404010002008103000202":               true,  // with system versioning
		"fe010a0c120056000100b001000010000500000000000000000000020800080000050000000000000009000000000010000000d9b0010010000000000000000000102fbaf132e76611f18c4102fc00000001":                                     false, // create table n (a int)
		"fe010b0c2400680001001002000010000b00000000000000000000020800080000050000000000000009000000010010000000d9b0010010000000000000000000102fbb0777e76611f18c4102fc00000001030c03617070036170700100020083020000": false, // with a period of an application
	} {
		b, err := hex.DecodeString(head)
		is.NoErr(err)
		is.Equal(versioned(b), want)
		for i := range b { // cut off anywhere, it is read without harm
			versioned(b[:i])
		}
	}
	is.True(!versioned([]byte("TYPE=VIEW")))
}
