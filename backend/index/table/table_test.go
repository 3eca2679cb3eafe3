package table

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/wire"
)

// sample is a file of one table.
func sample(t testing.TB, n int) []byte {
	t.Helper()
	w := &Writer{}
	for i := range n {
		w.Put("names", fmt.Sprintf("package-%07d", i), strings.Repeat(fmt.Sprint(i), 20))
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
		w.PutAll("t", records)
		data, err := w.Bytes()
		is.NoErr(err)
		again, err := w.Bytes()
		is.NoErr(err)
		is.Equal(data, again) // the same records give the same bytes
		is.NoErr(Verify(string(data)))
		f, err := Open(string(data))
		is.NoErr(err)
		is.Equal(f.Table("t").Len(), len(records))
		for k, v := range records {
			got, ok := f.Table("t").Get(k)
			is.True(ok)
			is.Equal(got, v)
		}
		missing := key.Draw(t, "missing")
		_, there := records[missing]
		is.Equal(f.Table("t").Has(missing), there)
	})
}

func TestRecordsThatWouldBreakABlockAreRefused(t *testing.T) {
	is := is.New(t)
	for _, record := range [][2]string{{"a", "2"}, {"a\tb", ""}, {"a\n", ""}, {"b", "\n"}, {"c", strings.Repeat("x", maxRecord)}} {
		w := &Writer{}
		w.Put("t", "a", "1")
		w.Put("t", "a", "1")
		is.NoErr(w.Err())
		w.Put("t", record[0], record[1])
		_, err := w.Only(func(string) bool { return true }).Bytes()
		is.True(err != nil)
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	data := sample(t, 2000)
	for n := 0; n < len(data); n += 1 + n/50 {
		is.New(t).True(errors.Is(Verify(string(data[:n])), ErrFormat))
	}
}

func TestEveryFlippedByteIsFound(t *testing.T) {
	data := sample(t, 2000)
	for i := 0; i < len(data); i += 1 + i/50 {
		data[i] ^= 0x55
		if Verify(string(data)) == nil {
			t.Errorf("byte %d may change", i)
		}
		data[i] ^= 0x55
	}
}

// TestATableWithBadSlotsIsRefused has the digest fit the damage.
func TestATableWithBadSlotsIsRefused(t *testing.T) {
	good := newTable(map[string]string{"a": "1", "b": "2", "c": "3"})
	// each has the slots with every tag, or every offset, made another
	slots := func(tag func(byte) byte, offset byte) string {
		made := []byte(good.slots)
		for i := 0; i < len(made); i += slotSize {
			made[i] = tag(made[i])
			copy(made[i+1:i+slotSize], bytes.Repeat([]byte{offset}, slotSize-1))
		}
		return string(made)
	}
	kept := func(tag byte) byte { return tag }
	first := strings.IndexFunc(good.slots, func(r rune) bool { return r != 0 }) / slotSize * slotSize
	for name, bad := range map[string]Table{
		"no free slot":       {good.count, slots(func(byte) byte { return 1 }, 0), good.text},
		"a slot too few":     {good.count, good.slots[:first] + "\x00" + good.slots[first+1:], good.text},
		"offsets outside":    {good.count, slots(kept, 0xff), good.text},
		"offsets elsewhere":  {good.count, slots(kept, 0), good.text},
		"wrong count":        {good.count - 1, good.slots, good.text},
		"a line without tab": {good.count, good.slots, strings.Replace(good.text, "\t", " ", 1)},
		"text not in order":  {good.count, good.slots, strings.Replace(good.text, "a", "d", 1)},
		"text without end":   {good.count, good.slots, strings.TrimSuffix(good.text, "\n")},
	} {
		w := &Writer{}
		w.Copy("t", &bad)
		data, err := w.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(string(data)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzVerify reaches behind the digest: what passes can be read.
func FuzzVerify(f *testing.F) {
	good := newTable(map[string]string{"a": "1", "b": "2", "c": "3"})
	f.Add(wire.AppendText(nil, "t"), good.slots, good.text)
	f.Add([]byte("\x01t\x03\x05\x0c"), good.slots, good.text)
	f.Fuzz(func(t *testing.T, directory []byte, slots, text string) {
		data := string(assemble(directory, []byte(slots+text)))
		if Verify(data) != nil {
			return
		}
		file, err := Open(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range file.Names() {
			table := file.Table(name)
			n := 0
			for key, value := range table.All() {
				n++
				if got, ok := table.Get(key); got != value || !ok {
					t.Errorf("%q is %q, not %q", key, got, value)
				}
			}
			table.Has("no such key") // it ends
			if n != table.Len() {
				t.Error(n, table.Len())
			}
		}
	})
}
