package build

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/matryer/is"

	"svc/backend/index/data"
	"svc/backend/index/record"
	"svc/backend/index/table"
)

var update = flag.Bool("update", false, "write data/lists.bin and data/answers.bin anew")

// program are the bytes of data/lists.bin and data/answers.bin: what the rows of the
// program say and decide over the facts of the program.
func program() (lists, answers []byte, err error) {
	b, err := Sources{}.builder()
	if err != nil {
		return nil, nil, err
	}
	if b.base, err = readBase(""); err != nil {
		return nil, nil, err
	}
	w, err := b.build(&inputs{})
	if err != nil {
		return nil, nil, fmt.Errorf("building the tables of the program: %w", err)
	}
	isList := func(name string) bool { return name == record.RPMLists || name == record.RPMSpellings }
	if lists, err = w.Only(isList).Bytes(); err != nil {
		return nil, nil, err
	}
	answers, err = w.Only(func(name string) bool { return !record.IsFact(name) && !isList(name) }).Bytes()
	return lists, answers, err
}

// TestTheAnswersAreAsBuilt: data/lists.bin and data/answers.bin are what the rows
// beside them say and decide over data/facts.bin, byte for byte.
func TestTheAnswersAreAsBuilt(t *testing.T) {
	is := is.New(t)
	lists, answers, err := program()
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
