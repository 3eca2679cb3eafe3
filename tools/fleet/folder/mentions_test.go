package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/tools/fleet"
)

// TestMentions holds what comes back against the names of all: a fleet is the same with
// it as with all mentions.
func TestMentions(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		m, err := KeepMentions()
		if err != nil {
			t.Fatal(err)
		}
		word := rapid.Uint64Range(0, 60)
		var read, whole []fleet.Read
		for i := range rapid.IntRange(0, 8).Draw(t, "machines") {
			r := fleet.Read{Machine: fleet.Machine{Name: fmt.Sprint(i)}, Names: rapid.SliceOfN(word, 0, 3).Draw(t, "names"), Mentions: rapid.SliceOfN(word, 0, 20).Draw(t, "mentions")}
			whole = append(whole, r)
			if err := m.Take(&r); err != nil || r.Mentions != nil {
				t.Fatalf("taking left %v: %v", r.Mentions, err)
			}
			read = append(read, r)
		}
		slices.Reverse(read) // whatever their order
		if err := m.Return(read); err != nil {
			t.Fatal(err)
		}
		got, want := fleet.New("debian-13", "", read, fleet.Funds{}), fleet.New("debian-13", "", whole, fleet.Funds{})
		for i := range want.Machines {
			if !slices.Equal(got.Machines[i].DependsOn, want.Machines[i].DependsOn) {
				t.Fatalf("%s depends on %v, not %v", want.Machines[i].Name, got.Machines[i].DependsOn, want.Machines[i].DependsOn)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(m.file.Name()); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s is still there", m.file.Name())
		}
	})
}

func TestMentionsHaveNoPlace(t *testing.T) {
	is := is.New(t)
	t.Setenv("TMPDIR", "/nowhere")
	_, err := KeepMentions()
	is.True(errors.Is(err, fs.ErrNotExist))
}
