// Package pagetest holds pages against hostile texts: whatever stands in a machine, a
// page has the elements that it would have of harmless words, leads nowhere else and
// loads nothing.
package pagetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// hostile are texts that end something, begin something or lead elsewhere.
var hostile = []string{
	`"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, `</title></style></script></svg></pre><h1>`, `javascript:alert(1)`, `//evil.example/x`, `https://evil.example/`,
	`" onmouseover="alert(1)`, `<!--`, `]]>`, `{{.}}`, `%s%d%!`, `&lt;b&gt;&#0;`, "\x00\x1b[2J", "\u202e\u2066", "\xff\xfe", `expression(alert(1))`, `;background:url(//evil.example)`, `../../../etc/passwd`, "a\nb\r\nc", ``,
}

// Holds checks a page. It makes one of a value of T that is filled with harmless words,
// and one of the same value with hostile ones.
func Holds[T any](t *testing.T, made func(*T) []byte) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()).Draw(rt, "text")
		var plain, evil T
		fill(reflect.ValueOf(&plain).Elem(), rand.New(rand.NewPCG(seed, 0)), func(n int) string { return fmt.Sprintf("word%d", n) })
		fill(reflect.ValueOf(&evil).Elem(), rand.New(rand.NewPCG(seed, 0)), func(n int) string { return fmt.Sprintf("%sword%d", text, n) })
		page := made(&evil)
		want, got := shape(rt, made(&plain)), shape(rt, page)
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				rt.Fatalf("with the text %q in it the page has another element from number %d on:\n%v\n%v", text, i, want[min(i, len(want)):min(i+3, len(want))], got[min(i, len(got)):min(i+3, len(got))])
			}
		}
		if bytes.Contains(page, []byte("0xc0")) && !strings.Contains(text, "0xc0") {
			rt.Fatalf("the page shows a place in memory")
		}
	})
}

// fill fills a value with texts and numbers; what is random decides what is there.
func fill(v reflect.Value, random *rand.Rand, text func(n int) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if random.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), random, text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), random, text)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
		for i := range v.Len() {
			fill(v.Index(i), random, text)
		}
	case reflect.String:
		v.SetString(text(random.IntN(100)))
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(random.Int64N(3))
	case reflect.Float64:
		v.SetFloat(random.Float64())
	}
}

// look is what an element's own style may be.
var look = regexp.MustCompile(`^[a-z-]+: [0-9.]+%?$`)

// shape is what a browser makes of a page, without its texts: elements, with what
// their attributes are called. What leads elsewhere, or loads something, fails.
func shape(t *rapid.T, page []byte) (all []string) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatalf("no page: %v", err)
	}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Fatalf("the page has a comment: %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		element := n.Data
		for _, a := range n.Attr {
			element += " " + a.Key
			switch a.Key {
			case "href":
				to, err := url.Parse(a.Val)
				if err != nil || to.Scheme != "" || to.Host != "" || strings.HasPrefix(to.Path, "/") {
					t.Fatalf("a link leads away from the page: %q", a.Val)
				}
			case "style":
				if !look.MatchString(a.Val) {
					t.Fatalf("a style is not a number: %q", a.Val)
				}
			case "src", "srcset", "action", "formaction", "data", "background":
				t.Fatalf("the page loads %q", a.Val)
			}
		}
		all = append(all, element)
	}
	return all
}
