package move

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/data"
	"svc/tools/dataplan"
	"svc/tools/tool"
)

// Data is `svc data`.
func (p Commands) Data() *ffcli.Command {
	return p.Group("svc data", "what a machine holds that no package brings back", p.dataDiscoverCommand(), p.dataPlanCommand())
}

func (p Commands) dataDiscoverCommand() *ffcli.Command {
	in := dataplan.DiscoverInput{Detail: tool.DetailFull}
	fs := p.FlagSet("discover")
	many.MachineFlags(fs, &in.Machine)
	fs.IntVar(&in.Limit, "limit", 0, "places in a summary")
	fs.Func("detail", "summary or full (default full)", func(s string) error {
		in.Detail = tool.Detail(s)
		return nil
	})
	return p.Command(fs, "svc data discover --root DIR | --image FILE | --ssh HOST", "say what data a machine holds, and where",
		program.NoArgs(func(ctx context.Context) error {
			result, err := dataplan.Discover(ctx, p.ToolEnv(), in)
			return p.Answer(result, err, func(w *program.View) { viewData(w, &result) })
		}))
}

func (p Commands) dataPlanCommand() *ffcli.Command {
	var in dataplan.PlanInput
	fs := p.FlagSet("plan")
	many.MachineFlags(fs, &in.Machine)
	fs.StringVar(&in.Target, "target", "", "release to move to, such as debian-13")
	fs.StringVar(&in.Out, "out", "", "folder to write the plan and its scripts to")
	fs.BoolVar(&in.SourceOffline, "source-offline", false, "state that the source is stopped: nothing writes to its data any more")
	fs.IntVar(&in.RateMiB, "rate-mib", 0, "MiB a second between the machines, for the estimate (default 100)")
	fs.BoolVar(&in.Confirm, "confirm", false, "write the plan; nothing is executed")
	return p.Command(fs, "svc data plan --root DIR --target RELEASE --out DIR [--source-offline] --confirm", "plan the move of a machine's data, and write the scripts that make it",
		program.NoArgs(func(ctx context.Context) error {
			result, err := dataplan.Plan(ctx, p.ToolEnv(), in)
			return cmp.Or(p.Answer(result, err, func(w *program.View) { viewDataPlan(w, result) }), exit.Differs(len(result.Inhibitors) > 0))
		}))
}

func viewDataPlan(w *program.View, r dataplan.PlanResult) {
	w.Line("%s to %s: %s move, %s in %s", r.Source, r.Target, assess.Plural(r.Sum.Items, "place"), data.Size(r.Sum.Bytes), assess.Plural(int(r.Sum.Files), "file"))
	w.Line("Copying takes %s, of which services are down for %s; the target needs %s.", data.About(r.Sum.CopySeconds), data.About(r.Sum.DowntimeSeconds), data.Size(r.Sum.SpaceBytes))
	viewHeadlines(w, "Inhibitors", r.Inhibitors)
	viewWritten(w, r.Out, r.Artifacts, assess.Plural(r.Scripts, "script")+" of places and databases")
	w.Line("Nothing was executed. Next: read README.txt.")
}

func viewData(w *program.View, r *dataplan.DiscoverResult) {
	w.Line("%s: %s in %s, %s", r.Release, assess.Plural(int(r.Sum.Files), "file"), assess.Plural(r.Sum.Places, "place"), data.Size(r.Sum.Bytes))
	program.List(w, []string{"size", "files", "kind", "place", "whose", "owners"}, r.Places, func(p data.Place) []string {
		return []string{data.Size(p.Bytes), fmt.Sprint(p.Files), string(p.Kind), p.Path, strings.TrimSpace(p.What + " " + p.Version), ownerLine(p.Users)}
	})
	viewUnread(w, r)
}

// ownerLine names the first owners.
func ownerLine(owners []data.Owner) string {
	const few = 3
	names := sliced.Map(owners[:min(few, len(owners))], func(o data.Owner) string { return cmp.Or(o.Name, fmt.Sprint(o.ID)) })
	if len(owners) > few {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// viewUnread says what was not looked at.
func viewUnread(w *program.View, r *dataplan.DiscoverResult) {
	rows := sliced.Map(r.Notes, func(n data.Note) []string { return []string{n.What, n.Why} })
	for _, p := range r.Places {
		rows = append(rows, sliced.Map(p.UnreadPaths, func(n data.Note) []string { return []string{n.What, n.Why} })...)
		if more := p.Unread - int64(len(p.UnreadPaths)); more > 0 {
			rows = append(rows, []string{p.Path, fmt.Sprintf("and %d more", more)})
		}
	}
	if len(rows) > 0 {
		w.Title("Not looked at")
		w.Table(rows)
	}
}
