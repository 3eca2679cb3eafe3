//go:build linux

package dbplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc/tools/tool"
	"svc/tools/upgrade"
	"svc/tools/upgrade/engine"
)

// UpgradeInput is the input of DBUpgrade. It is no tool of agents: it changes
// the host that svc runs on.
type UpgradeInput struct {
	Engine   string
	To       string // a version, or engine/version for a change of engine
	Instance string // which database of the engine, where there are several
	Backup   string // directory
	Confirm  bool
	Resume   bool // go on with the upgrade whose journal is in Backup
	RollBack bool // take it back
	Discard  bool // leave behind what clients have written since
	Report   func(upgrade.Event)
}

// Upgrade upgrades a database of this host, or says in a NeedsConfirm what it
// would do, with the plan as the result.
func Upgrade(ctx context.Context, env *tool.Env, in UpgradeInput) (upgrade.Result, error) {
	o := upgrade.Options{Backup: in.Backup, Report: in.Report, Now: env.Now, Discard: in.Discard}
	if in.Resume || in.RollBack {
		return goOn(ctx, in, o)
	}
	request, err := upgradeRequest(ctx, env, in)
	if err != nil {
		return upgrade.Result{}, err
	}
	if in.Confirm {
		return upgrade.Run(ctx, request, o)
	}
	plan, err := upgrade.Look(ctx, request, o)
	if err != nil {
		return upgrade.Result{}, err
	}
	return upgrade.Result{Plan: plan}, unconfirmed("take the %d steps of the plan", len(plan.Steps))
}

func unconfirmed(format string, args ...any) error {
	return &tool.NeedsConfirm{
		Would: fmt.Sprintf(format, args...),
		Cost:  "It changes this host; every step can be taken back.",
	}
}

// upgradeRequest asks the index what ways there are.
func upgradeRequest(ctx context.Context, env *tool.Env, in UpgradeInput) (r engine.Request, err error) {
	from, engine, version := targetOf(in.Engine, in.To)
	if !slices.Contains(upgrade.Engines(), from) {
		return r, tool.InputErrorf("svc db upgrade", "databases of %.80q are not upgraded here: those of %s are; svc db upgrade-path says what ways others have", in.Engine, strings.Join(upgrade.Engines(), ", "))
	}
	c, err := env.Client(ctx)
	if err != nil {
		return r, err
	}
	if r.Graph, err = engineGraph(ctx, c, from, engine); err != nil {
		return r, err
	}
	r.Engine, r.Instance, r.To.Engine = from, in.Instance, engine
	if r.To.Version, err = versionOf(r.Graph, engine, version); err != nil {
		return r, err
	}
	r.To.Version, _ = r.Graph.SeriesOf(r.To)
	return r, nil
}

// goOn resumes an upgrade, or takes it back.
func goOn(ctx context.Context, in UpgradeInput, o upgrade.Options) (upgrade.Result, error) {
	plan, outcome, err := upgrade.Begun(ctx, o)
	if errors.Is(err, upgrade.ErrNoJournal) {
		return upgrade.Result{}, fmt.Errorf("%w: %s has no journal; nothing was changed: name the --backup-dir that the upgrade was begun with", err, in.Backup)
	}
	if err != nil {
		return upgrade.Result{}, err
	}
	switch {
	case in.Confirm && in.Resume:
		return upgrade.Resume(ctx, o)
	case in.Confirm:
		return upgrade.RollBack(ctx, o)
	case in.Resume:
		return upgrade.Result{Plan: plan, Outcome: outcome}, unconfirmed("undo the step that was cut short, and take it and those after it")
	}
	would := "undo the steps that have begun, the last first"
	if plan.Written != nil && len(plan.Written.Signs) > 0 {
		would += fmt.Sprintf(", and, with --discard-writes alone, leave behind in %s what was written: %s", plan.Written.Kept, plan.Written)
	}
	return upgrade.Result{Plan: plan, Outcome: outcome}, unconfirmed("%s", would)
}
