package upgrade

import (
	"context"
	"fmt"

	"svc/tools/database"
	"svc/tools/upgrade/engine"
)

// writtenFile has what a roll-back found.
const writtenFile = "written.json"

// written asks what clients have written; nil where they were not let in, or were
// taken off again.
func (r *run) written(ctx context.Context) *engine.Written {
	for _, s := range r.steps {
		if state := r.so.steps[s.Name]; !s.Opens || state == "" || state == Undone {
			continue
		}
		w, err := r.of.Written(ctx, r.host)
		if err != nil {
			w.Signs = append(w.Signs, fmt.Sprintf("what was written can't be told: %v", err))
		}
		w.Since = r.so.at[s.Name+" "+string(Started)]
		return &w
	}
	return nil
}

// lose refuses to leave behind what clients have written, unless a person has said so.
func (r *run) lose(ctx context.Context, discard bool) error {
	w := r.written(ctx)
	if w == nil || len(w.Signs) == 0 || discard {
		return nil
	}
	return &Unserved{r.of.About().From, *w, r.host.Backup}
}

// Unserved is a roll-back that would leave behind what clients have written.
// Nothing was changed.
type Unserved struct {
	From   database.Place
	Lost   engine.Written
	Backup string
}

func (e *Unserved) Error() string {
	return fmt.Sprintf("the roll-back is refused, and nothing was changed: %s; %s would not have it. To go back all the same: svc db upgrade --backup-dir %s --roll-back --discard-writes --confirm; the new data are then kept in %s, and can be dumped from there",
		e.Lost, e.From, engine.Quoted(e.Backup), e.Lost.Kept)
}

// leftBehind says to people what a roll-back has left behind, and how to read it.
func leftBehind(w *engine.Written) []string {
	if w == nil || len(w.Signs) == 0 {
		return nil
	}
	lines := []string{w.String(), "this is not served any more; it is kept in " + w.Kept + ", which no upgrade removes. To dump it:"}
	for _, c := range w.Commands {
		lines = append(lines, "`"+c+"`")
	}
	return lines
}
