package inspect

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// closed are files of the fixtures that are closed to others: a checkout does
// not keep that.
var closed = []string{"etc/shadow", "etc/cron.d/backup", "etc/sssd/sssd.conf", "etc/NetworkManager/system-connections/office.nmconnection", "var/spool/at/a0000101c3a4e0"}

// TestMachinesOfEveryFamily compares what is found on reduced machines with
// golden files: all but packages, files of /etc and places without anything,
// which have tests of their own.
func TestMachinesOfEveryFamily(t *testing.T) {
	roots, err := os.ReadDir("../../fixtures/hosts")
	is.New(t).NoErr(err)
	for _, root := range roots {
		t.Run(root.Name(), func(t *testing.T) {
			is := is.New(t)
			dir := filepath.Join(t.TempDir(), "root")
			copyOpen(t, dir, filepath.Join("../../fixtures/hosts", root.Name()))
			for _, name := range closed {
				if err := os.Chmod(filepath.Join(dir, name), 0o600); !errors.Is(err, os.ErrNotExist) {
					is.NoErr(err)
				}
			}
			a, err := assessDir(t, dir)
			is.True(err == nil || errors.Is(err, assess.ErrCorrupt)) // not all have a package database
			a.Packages, a.Configuration, a.Folders = nil, nil, nil   // a checkout keeps no owners
			a.Sources = slices.DeleteFunc(a.Sources, func(s assess.Source) bool { return s.State == assess.SourceAbsent || s.State == assess.SourceOK })
			got, err := json.MarshalIndent(a, "", " ")
			is.NoErr(err)
			is.True(!strings.Contains(string(got), "not-to-be-seen"))
			golden := filepath.Join("testdata", "hosts", root.Name()+".json")
			if *update {
				is.NoErr(os.MkdirAll(filepath.Dir(golden), 0o755))
				is.NoErr(os.WriteFile(golden, append(got, '\n'), 0o644))
			}
			want, err := os.ReadFile(golden)
			is.NoErr(err)
			if string(append(got, '\n')) != string(want) {
				t.Errorf("%s is not as %s has it: go test ./assess -update, and look at the difference", root.Name(), golden)
			}
		})
	}
}
