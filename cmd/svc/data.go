package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/tools/data"
	"svc/tools/dataplan"
	"svc/tools/tool"
)

func (p *program) dataCommand() *ffcli.Command {
	return p.group("svc data", "what a machine holds that no package brings back", p.dataDiscoverCommand(), p.dataPlanCommand())
}

func (p *program) dataDiscoverCommand() *ffcli.Command {
	in := dataplan.DiscoverInput{Detail: tool.DetailFull}
	fs := p.flagSet("discover")
	machineFlags(fs, &in.Machine)
	fs.IntVar(&in.Limit, "limit", 0, "places in a summary")
	fs.Func("detail", "summary or full (default full)", func(s string) error {
		in.Detail = tool.Detail(s)
		return nil
	})
	return p.command(fs, "svc data discover --root DIR | --image FILE | --ssh HOST", "say what data a machine holds, and where",
		noArgs(func(ctx context.Context) error {
			result, err := dataplan.Discover(ctx, p.toolEnv(), in)
			if err != nil {
				return err
			}
			return p.print(result, func(w *view) { viewData(w, &result) })
		}))
}

func (p *program) dataPlanCommand() *ffcli.Command {
	var in dataplan.PlanInput
	fs := p.flagSet("plan")
	machineFlags(fs, &in.Machine)
	fs.StringVar(&in.Target, "target", "", "release to move to, such as debian-13")
	fs.StringVar(&in.Out, "out", "", "folder to write the plan and its scripts to")
	fs.BoolVar(&in.SourceOffline, "source-offline", false, "state that the source is stopped: nothing writes to its data any more")
	fs.IntVar(&in.RateMiB, "rate-mib", 0, "MiB a second between the machines, for the estimate (default 100)")
	fs.BoolVar(&in.Confirm, "confirm", false, "write the plan; nothing is executed")
	return p.command(fs, "svc data plan --root DIR --target RELEASE --out DIR [--source-offline] --confirm", "plan the move of a machine's data, and write the scripts that make it",
		noArgs(func(ctx context.Context) error {
			result, err := dataplan.Plan(ctx, p.toolEnv(), in)
			if err != nil {
				return err
			}
			if err := p.print(result, func(w *view) { viewDataPlan(w, result) }); err != nil {
				return err
			}
			return differs(len(result.Inhibitors) > 0)
		}))
}

func viewDataPlan(w *view, r dataplan.PlanResult) {
	w.line("%s to %s: %s move, %s in %s", r.Source, r.Target, plural(r.Sum.Items, "place"), data.Size(r.Sum.Bytes), plural(int(r.Sum.Files), "file"))
	w.line("Copying takes %s, of which services are down for %s; the target needs %s.", data.About(r.Sum.CopySeconds), data.About(r.Sum.DowntimeSeconds), data.Size(r.Sum.SpaceBytes))
	viewHeadlines(w, "Inhibitors", r.Inhibitors)
	w.title("Written to %s", r.Out)
	rows := [][]string{}
	for _, a := range r.Artifacts {
		rows = append(rows, []string{a.SHA256[:12], a.Path})
	}
	w.table(append(rows, []string{"", plural(r.Scripts, "script") + " of places and databases"}))
	w.line("Nothing was executed. Next: read README.txt.")
}

func viewData(w *view, r *dataplan.DiscoverResult) {
	w.line("%s: %s in %s, %s", r.Release, plural(int(r.Sum.Files), "file"), plural(r.Sum.Places, "place"), data.Size(r.Sum.Bytes))
	rows := [][]string{{"size", "files", "kind", "place", "whose", "owners"}}
	for _, p := range r.Places {
		rows = append(rows, []string{data.Size(p.Bytes), fmt.Sprint(p.Files), string(p.Kind), p.Path, strings.TrimSpace(p.What + " " + p.Version), ownerLine(p.Users)})
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
func viewUnread(w *view, r *dataplan.DiscoverResult) {
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
