package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
	_ "modernc.org/sqlite" // writes the files that are read here
	"pgregory.net/rapid"
)

// row is a row of the table that the tests read.
type row struct {
	id   int64
	text string
	blob []byte
	n    int64
}

// write makes a file by SQLite and gives its bytes and those of its log, both
// while the writer still has them open.
func write(tb testing.TB, statements func(exec func(string, ...any))) (file, log []byte) {
	tb.Helper()
	is := is.New(tb)
	name := filepath.Join(tb.TempDir(), "x.sqlite")
	db, err := sql.Open("sqlite", name)
	is.NoErr(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	statements(func(statement string, args ...any) {
		_, err := db.Exec(statement, args...)
		is.NoErr(err)
	})
	file, err = os.ReadFile(name)
	is.NoErr(err)
	log, err = os.ReadFile(name + "-wal")
	is.True(err == nil || errors.Is(err, os.ErrNotExist))
	return file, log
}

const create = `CREATE TABLE "T" (id INTEGER PRIMARY KEY AUTOINCREMENT, /* (one, two) */ text TEXT NOT NULL, "blob" BLOB, n INT, CONSTRAINT c UNIQUE (text, n))`

// read reads all rows of the table T.
func read(file, log []byte) (rows []row, err error) {
	var wal *bytes.Reader
	db, err := Open(bytes.NewReader(file), int64(len(file)), nil, 0)
	if log != nil {
		wal = bytes.NewReader(log)
		db, err = Open(bytes.NewReader(file), int64(len(file)), wal, wal.Size())
	}
	if err != nil {
		return nil, err
	}
	fault := func(f error) { err = errors.Join(err, f) }
	failed := db.Each("t", []string{"id", "text", "blob", "n"}, fault, func(v []Value) {
		rows = append(rows, row{v[0].Int, string(v[1].Bytes), bytes.Clone(v[2].Bytes), v[3].Int})
	})
	return rows, errors.Join(failed, err)
}

// TestRowsAreAsSQLiteHasThem writes random rows on pages of any size, in the
// file or in its log, and deletes some.
func TestRowsAreAsSQLiteHasThem(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		is := is.New(t)
		pageSize := 512 << rapid.IntRange(0, 7).Draw(r, "page size")
		mode := rapid.SampledFrom([]string{"delete", "wal"}).Draw(r, "journal")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		want := map[int64]row{}
		file, log := write(t, func(exec func(string, ...any)) {
			exec(fmt.Sprintf("PRAGMA page_size=%d", pageSize))
			exec("PRAGMA synchronous=off")
			exec("PRAGMA journal_mode=" + mode)
			exec("PRAGMA wal_autocheckpoint=0")
			exec(create)
			exec("BEGIN")
			for id := range int64(rapid.IntRange(0, 200).Draw(r, "rows")) {
				blob := make([]byte, random.IntN(1<<random.IntN(16)))
				for i := range blob {
					blob[i] = byte(random.Uint32())
				}
				n := int64(random.Uint64()) >> random.IntN(64)
				want[id+1] = row{id + 1, fmt.Sprint("row ", id), blob, n}
				exec("INSERT INTO T (text, blob, n) VALUES (?, ?, ?)", fmt.Sprint("row ", id), blob, n)
			}
			exec("COMMIT")
			for id := range want {
				if random.IntN(4) == 0 {
					delete(want, id)
					exec("DELETE FROM T WHERE id = ?", id)
				}
			}
		})
		rows, err := read(file, log)
		is.NoErr(err)
		is.Equal(len(rows), len(want))
		for _, got := range rows {
			w := want[got.id]
			if got.text != w.text || !bytes.Equal(got.blob, w.blob) || got.n != w.n {
				t.Fatalf("row %d differs", got.id)
			}
		}
	})
}

// TestOnlyCommittedFramesCount cuts a log at every place: SQLite takes the
// transactions before the cut.
func TestOnlyCommittedFramesCount(t *testing.T) {
	is := is.New(t)
	file, log := write(t, func(exec func(string, ...any)) {
		exec("PRAGMA page_size=512")
		exec("PRAGMA journal_mode=wal")
		exec("PRAGMA wal_autocheckpoint=0")
		exec(create)
		exec("PRAGMA wal_checkpoint(truncate)")
		exec("INSERT INTO T (text) VALUES ('one')")
		exec("INSERT INTO T (text) VALUES ('two')")
	})
	whole, err := read(file, log)
	is.NoErr(err)
	is.Equal(len(whole), 2)
	none, err := read(file, nil)
	is.NoErr(err)
	is.Equal(len(none), 0)
	last := 0
	for n := range log {
		rows, err := read(file, log[:n])
		is.NoErr(err)
		is.True(len(rows) >= last && len(rows) <= 1) // the last transaction ends with the log
		last = len(rows)
	}
	is.Equal(last, 1)
	log[len(log)-1] ^= 1
	rows, err := read(file, log)
	is.NoErr(err)
	is.Equal(len(rows), 1) // a frame whose checksum does not hold was never finished
}

func TestWhatIsNoTable(t *testing.T) {
	is := is.New(t)
	file, _ := write(t, func(exec func(string, ...any)) { exec(create) })
	db, err := Open(bytes.NewReader(file), int64(len(file)), nil, 0)
	is.NoErr(err)
	fault := func(err error) { t.Error(err) }
	is.True(errors.Is(db.Each("x", nil, fault, nil), ErrNoTable))
	is.True(errors.Is(db.Each("t", []string{"x"}, fault, nil), ErrNoTable))
	_, err = Open(bytes.NewReader(nil), 0, nil, 0)
	is.True(err != nil)
	db, err = Open(bytes.NewReader(file[:len(file)-1]), int64(len(file)-1), nil, 0)
	is.True(err != nil && db != nil) // cut off
}
