package several

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/sliced"
	"svc/tools/fleet"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/readiness"
	"svc/tools/tool"
)

// Move is the move of many machines, once it is known that it may begin.
type Move struct {
	Order  []Listed // what could be planned, in the order of the move; then what could not be read
	Fleet  *fleet.Document
	unread map[string]string

	mu   sync.Mutex
	done map[string]bool
}

// MoveInput is what Prepare takes.
type MoveInput struct {
	Machines []Listed
	Migrate  move.Input // what holds for all
	Parallel int
	Patience time.Duration // for one machine
}

// ErrCapacity means that an account has no room for all: no seat was claimed.
var ErrCapacity = errors.New("no seat was claimed and nothing was written")

// Prepare looks at all machines, for free, and refuses a move for which the account's
// capacity does not suffice: before the first seat is claimed, and saying how far it
// would reach. Unconfirmed it says what a confirmed call would do.
func Prepare(ctx context.Context, env *tool.Env, in MoveInput) (*Move, error) {
	members, listed := []machine.Member{}, map[string]Listed{}
	for _, m := range in.Machines {
		members, listed[m.Name()] = append(members, m.Member()), m
	}
	d, err := readiness.Of(ctx, env, readiness.Input{Members: members, Target: in.Migrate.Target, Parallel: in.Parallel, Patience: in.Patience, Hazards: in.Migrate.Hazards})
	if err != nil {
		return nil, fmt.Errorf("looking at the machines before the first seat is claimed: %w", err)
	}
	m := &Move{Fleet: d, unread: map[string]string{}, done: map[string]bool{}}
	planned := d.Order()
	for _, machine := range planned {
		l := listed[machine.Name]
		l.Wave = machine.Wave
		m.Order = append(m.Order, l)
	}
	for _, machine := range d.Machines {
		if machine.Verdict == fleet.Unreadable {
			m.Order, m.unread[machine.Name] = append(m.Order, listed[machine.Name]), machine.Error
		}
	}
	if !in.Migrate.Confirm {
		needs := ""
		if in.Migrate.Out == "" {
			needs = "out, the folder to write to"
		}
		return nil, &tool.NeedsConfirm{
			Would: fmt.Sprintf("write to a folder for each the plan of the move of %d of %d machines to %s, with an inventory and one site.yml for all; %d are blocked, and %d can't be read", len(planned), d.Totals.Machines, d.Target, d.Totals.Blocked, d.Totals.Unreadable),
			Cost:  cost(d.Cost), Seat: d.Cost.SeatsNeeded > 0, Needs: needs,
		}
	}
	c, err := env.Client(ctx)
	if err != nil {
		return nil, err
	}
	account, err := client.Call(ctx, c, api.GetAccount, api.None{})
	if err != nil {
		return nil, err
	}
	return m, m.room(account)
}

// cost says what the seats of all cost.
func cost(c fleet.Cost) string {
	text := fmt.Sprintf("It claims up to %d licence seats, one for each machine that succeeds, for ever", c.SeatsNeeded)
	if c.CapacityLeft != nil {
		text += fmt.Sprintf("; %d are left", *c.CapacityLeft)
	}
	if c.Price > 0 {
		text += fmt.Sprintf(", and the others cost %d USD a year at the On-Demand rate, where the account pays for more", c.Price)
	}
	return text + "; a repeat is free."
}

// room refuses a move for which an account has not seats enough. A paying one goes
// beyond its capacity, at the On-Demand rate, up to its limit of machines.
func (m *Move) room(a api.Account) error {
	if a.Unlimited || m.Fleet.Cost.CapacityLeft == nil {
		return nil
	}
	seats := max(0, a.VMLimit-a.BillableInstances)
	if paying := []api.Plan{api.PlanOnDemand, api.PlanPro, api.PlanFleet}; !slices.Contains(paying, a.Plan) {
		seats = min(seats, *m.Fleet.Cost.CapacityLeft)
	}
	reached, planned := m.Fleet.Reach(seats), len(m.Fleet.Order())
	if len(reached) == planned {
		return nil
	}
	how := "it would reach none of them"
	if n := len(reached); n > 0 {
		how = fmt.Sprintf("in the order of the move it would reach %d of them, up to %s", n, reached[n-1].Name)
	}
	return fmt.Errorf("the %d machines need %d seats, and the account has room for %d: %s; %w: name fewer machines, or add capacity%s", planned, m.Fleet.Cost.SeatsNeeded, seats, how, ErrCapacity, m.others())
}

// others says how many machines there are besides those that could be planned, and what
// is the matter with the first of them.
func (m *Move) others() string {
	for _, machine := range m.Fleet.Machines {
		if why, ok := m.unread[machine.Name]; ok {
			return fmt.Sprintf(". %d more could not be read, such as %s: %s", len(m.unread), machine.Name, why)
		}
	}
	return ""
}

// Migrate moves one machine, into its folder below the out of all. What could not be
// read a moment ago is not read again.
func (m *Move) Migrate(ctx context.Context, env *tool.Env, of Listed, in move.Input) (move.Result, error) {
	if why, ok := m.unread[of.Name()]; ok {
		return move.Result{}, errors.New(why)
	}
	in.Machine, in.Out = of.Machine, filepath.Join(in.Out, of.Name())
	r, err := move.Migrate(ctx, env, in)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.done[of.Name()] = true
	}
	return r, err
}

// Done are the machines that were moved, in the order of the move.
func (m *Move) Done() []fleet.Machine {
	return sliced.Filter(m.Fleet.Order(), func(machine fleet.Machine) bool { return m.done[machine.Name] })
}
