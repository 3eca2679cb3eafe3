package mariadb

import (
	"encoding/hex"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/tools/upgrade/inplace"
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
	m := Upgrade{}
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
		m := Upgrade{}
		err := m.places(options)
		is.True(err != nil) // outside
		is.True(strings.Contains(err.Error(), "nothing was changed"))
	}
}

func TestEveryTableIsCounted(t *testing.T) {
	is := is.New(t)
	has := inplace.Stock{"table shop.a": "InnoDB"}
	is.NoErr(count(has, []string{"table shop.a"}, [][]string{{"shop.a", "77"}, {"5"}}))
	is.Equal(has["table shop.a"], "InnoDB, 5 rows, checksum 77")
	is.True(count(has, []string{"table shop.a"}, [][]string{{"shop.a", "NULL"}, {"5"}}) != nil) // a table that the server can't read
	is.True(count(has, []string{"table shop.a"}, [][]string{{"shop.a", "77"}}) != nil)
}

func TestWhatIsMissingOrOtherIsSaid(t *testing.T) {
	is := is.New(t)
	m := &Upgrade{}
	was := inplace.Stock{"table a": "1", "account u@h": "x"}
	is.NoErr(m.Same(was, inplace.Stock{"table a": "1", "account u@h": "x", "account mariadb.sys@localhost": "y"}))
	for _, now := range []inplace.Stock{{"table a": "2", "account u@h": "x"}, {"account u@h": "x"}, {"table a": "1", "account u@h": "x", "table b": "1"}} {
		is.True(m.Same(was, now) != nil)
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
