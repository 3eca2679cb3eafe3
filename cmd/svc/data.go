package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/tools"
	"svc/tools/data"
)

func (p *program) dataCommand() *ffcli.Command {
	return p.group("data", "what a machine holds that no package brings back", p.dataDiscoverCommand())
}

func (p *program) dataDiscoverCommand() *ffcli.Command {
	in := tools.DataDiscoverInput{Detail: tools.DetailFull}
	fs := p.flagSet("discover")
	machineFlags(fs, &in.Machine)
	fs.IntVar(&in.Limit, "limit", 0, "places in a summary")
	fs.Func("detail", "summary or full (default full)", func(s string) error {
		in.Detail = tools.Detail(s)
		return nil
	})
	return p.command(fs, "svc data discover --root DIR | --image FILE | --ssh HOST", "say what data a machine holds, and where",
		noArgs(func(ctx context.Context) error {
			result, err := tools.DataDiscover(ctx, p.toolEnv(), in)
			if err != nil {
				return err
			}
			return p.print(result, func(w *view) { viewData(w, &result) })
		}))
}

func viewData(w *view, r *tools.DataDiscoverResult) {
	w.line("%s: %s in %s, %s", r.Release, plural(int(r.Sum.Files), "file"), plural(r.Sum.Places, "place"), bytesLine(r.Sum.Bytes))
	rows := [][]string{{"size", "files", "kind", "place", "whose", "owners"}}
	for _, p := range r.Places {
		rows = append(rows, []string{bytesLine(p.Bytes), fmt.Sprint(p.Files), string(p.Kind), p.Path, strings.TrimSpace(p.What + " " + p.Version), ownerLine(p.Users)})
	}
	w.table(rows)
	viewUnread(w, r)
}

// ownerLine names the first owners.
func ownerLine(owners []data.Owner) string {
	const few = 3
	names := []string{}
	for _, o := range owners[:min(few, len(owners))] {
		name := o.Name
		if name == "" {
			name = fmt.Sprint(o.ID)
		}
		names = append(names, name)
	}
	if len(owners) > few {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// viewUnread says what was not looked at.
func viewUnread(w *view, r *tools.DataDiscoverResult) {
	rows := [][]string{}
	for _, n := range r.Notes {
		rows = append(rows, []string{n.What, n.Why})
	}
	for _, p := range r.Places {
		for _, n := range p.UnreadPaths {
			rows = append(rows, []string{n.What, n.Why})
		}
		if more := p.Unread - int64(len(p.UnreadPaths)); more > 0 {
			rows = append(rows, []string{p.Path, fmt.Sprintf("and %d more", more)})
		}
	}
	if len(rows) > 0 {
		w.title("Not looked at")
		w.table(rows)
	}
}

// bytesLine is a size for people.
func bytesLine(n int64) string {
	size, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; size >= 1024 && i < len(units)-1; i++ {
		size /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, units[i])
}
