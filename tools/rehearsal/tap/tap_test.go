package tap

import (
	"testing"

	"github.com/matryer/is"
)

func TestParse(t *testing.T) {
	is := is.New(t)
	is.Equal(Parse("shop", 1, "1..3\nok 1 - opens\nnot ok 2 - sells\nnot ok 3 - ships # TODO later\n"), []Result{
		{"shop: opens", true, "ok 1 - opens"}, {"shop: sells", false, "not ok 2 - sells"}, {"shop: ships", true, "not ok 3 - ships # TODO later"},
	})
	is.Equal(Parse("shop", 1, "not ok 1 - sells\n# no till\nok 2 - opens\n# unasked\n"), []Result{{"shop: sells", false, "not ok 1 - sells no till"}, {"shop: opens", true, "ok 2 - opens"}})
	is.Equal(Parse("shop", 3, "it is closed\n"), []Result{{"shop", false, "it is closed"}})
}

// TestKnown: a name may have words behind it, and has a colon of its own.
func TestKnown(t *testing.T) {
	is := is.New(t)
	others := map[string]Result{"shop: tills: open": {}}
	is.Equal(Known(others, "shop: tills: open"), "shop: tills: open")
	is.Equal(Known(others, "shop: tills: open: no key: none"), "shop: tills: open")
	is.Equal(Known(others, "shop: tills: open:"), "shop: tills: open") // it had no words
	is.Equal(Known(others, "shop: tills"), "shop: tills")
}
