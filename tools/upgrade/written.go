package upgrade

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc/tools/database"
)

// Written is what clients have written since they were let in to the new server: a
// roll-back no longer serves it.
type Written struct {
	Since    time.Time `json:"since"`    // when they were let in
	Signs    []string  `json:"signs"`    // of their writing, for people; empty where there is none
	Kept     string    `json:"kept"`     // directory where a roll-back keeps the new data
	Commands []string  `json:"commands"` // for a shell, in their order: they dump what is kept
}

// writtenFile has what a roll-back found.
const writtenFile = "written.json"

// written asks what clients have written; nil where they were not let in, or were
// taken off again.
func (r *run) written(ctx context.Context) (*Written, error) {
	for _, s := range r.steps {
		if state := r.so.steps[s.Name]; !s.Opens || state == "" || state == Undone {
			continue
		}
		w, err := r.job.Written(ctx, r.host)
		if err != nil {
			w.Signs = append(w.Signs, fmt.Sprintf("what was written can't be told: %v", err))
		}
		w.Since = r.so.at[s.Name+" "+string(Started)]
		return &w, nil
	}
	return nil, nil
}

// lose refuses to leave behind what clients have written, unless a person has said so.
func (r *run) lose(ctx context.Context, discard bool) error {
	w, err := r.written(ctx)
	if err != nil || w == nil || len(w.Signs) == 0 {
		return err
	}
	if discard {
		return nil
	}
	return &Unserved{r.job.About().From, *w, r.host.Backup}
}

// Unserved is a roll-back that would leave behind what clients have written.
// Nothing was changed.
type Unserved struct {
	From   database.Place
	Lost   Written
	Backup string
}

func (e *Unserved) Error() string {
	return fmt.Sprintf("the roll-back is refused, and nothing was changed: %s; %s would not have it. To go back all the same: svc db upgrade --backup-dir %s --roll-back --discard-writes --confirm; the new data are then kept in %s, and can be dumped from there",
		e.Lost, e.From, quoted(e.Backup), e.Lost.Kept)
}

func (w Written) String() string {
	if len(w.Signs) == 0 {
		return fmt.Sprintf("clients were let in at %s, and nothing shows that they have written since", w.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("clients were let in at %s, and have written since: %s", w.Since.UTC().Format(time.RFC3339), strings.Join(w.Signs, "; "))
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if safe.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// lines say to people what a roll-back has left behind, and how to read it.
func (w *Written) lines() []string {
	if w == nil || len(w.Signs) == 0 {
		return nil
	}
	lines := []string{w.String(), "this is not served any more; it is kept in " + w.Kept + ", which no upgrade removes. To dump it:"}
	for _, c := range w.Commands {
		lines = append(lines, "`"+c+"`")
	}
	return lines
}
