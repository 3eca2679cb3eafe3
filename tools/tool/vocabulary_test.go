package tool

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/machine"
	"svc/tools/register"
)

// What a machine that svc has read is called, and who has an account on it, goes
// from what is filed, though the words are any other's.
func TestWhatIsKnownOfMachinesIsStripped(t *testing.T) {
	is := is.New(t)
	env := &Env{Now: time.Now, Log: slog.New(slog.DiscardHandler), Register: register.Register{File: filepath.Join(t.TempDir(), "machines.jsonl")}}
	is.Equal(env.Strip("Table keeps the keys of tester"), "Table keeps the keys of tester")
	a := &assess.Assessment{Fingerprint: "f", System: assess.System{Hostname: "table.acme.example"}, Users: []assess.User{{Name: "tester"}, {Name: "backup"}, {Name: "www-data", System: true}}}
	env.Saw(a, machine.Machine{Root: "/"})
	is.Equal(env.Strip("Table keeps the keys of tester"), "[host] keeps the keys of [user]")
	is.Equal(env.Strip("the backup as www-data"), "the backup as www-data")
}
