package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// sample has an argument of each type.
type sample struct {
	Text   string   `json:"text,omitempty"`
	Number int      `json:"number,omitempty"`
	Flag   bool     `json:"flag,omitempty"`
	List   []string `json:"list,omitempty"`
	Detail Detail   `json:"detail,omitempty"`
}

// TestArgumentsAsModelsSendThem takes what is meant and refuses the rest in
// words.
func TestArgumentsAsModelsSendThem(t *testing.T) {
	schema := SchemaOf[sample](nil)
	for args, want := range map[string]sample{
		``:                                  {},
		`{"number":"42","flag":"True"}`:     {Number: 42, Flag: true},
		`{"number":5.0}`:                    {Number: 5},
		`{"number":1e3,"list":"x"}`:         {Number: 1000, List: []string{"x"}},
		`{"text":13,"flag":null}`:           {Text: "13"},
		`{"text":10.5,"detail":"full"}`:     {Text: "10.5", Detail: DetailFull},
		`{"number":9007199254740993}`:       {Number: 9007199254740993},
		`{"list":["a","b"],"flag":"false"}`: {List: []string{"a", "b"}},
	} {
		t.Run(args, func(t *testing.T) {
			is := is.New(t)
			got, err := decode[sample](schema, json.RawMessage(args))
			is.NoErr(err)
			is.Equal(got, want)
		})
	}
	for args, why := range map[string]string{
		`[]`:                "must be an object",
		`{"number":"4x"}`:   "number must be a whole number",
		`{"number":1.5}`:    "number must be a whole number",
		`{"flag":1}`:        "flag must be true or false",
		`{"text":{}}`:       "text must be a text",
		`{"detail":"most"}`: "detail must be one of summary, full",
		`{"txt":"x"}`:       "did you mean text?",
	} {
		t.Run(args, func(t *testing.T) {
			is := is.New(t)
			_, err := decode[sample](schema, json.RawMessage(args))
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), why)) // says what was expected
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"text":"x","number":"42","list":"x"}`))
	schema := SchemaOf[sample](nil)
	f.Fuzz(func(t *testing.T, args []byte) {
		got, err := decode[sample](schema, args)
		if err != nil {
			return
		}
		again, err := decode[sample](schema, Encoded(got))
		is.New(t).NoErr(err)
		is.New(t).Equal(again.Number, got.Number)
	})
}
