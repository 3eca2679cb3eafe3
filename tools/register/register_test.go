package register

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/matryer/is"
)

func TestWhatIsNotedIsKnownToAll(t *testing.T) {
	is := is.New(t)
	r := Register{filepath.Join(t.TempDir(), "state", "machines.jsonl")}
	known, err := r.Known()
	is.NoErr(err)
	is.Equal(len(known), 0)
	is.NoErr(r.Note(Machine{Fingerprint: "a", Name: "web", Release: "debian-11"}))
	is.NoErr(r.Note(Machine{Fingerprint: "a", Target: "debian-13", Out: "/srv/out"}))
	before, err := os.Stat(r.File)
	is.NoErr(err)
	is.Equal(before.Mode().Perm(), os.FileMode(0o600))
	is.NoErr(r.Note(Machine{Fingerprint: "a", Name: "web"}))
	after, err := os.Stat(r.File)
	is.NoErr(err)
	is.Equal(before.Size(), after.Size()) // what is known is not noted again

	f, err := os.OpenFile(r.File, os.O_APPEND|os.O_WRONLY, 0)
	is.NoErr(err)
	_, err = f.WriteString(`{"fingerprint":"a","na`) // a crash
	is.NoErr(err)
	is.NoErr(f.Close())
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := r.Note(Machine{Fingerprint: fmt.Sprint("f", i), Name: "n"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	known, err = r.Known()
	is.NoErr(err)
	is.Equal(len(known), 21)
	is.Equal(known["a"], Machine{Fingerprint: "a", Name: "web", Release: "debian-11", Target: "debian-13", Out: "/srv/out"})
}

func TestALongRegisterIsRewritten(t *testing.T) {
	is := is.New(t)
	r := Register{filepath.Join(t.TempDir(), "machines.jsonl")}
	line := fmt.Sprintf(`{"fingerprint":"a","name":"%01000d"}`+"\n", 0)
	b := []byte{}
	for len(b) <= maxFile {
		b = append(b, line...)
	}
	is.NoErr(os.WriteFile(r.File, b, 0o600))
	is.NoErr(r.Note(Machine{Fingerprint: "b", Name: "db"}))
	info, err := os.Stat(r.File)
	is.NoErr(err)
	is.True(info.Size() < 10_000)
	known, err := r.Known()
	is.NoErr(err)
	is.Equal(len(known), 2)
}
