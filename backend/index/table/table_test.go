package table

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

// sample is a file of one table with more blocks than the cache holds.
func sample(t testing.TB, n int) []byte {
	t.Helper()
	w := &Writer{}
	for i := range n {
		if err := w.Put("names", fmt.Sprintf("package-%07d", i), strings.Repeat(fmt.Sprint(i), 20)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := w.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestWhatIsPutIsFound(t *testing.T) {
	key := rapid.StringMatching(`[^\t\n]{0,40}`)
	value := rapid.StringMatching(`[^\n]{0,200}`)
	rapid.Check(t, func(t *rapid.T) {
		is := is.New(t)
		records := rapid.MapOfN(key, value, 0, 300).Draw(t, "records")
		w := &Writer{}
		for k, v := range records {
			is.NoErr(w.Put("t", k, v))
		}
		data, err := w.Bytes()
		is.NoErr(err)
		again, err := w.Bytes()
		is.NoErr(err)
		is.Equal(data, again) // the same records give the same bytes
		is.NoErr(Verify(data))
		f, err := Open(data)
		is.NoErr(err)
		defer f.Close()
		is.Equal(f.Table("t").Len(), len(records))
		for k, v := range records {
			got, ok, err := f.Table("t").Get(k)
			is.NoErr(err)
			is.True(ok)
			is.Equal(got, v)
		}
		missing := key.Draw(t, "missing")
		_, ok, err := f.Table("t").Get(missing)
		is.NoErr(err)
		_, there := records[missing]
		is.Equal(ok, there)
	})
}

func TestRecordsThatWouldBreakABlockAreRefused(t *testing.T) {
	is := is.New(t)
	w := &Writer{}
	is.NoErr(w.Put("t", "a", "1"))
	is.NoErr(w.Put("t", "a", "1"))
	for _, record := range [][2]string{{"a", "2"}, {"a\tb", ""}, {"a\n", ""}, {"b", "\n"}, {"c", strings.Repeat("x", maxBlock)}} {
		is.True(w.Put("t", record[0], record[1]) != nil)
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	data := sample(t, 2000)
	for n := 0; n < len(data); n += 1 + n/50 {
		is.New(t).True(errors.Is(Verify(data[:n]), ErrFormat))
	}
}

func TestEveryFlippedByteIsFound(t *testing.T) {
	data := sample(t, 2000)
	for i := 0; i < len(data); i += 1 + i/50 {
		data[i] ^= 0x55
		if Verify(data) == nil {
			t.Errorf("byte %d may change", i)
		}
		data[i] ^= 0x55
	}
}

func TestAFileIsSafeForConcurrentUse(t *testing.T) {
	is := is.New(t)
	f, err := Open(sample(t, 60_000))
	is.NoErr(err)
	defer f.Close()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < 60_000; i += 97 {
				if _, ok, err := f.Table("names").Get(fmt.Sprintf("package-%07d", i)); !ok || err != nil {
					t.Errorf("package %d: %v %v", i, ok, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestTheCacheKeepsWhatIsRead(t *testing.T) {
	is := is.New(t)
	c := cache{slots: make([]slot, 3*maxUnpacked)}
	for i := range c.slots {
		c.put(i, &content{})
		is.True(c.get(0) != nil) // read every time the hand comes by
	}
	kept := 0
	for i := range c.slots {
		if c.slots[i].block.Load() != nil {
			kept++
		}
	}
	is.Equal(kept, maxUnpacked)
}

func FuzzOpen(f *testing.F) {
	data := sample(f, 20)
	f.Add(data)
	f.Add(data[:headerSize])
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(data)
		if err != nil {
			return
		}
		defer file.Close()
		for _, name := range file.Names() {
			_, _, _ = file.Table(name).Get("package-0000007")
			_ = file.Table(name).All(func(string, string) bool { return true })
		}
	})
}

// FuzzDirectory reaches behind the checksum that Open compares first.
func FuzzDirectory(f *testing.F) {
	f.Add([]byte("\x05names\x02\x01\x01a\x08\x10"), uint16(64))
	f.Fuzz(func(t *testing.T, directory []byte, blocks uint16) {
		data := assemble(directory, make([]byte, blocks))
		file, err := Open(data)
		if err != nil {
			return
		}
		defer file.Close()
		for _, name := range file.Names() {
			_, _, _ = file.Table(name).Get("b")
		}
	})
}
