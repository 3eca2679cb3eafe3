package build

import (
	"flag"
	"os"
	"testing"

	"github.com/matryer/is"

	"svc/backend/index/data"
	"svc/backend/index/table"
)

var update = flag.Bool("update", false, "write data/lists.bin and data/answers.bin anew")

// TestTheAnswersAreAsBuilt: data/lists.bin and data/answers.bin are what the rows
// beside them say and decide over data/facts.bin, byte for byte.
func TestTheAnswersAreAsBuilt(t *testing.T) {
	is := is.New(t)
	lists, answers, err := Program()
	is.NoErr(err)
	for _, file := range []struct{ name, built, there string }{{"lists.bin", string(lists), data.Lists}, {"answers.bin", string(answers), data.Answers}} {
		switch {
		case file.built == file.there:
		case *update:
			is.NoErr(os.WriteFile("../data/"+file.name, []byte(file.built), 0o644))
		default:
			t.Errorf("data/%s is not what the rows say: go test ./backend/index/build -run AsBuilt -update", file.name)
		}
	}
}

// TestTheFactsAreAsWritten: the records of data/facts.bin, written anew, are the file.
func TestTheFactsAreAsWritten(t *testing.T) {
	is := is.New(t)
	facts, err := table.Open(data.Facts)
	is.NoErr(err)
	w := &table.Writer{}
	for _, name := range facts.Names() {
		for key, value := range facts.Table(name).All() {
			w.Put(name, key, value)
		}
	}
	written, err := w.Bytes()
	is.NoErr(err)
	is.True(string(written) == data.Facts)
}
