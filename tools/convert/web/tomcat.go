package web

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// tomcats are Debian's packages of Tomcat whose applications are of jakarta.
var tomcats = []string{"tomcat10", "tomcat11"}

// Tomcat carries server.xml, contexts and users of Tomcat 9 and older over to 10.1 and newer:
// classes that are gone are refused, names of javax become those of jakarta, and connectors
// have TLS in an element of its own.
func Tomcat(in convert.Input) (r convert.Result) {
	i := max(0, slices.IndexFunc(tomcats, func(name string) bool { _, ok := in.Brought[name]; return ok }))
	for _, f := range in.Files {
		_, below, _ := strings.Cut(strings.TrimPrefix(f.Path, "/etc/"), "/")
		p := convert.Open(f, "<!--")
		t := tomcat{p, xml.NewDecoder(strings.NewReader(f.Text)), convert.WordsOf("tomcat-gone")}
		t.convert()
		r.Close(p, path.Join("/etc", tomcats[i], below))
	}
	return r
}

// tomcat is a file of Tomcat that is being converted.
type tomcat struct {
	*convert.Page
	xml  *xml.Decoder
	gone map[string]convert.Word
}

// convert looks at every element of the file.
func (t tomcat) convert() {
	for {
		from, _ := t.xml.InputPos()
		token, err := t.xml.RawToken()
		to, column := t.xml.InputPos()
		switch e, ok := token.(xml.StartElement); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Refuse(min(from, len(t.Lines))-1, fmt.Sprintf("It is no XML: %v.", err))
			return
		case ok:
			t.element(e, from-1, to-1, column-1)
		}
	}
}

// element converts one that stands in some lines, from 0, and ends at a column of the last.
func (t tomcat) element(e xml.StartElement, from, to, column int) {
	rest := t.Lines[to][min(column, len(t.Lines[to])):]
	for i := from; i <= to; i++ {
		t.Replace(i, strings.TrimSpace(jakarta.ReplaceAllString(t.Lines[i], "jakarta.$1")), "Tomcat 10 has the names of jakarta.")
	}
	for _, a := range e.Attr {
		if word, gone := t.gone[a.Value]; gone {
			t.replaceOrRefuse(t.lineOf(a.Value, from, to), a.Value, word)
		}
	}
	c := newTLS(e)
	switch {
	case c == nil:
	case strings.TrimSpace(rest) != "":
		t.Refuse(to, "Its TLS belongs into an element of its own since Tomcat 10: put what follows the connector on a line of its own.")
	case t.hasTLS(to):
		t.Refuse(from, "Its TLS is said twice, by attributes and by SSLHostConfig: Tomcat 10 takes the latter alone.")
	default:
		t.secure(c, from, to)
	}
}

// hasTLS reports whether a connector whose first tag ends in a line has an element for it.
func (t tomcat) hasTLS(line int) bool {
	if strings.HasSuffix(strings.TrimSpace(t.Lines[line]), "/>") {
		return false
	}
	inner, _, _ := strings.Cut(strings.Join(t.Lines[line+1:], "\n"), "</Connector>")
	return strings.Contains(inner, "<SSLHostConfig")
}

// secure puts what a connector says of TLS into an element below it.
func (t tomcat) secure(c *tls, from, to int) {
	const why = "Tomcat 10 has TLS in an element of its own, and not in attributes of the connector."
	for i := from; i <= to; i++ {
		line := t.Lines[i]
		for _, name := range c.names {
			line = lazyregexp.New(`(^|\s)`+name+`\s*=\s*("[^"]*"|'[^']*')`).ReplaceAllString(line, "")
		}
		line = strings.TrimSpace(line)
		if i == to {
			open, closed := strings.CutSuffix(line, "/>")
			line = strings.TrimRight(strings.TrimSuffix(open, ">"), " \t") + ">\n" + c.element()
			if closed {
				line += "\n</Connector>"
			}
		}
		t.Replace(i, line, why)
	}
}

// jakarta are names of javax that are of jakarta in Tomcat 10; those of Java itself stay.
var jakarta = lazyregexp.New(`\bjavax\.(servlet|el|websocket|mail|activation|persistence|security\.auth\.message)\b`)

// lineOf is the line, from 0, of an element where a value stands.
func (t tomcat) lineOf(value string, from, to int) int {
	for i := from; i < to; i++ {
		if strings.Contains(t.Lines[i], value) {
			return i
		}
	}
	return to
}

// replaceOrRefuse writes the class that does the work of one that is gone.
func (t tomcat) replaceOrRefuse(i int, class string, w convert.Word) {
	if w.Now == "" {
		t.Refuse(i, w.Why)
		return
	}
	t.Replace(i, strings.Replace(strings.TrimSpace(t.Lines[i]), class, w.Now, 1), w.Why)
}

// tls are the attributes of a connector that say how it does TLS, as Tomcat 9 took them.
type tls struct {
	host, certificate []string // what SSLHostConfig and Certificate say, as name="value"
	names             []string // of the attributes
}

// newTLS is nil where an element is no connector, or has none.
func newTLS(e xml.StartElement) *tls {
	enabled := func(a xml.Attr) bool { return a.Name.Local == "SSLEnabled" && a.Value == "true" }
	if e.Name.Local != "Connector" || !slices.ContainsFunc(e.Attr, enabled) {
		return nil
	}
	c := &tls{}
	host, certificate := convert.WordsOf("tomcat-tls"), convert.WordsOf("tomcat-certificate")
	for _, a := range e.Attr {
		name, value := a.Name.Local, a.Value
		if verification, ok := convert.WordsOf("tomcat-client")[value]; ok && name == "clientAuth" {
			value = verification.Now
		}
		said := func(w convert.Word) string { return w.Now + `="` + escapeXML(value) + `"` }
		switch {
		case host[name].Now != "":
			c.host = append(c.host, said(host[name]))
		case certificate[name].Now != "":
			c.certificate = append(c.certificate, said(certificate[name]))
		default:
			continue
		}
		c.names = append(c.names, name)
	}
	if len(c.names) == 0 {
		return nil
	}
	return c
}

// element is what says the same in Tomcat 10.
func (c *tls) element() string {
	open := strings.Join(append([]string{"    <SSLHostConfig"}, c.host...), " ")
	return open + ">\n        " + strings.Join(append([]string{"<Certificate"}, c.certificate...), " ") + "/>\n    </SSLHostConfig>"
}

// escapeXML is a value as an attribute has it.
func escapeXML(value string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(value)) // a builder takes all
	return b.String()
}
