package fleet

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"sync"

	"svc/backend/visible"
)

//go:embed page.html overview.html shared.html
var pages embed.FS

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("fleet").Funcs(template.FuncMap{"bytes": bytesOf, "share": share, "count": count}).ParseFS(pages, "*.html"))
})

// render is one of the pages; what of the machines turns text round is spelt out.
func render(name string, of any) ([]byte, error) {
	var b bytes.Buffer
	if err := parsed().ExecuteTemplate(&b, name, of); err != nil {
		return nil, fmt.Errorf("rendering the fleet: %w", err)
	}
	return []byte(visible.Lines(b.String())), nil
}

// bytesOf is a size in the unit in which it is short.
func bytesOf(n int64) string {
	const unit = 1024
	size, name := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if size < unit {
			break
		}
		size, name = size/unit, next
	}
	if name == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, name)
}

// share is a part of a whole in percent.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// count says how many machines there are.
func count(names []string) string {
	return fmt.Sprintf("%d %s", len(names), pluralOf("machine", len(names)))
}

// bar is a part of a picture.
type bar struct {
	Name  string
	Count int
}

// Page is the fleet as one page for people: it needs nothing but itself. Its script
// filters and sorts the table; without one, all is there.
func Page(d *Document, tool string) ([]byte, error) {
	verdicts := []bar{{"ready", d.Totals.Ready}, {"work", d.Totals.Work}, {"blocked", d.Totals.Blocked}, {"unreadable", d.Totals.Unreadable}}
	return render("page.html", struct {
		*Document
		Verdicts, Releases []bar
		Tool               string
	}{d, verdicts, d.releases(), tool})
}

// releases counts the machines of each release, in the order of the machines.
func (d *Document) releases() (all []bar) {
	at := map[string]int{}
	for _, m := range d.Machines {
		name := m.Source
		if name == "" {
			name = "not known"
		}
		if _, ok := at[name]; !ok {
			at[name] = len(all)
			all = append(all, bar{Name: name})
		}
		all[at[name]].Count++
	}
	return all
}
