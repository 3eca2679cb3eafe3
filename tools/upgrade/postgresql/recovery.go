package postgresql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"svc/backend/sliced"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// shutDown is the state of a cluster whose server ended in order.
const shutDown = "shut down"

// recovery is what becomes of a cluster whose server did not end in order.
type recovery struct{ *pgRun }

// controlFields are the lines of a stopped cluster's control file, by their names.
func (g recovery) controlFields(ctx context.Context, c session.Cluster) (map[string]string, error) {
	out, err := g.Run(ctx, g.as(c.Program("pg_controldata"), "-D", c.Data))
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	return fields, nil
}

// recovers reports whether the old cluster, which is stopped, was not shut down in order, as
// where the power was cut while svc had its server run. The next start recovers it, and
// PostgreSQL empties unlogged tables then: people have to hear of it.
func (g recovery) recovers(ctx context.Context, c session.Cluster) (bool, error) {
	if c.Data != g.p.Old.Data {
		return false, nil // a copy, or made anew: nobody's rows are lost
	}
	fields, err := g.controlFields(ctx, c)
	return err == nil && fields["Database cluster state"] != shutDown, err
}

// noteEmptied keeps for people which tables a recovery has emptied, once the server serves.
func (g recovery) noteEmptied(ctx context.Context, s session.Session) error {
	var all []string
	for _, d := range g.p.Databases {
		names, err := s.Unlogged(ctx, d.Name)
		if err != nil {
			names = []string{fmt.Sprintf("those, which could not be listed (%v),", err)}
		}
		all = append(all, sliced.Map(names, func(name string) string { return name + " in " + d.Name })...)
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return g.Note(fmt.Sprintf("the server of %s was cut short in the midst of this, as by a power cut: PostgreSQL empties unlogged tables then, and what these held is lost, also in the copy: %s", engine.Quoted(g.p.Old.Data), strings.Join(all, ", ")))
}
