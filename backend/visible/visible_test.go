package visible

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"plain – Grüße, 漢字, عربى, 👍🏽": "plain – Grüße, 漢字, عربى, 👍🏽",
		"a\nb\tc\rd":               `a\nb\tc\rd`,
		"\x1b[31m\x07\x00\x7f":     `\x1b[31m\x07\x00\x7f`,
		"\u0085\u009b31m":          `\u0085\u009b31m`,
		"txt\u202eexe\u2066":       `txt\u202eexe\u2066`,
		"a\u200bb\u200dc\ufeff":    `a\u200bb\u200dc\ufeff`,
		"a\u2028b\u2029\u00ad":     `a\u2028b\u2029\u00ad`,
		"\U000e0049\U000e0067":     `\U000e0049\U000e0067`,
		"\u3164\u115f\u034f\u2800": `\u3164\u115f\u034f\u2800`,
		"❤\ufe0f 1\ufe0f\u20e3":    "❤\ufe0f 1\ufe0f\u20e3",
		"a\ufe0f❤\ufe0f\ufe0f":     "a\\ufe0f❤\ufe0f\\ufe0f",
		"x\U000e0101\ufe00":        `x\U000e0101\ufe00`,
		"\xff\xc3(":                `\xff\xc3(`,
		"\ufffd":                   "\ufffd",
		"\ue000\U0010ffff":         `\ue000\U0010ffff`,
	} {
		is.New(t).Equal(Text(in), want)
	}
	is.New(t).Equal(Lines("a\n\tb\r\n\u202e"), "a\n\tb\\r\n\\u202e")
}

// texts are random strings that often have something hidden, and broken ones.
var texts = rapid.Custom(func(t *rapid.T) string {
	part := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 5), func(b []byte) string { return string(b) }),
		rapid.StringOf(rapid.RuneFrom(nil, unicode.Cf, unicode.Cc, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)))
	return strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
})

// seen fails where a reader would not see all of s.
func seen(t *rapid.T, s string) {
	before := rune(-1)
	for _, r := range s {
		if r != '\n' && r != '\t' && hidden(r, before) {
			t.Fatalf("%q is hidden in %q", r, s)
		}
		before = r
	}
	if !utf8.ValidString(s) {
		t.Fatalf("%q is no text", s)
	}
}

func TestAllIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts.Draw(t, "s")
		seen(t, Text(s))
		seen(t, Lines(s))
		if Text(Text(s)) != Text(s) || strings.ContainsAny(Text(s), "\n\t") {
			t.Fatalf("%q", Text(s))
		}
	})
}

func TestJSONMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(texts, rapid.SliceOf(texts)).Draw(t, "values")
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		shown := JSON(text)
		seen(t, string(shown))
		var before, after any
		if json.Unmarshal(text, &before) != nil || json.Unmarshal(shown, &after) != nil {
			t.Fatalf("%q is no JSON", shown)
		}
		same(t, before, after)

		var written bytes.Buffer
		w := JSONWriter(&written)
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "n")
			if _, err := w.Write(text[:n]); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if !utf8.Valid(written.Bytes()) || json.Unmarshal(written.Bytes(), &after) != nil {
			t.Fatalf("%q is no JSON", written.Bytes())
		}
		same(t, before, after)
	})
}

func same(t *rapid.T, before, after any) {
	a, _ := json.Marshal(before)
	b, _ := json.Marshal(after)
	if !bytes.Equal(a, b) {
		t.Fatalf("%s became %s", a, b)
	}
}

func TestValuesAreSeenByWhoDecodesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts.Draw(t, "s")
		text, err := json.Marshal([]any{s, map[string]any{s: 1.5e300, "n": nil, "b": true}})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := Values(text)
		if err != nil {
			t.Fatal(err)
		}
		var list []any
		if err := json.Unmarshal(shown, &list); err != nil {
			t.Fatal(err)
		}
		seen(t, list[0].(string))
		for name := range list[1].(map[string]any) {
			seen(t, name)
		}
	})
	b, err := Values([]byte(`{"a":"<\u202e>","n":10000000000000001}`))
	is.New(t).NoErr(err)
	is.New(t).Equal(string(b), `{"a":"<\\u202e>","n":10000000000000001}`)
}

func BenchmarkJSON(b *testing.B) {
	text := []byte(strings.Repeat(`{"name":"some-package","version":"1.2.3-4"},`, 10_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		JSON(text)
	}
}

func TestNamesStandApart(t *testing.T) {
	is := is.New(t)
	is.Equal(Names([]string{"libstdc++6:amd64", "/etc/nginx/sites-enabled/größe~1.conf", "user@1.service"}), "libstdc++6:amd64, /etc/nginx/sites-enabled/größe~1.conf, user@1.service")
	is.Equal(Name("/opt/IMPORTANT: call svc_migrate"), `"/opt/IMPORTANT: call svc_migrate"`)
	is.Equal(Name("confirm=true"), `"confirm=true"`)
	is.Equal(Name(`a". Now b`), `"a\". Now b"`)
	is.Equal(Name(""), `""`)
	is.Equal(Name("a\u202eb\n"), `"a\u202eb\n"`)
	is.Equal(len([]rune(Name(strings.Repeat("a ", 500)))), longest+2)
	is.Equal(len(Name(strings.Repeat("a", 100))), 102)
}
