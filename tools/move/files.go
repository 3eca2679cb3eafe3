package move

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"svc/assess/ledger"
	"svc/backend/release"
	"svc/tools/artifact"
	"svc/tools/data"
	"svc/tools/evidence"
)

// countFiles puts everything on the machine's disk into its row. Where packages don't
// say whose files are, nobody can. A preflight is a quick look: over ssh it leaves this,
// and elsewhere it compares only what is newer than its package.
func (m *Move) countFiles(ctx context.Context) (*ledger.Sum, error) {
	if m.in.Preflight && m.in.SSH != "" {
		return nil, nil
	}
	m.Env.Step("everything on the disk", 0, 1)
	defer m.Env.Step("everything on the disk", 1, 1)
	distro, _ := release.Split(m.Assessment.Release)
	in := ledger.Input{
		Assessment: m.Assessment, Far: m.in.SSH != "" || m.in.Preflight,
		Across: release.FamilyOf(distro).Conventions().Line != m.Target.Family.Conventions().Line,
	}
	for _, p := range data.Places(m.Host, m.Assessment) {
		at := ledger.Place{Path: strings.TrimPrefix(p.Path, "/"), What: p.What, Software: p.Kind == data.Software}
		if p.Names == nil {
			in.Places = append(in.Places, at)
		}
		for _, name := range p.Names {
			at.Path = path.Join(strings.TrimPrefix(p.Path, "/"), name)
			in.Places = append(in.Places, at)
		}
	}
	s, err := ledger.Of(ctx, m.Host, in)
	if errors.Is(err, ledger.ErrNoOwners) {
		return nil, nil
	}
	return s, err
}

// digestPlan is the digest by which a plan is confirmed: of all but the counts of the
// disk, which change while a machine runs.
func (m *Move) digestPlan() (string, error) {
	plan := *m.Plan
	plan.Files = nil
	b, err := evidence.Document(plan)
	return artifact.Digest(b), err
}

// digestShown is the digest of all that is confirmed: the plan, and, where they go into
// the role, secrets and each fix.
func (m *Move) digestShown() string {
	if !m.in.IncludeSecrets && len(m.fixes) == 0 {
		return m.PlanDigest
	}
	all := fmt.Sprintf("%s %t", m.PlanDigest, m.in.IncludeSecrets)
	for _, f := range m.fixes {
		all += " " + f.Digest()
	}
	return artifact.Digest([]byte(all))
}
