// Package page makes pages for people, which need nothing but themselves, of what
// machines say. A page is a tree of elements, so no text of a machine ends one or
// begins one. What elements and attributes are called, styles and scripts are words of
// the program: nothing else compiles as such. A text of a machine stands as text, in
// the few attributes that only say something, and in links to what lies beside the
// page.
package page

import (
	"embed"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"maragu.dev/gomponents"

	"svc/backend/sliced"
	"svc/backend/visible"
)

// Node is a part of a page: an element, an attribute, a text, or several of these. Nil
// is nothing.
type Node = gomponents.Node

// own is a text of the program: a constant that is written where it is used becomes
// one by itself, and no variable of another package can.
type own string

// lines are elements after which a page's source has a new line.
var lines = []string{
	"body", "dd", "details", "div", "dl", "dt", "h1", "h2", "h3", "head", "li", "link", "meta", "nav", "ol", "p", "rect", "style", "script",
	"svg", "table", "tbody", "thead", "title", "tr", "ul",
}

// El is an element: its attributes and what is in it.
func El(name own, within ...Node) Node {
	element := gomponents.El(string(name), within...)
	if slices.Contains(lines, string(name)) {
		return gomponents.Group{element, gomponents.Raw("\n")}
	}
	return element
}

// Div is a part of a page.
func Div(within ...Node) Node { return El("div", within...) }

// P is a paragraph.
func P(within ...Node) Node { return El("p", within...) }

// Table is a table of rows.
func Table(rows ...Node) Node { return El("table", rows...) }

// Tr is a row of a table.
func Tr(cells ...Node) Node { return El("tr", cells...) }

// Td is a cell of a table.
func Td(within ...Node) Node { return El("td", within...) }

// Code is a word of a machine.
func Code[T shown](value T) Node { return El("code", Text(value)) }

// Pre is a text with its lines as they stand.
func Pre(text string) Node { return El("pre", Text(text)) }

// Soft has an element stand back.
func Soft() Node { return Attr("class", "soft") }

// Heading begins a part of the page that is led to by an id.
func Heading(id, title own) Node { return El("h2", Attr("id", id), Textf(title)) }

// Heads is a row of a table that says what is in its columns.
func Heads(columns ...own) Node {
	return El("tr", Each(columns, func(name own) Node { return El("th", Textf(name)) }))
}

// Group is several nodes as one.
func Group(all ...Node) Node { return gomponents.Group(all) }

// If is several nodes as one where a condition holds, and else nothing.
func If(holds bool, all ...Node) Node {
	if !holds {
		return nil
	}
	return Group(all...)
}

// Each is what a function makes of each value.
func Each[T any](all []T, of func(T) Node) Node { return gomponents.Map(all, of) }

// Joined is what a function makes of each value, with a text between them.
func Joined[T any](between own, all []T, of func(T) Node) Node {
	var joined gomponents.Group
	for i, one := range all {
		joined = append(joined, If(i > 0, Textf(between)), of(one))
	}
	return joined
}

// shown are the values that a page shows: pointers are none.
type shown interface {
	~string | ~int | ~int64 | ~uint64
}

// Text is a value as text.
func Text[T shown](value T) Node { return gomponents.Text(fmt.Sprint(value)) }

// Textf is a sentence of the program with values in it.
func Textf(format own, values ...any) Node {
	return gomponents.Text(fmt.Sprintf(string(format), values...))
}

// Attr is an attribute whose value the program knows.
func Attr(name, value own) Node { return gomponents.Attr(string(name), string(value)) }

// Flag is an attribute without a value.
func Flag(name own) Node { return gomponents.Attr(string(name)) }

// Class names the classes of an element; those that are empty are none.
func Class[T ~string](names ...T) Node {
	all := sliced.FilterMap(names, func(name T) (string, bool) { return string(name), name != "" })
	return gomponents.Attr("class", strings.Join(all, " "))
}

// Label is what an element says to who does not see it.
func Label(text string) Node { return gomponents.Attr("aria-label", text) }

// Title is what an element says when it is pointed at.
func Title(format own, values ...any) Node {
	return gomponents.Attr("title", fmt.Sprintf(string(format), values...))
}

// Data is an attribute that the page's own script reads.
func Data[T shown](name own, value T) Node {
	return gomponents.Attr("data-"+string(name), fmt.Sprint(value))
}

// Number is an attribute that is a number.
func Number(name own, value float64) Node {
	return gomponents.Attr(string(name), strconv.FormatFloat(value, 'f', -1, 64))
}

// Style is one property of an element's look, which is a number with its unit.
func Style(property own, value float64, unit own) Node {
	return gomponents.Attr("style", string(property)+": "+strconv.FormatFloat(value, 'f', -1, 64)+string(unit))
}

// To leads to a part of the page.
func To(id string) Node { return gomponents.Attr("href", (&url.URL{Fragment: id}).String()) }

// Beside leads to a file beside the page or below, whatever its name is.
func Beside(names ...string) Node {
	return gomponents.Attr("href", (&url.URL{Path: strings.TrimLeft(strings.Join(names, "/"), "/")}).String())
}

// Look is the style of a page: a file that the program has in itself.
func Look(files embed.FS, name own) Node { return written("style", files, name) }

// Script is a program of the page, which is such a file too.
func Script(files embed.FS, name own) Node { return written("script", files, name) }

func written(element own, files embed.FS, name own) Node {
	text, err := files.ReadFile(string(name))
	if err != nil {
		panic(err)
	}
	return El(element, gomponents.Raw("\n"+string(text)))
}

// Sealed has a browser load nothing and run nothing: it is for a page without a script.
func Sealed() Node {
	return El("meta", Attr("http-equiv", "Content-Security-Policy"), Attr("content", "default-src 'none'; style-src 'unsafe-inline'"))
}

// Whole is a page: what it is called, what is in its head beside that, and its body.
// What a reader would not see of a text is spelt out.
func Whole(title string, head Node, body ...Node) []byte {
	var b strings.Builder
	b.WriteString("<!doctype html>\n")
	all := El("html", Attr("lang", "en"), gomponents.Raw("\n"),
		El("head", gomponents.Raw("\n"), El("meta", Attr("charset", "utf-8")), El("meta", Attr("name", "viewport"), Attr("content", "width=device-width, initial-scale=1")), El("title", Text(title)), head),
		El("body", gomponents.Raw("\n"), Group(body...)))
	_ = all.Render(&b) // a builder takes everything
	return []byte(visible.Lines(b.String() + "\n"))
}
