package database

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/sliced"
)

// The classes of a cost, best first.
var (
	Downtimes = []string{"seconds", "minutes", "time to copy the data", "time to load the data"}
	Risks     = []string{"low", "medium", "high"}
)

// Cost is what a path costs. A path is as long down, as risky and as far from
// the preferred way as the worst of its steps.
type Cost struct {
	Downtime string `json:"downtime"`
	Risk     string `json:"risk"`
	Steps    int    `json:"steps"`
	Back     bool   `json:"back"`  // after every step, what it started from is as it was
	Rank     int    `json:"rank"`  // of the least preferred way, in the order for this move: 1 is best
	Score    int    `json:"score"` // see Weights; less is better
}

// Weights says how a score is made.
const Weights = "score = 3 × risk (low 0, medium 1, high 2) + 2 × downtime (seconds 0, minutes 1, copying 2, loading 3) + 4 × rank of the way (to a fresh host: dump 1, copy 2, replica 3, in place 4; in place: in place 1, dump 2, copy 3, replica 4) + 2 if there is no way back + steps" +
	" + 40 for a way in place where the data move to a fresh host" +
	" + how the version is offered (by default 0, by a stream or another package 1, by an add-on repository 2, by a vendor 3)"

// Step is one edge that is taken.
type Step struct {
	From     Place    `json:"from"`
	To       Place    `json:"to"`
	Method   string   `json:"method"`
	Way      Way      `json:"way"`
	Downtime string   `json:"downtime"`
	Risk     string   `json:"risk"`
	Back     bool     `json:"back"`  // what it starts from is as it was afterwards
	State    string   `json:"state"` // of what it starts from: running or stopped
	Requires []string `json:"requires"`
	Risks    []string `json:"risks"`
	Source   string   `json:"source"`

	choice int // of the record, between methods that are else alike: 1 is best
}

// Path is a way from a version to another.
type Path struct {
	Target Offer  `json:"target"`
	Cost   Cost   `json:"cost"`
	Why    string `json:"why"` // it ranks so
	Steps  []Step `json:"steps"`

	choice int
}

// cost is a path's cost as numbers, in which less is better.
type cost struct{ risk, downtime, steps, lost, rank, elsewhere, choice int }

func (m Move) cost(s Step) cost {
	c := cost{risk: slices.Index(Risks, s.Risk), downtime: slices.Index(Downtimes, s.Downtime), steps: 1, rank: m.rank(s.Way), choice: s.choice}
	if s.Way == InPlace && !m.InPlace {
		c.elsewhere = elsewhere
	}
	if !s.Back {
		c.lost = 1
	}
	return c
}

// and is the cost of a path and of what goes on from it.
func (c cost) and(o cost) cost {
	return cost{
		max(c.risk, o.risk), max(c.downtime, o.downtime), c.steps + o.steps, max(c.lost, o.lost),
		max(c.rank, o.rank), max(c.elsewhere, o.elsewhere), max(c.choice, o.choice),
	}
}

// covers reports whether c is nowhere worse than o.
func (c cost) covers(o cost) bool {
	return c.risk <= o.risk && c.downtime <= o.downtime && c.steps <= o.steps && c.lost <= o.lost && c.rank <= o.rank && c.elsewhere <= o.elsewhere && c.choice <= o.choice
}

func (c cost) score() int {
	return 3*c.risk + 2*c.downtime + 4*c.rank + 2*c.lost + c.steps + c.elsewhere
}

func (c cost) describe(effort int) Cost {
	return Cost{Downtimes[c.downtime], Risks[c.risk], c.steps, c.lost == 0, c.rank, c.score() + effort}
}

// steps are the edges that lead away from a place.
func (g Graph) steps(from Place) []Step {
	var all []Step
	for _, e := range g.record[from.Engine].Edges {
		if !from.Version.within(e.From) || !slices.Contains(Risks, e.Risk) || !slices.Contains(Downtimes, e.Downtime) {
			continue
		}
		all = append(all, sliced.Map(g.reach(from, e.To), func(to Place) Step { return newStep(from, to, e) })...)
	}
	return all
}

func newStep(from, to Place, e api.UpgradeEdge) Step {
	return Step{
		From: from, To: to, Method: e.Method, Way: WayOf(e.Method), Downtime: e.Downtime, Risk: e.Risk, Back: e.Back, State: e.State,
		Requires: e.Requires, Risks: e.Risks, Source: e.Source, choice: e.Rank,
	}
}

// Edge is the one step from a place to another by a method, where it is on record.
func (g Graph) Edge(from, to Place, method string) (Step, bool) {
	return sliced.Find(g.steps(from), func(s Step) bool { return s.To == to && s.Method == method })
}

// trail is a path in the making.
type trail struct {
	cost  cost
	steps []Step
}

// maxSteps bounds a path: MongoDB has the longest, a step for each version.
const maxSteps = 16

// search finds, for every place that can be reached on the way to one, the paths
// that no other is better than in anything without being worse in something:
// one for each cost. Where the source is offline, no step needs it to run.
func (g Graph) search(from, to Place, m Move) map[Place][]trail {
	steps := g.allowed(to.Engine, m.Offline)
	best := map[Place][]trail{}
	open := sliced.Map(steps(from), func(s Step) trail { return trail{m.cost(s), []Step{s}} })
	for len(open) > 0 {
		var next []trail
		for _, t := range open {
			at := t.steps[len(t.steps)-1].To
			if !keep(best, at, t) || at == to || len(t.steps) == maxSteps {
				continue
			}
			next = append(next, sliced.Map(steps(at), func(s Step) trail { return trail{t.cost.and(m.cost(s)), append(slices.Clip(t.steps), s)} })...)
		}
		open = next
	}
	return best
}

// allowed gives the steps that lead away from a place, each place's once. The
// engine changes once at most, and to the one that is wanted.
func (g Graph) allowed(engine string, offline bool) func(Place) []Step {
	known := map[Place][]Step{}
	return func(p Place) []Step {
		if _, ok := known[p]; !ok {
			known[p] = slices.DeleteFunc(g.steps(p), func(s Step) bool {
				return offline && s.State == "running" || s.To.Engine != p.Engine && s.To.Engine != engine
			})
		}
		return known[p]
	}
}

// keep adds a trail to those of a place, unless one there covers it, and drops
// those that it covers.
func keep(best map[Place][]trail, at Place, t trail) bool {
	if slices.ContainsFunc(best[at], func(o trail) bool { return o.cost.covers(t.cost) }) {
		return false
	}
	best[at] = append(slices.DeleteFunc(best[at], func(o trail) bool { return t.cost.covers(o.cost) }), t)
	return true
}

// Paths are the ways from a version to an offered one, the best first.
func (g Graph) Paths(from Place, to Offer, m Move) []Path {
	paths := []Path{}
	for _, t := range g.search(from, to.Place, m)[to.Place] {
		c := t.cost.describe(to.effort())
		paths = append(paths, Path{to, c, why(t, c, to), t.steps, t.cost.choice})
	}
	rank(paths)
	return paths
}

// rank sorts paths, the best first: by score, then by what can go wrong.
func rank(paths []Path) {
	slices.SortStableFunc(paths, func(a, b Path) int {
		return cmp.Or(
			cmp.Compare(a.Cost.Score, b.Cost.Score), cmp.Compare(a.Cost.Rank, b.Cost.Rank),
			cmp.Compare(slices.Index(Risks, a.Cost.Risk), slices.Index(Risks, b.Cost.Risk)), cmp.Compare(lost(a), lost(b)), cmp.Compare(a.choice, b.choice),
			-a.Target.Version.Compare(b.Target.Version), cmp.Compare(a.Methods(), b.Methods()),
		)
	})
}

// lost is 1 where there is no way back.
func lost(p Path) int {
	if p.Cost.Back {
		return 0
	}
	return 1
}

// Methods names what the steps are made by.
func (p *Path) Methods() string {
	return strings.Join(sliced.Map(p.Steps, func(s Step) string { return s.Method }), ", ")
}

// why says what a path's score is made of.
func why(t trail, c Cost, to Offer) string {
	there := ""
	if t.cost.elsewhere > 0 {
		there = fmt.Sprintf(" + %d as it works on the old host", t.cost.elsewhere)
	}
	back := "the source stays as it was"
	if !c.Back {
		back = "the way back is a backup"
	}
	steps := "one step"
	if c.Steps > 1 {
		steps = fmt.Sprintf("%d steps", c.Steps)
	}
	return fmt.Sprintf("%s; risk %s; down for %s; %s; score %d = 3×%d risk + 2×%d downtime + 4×%d rank + 2×%d no way back + %d%s + %d for how it is offered",
		steps, c.Risk, c.Downtime, back, c.Score, t.cost.risk, t.cost.downtime, t.cost.rank, t.cost.lost, t.cost.steps, there, to.effort())
}

// Barrier is a way that does not work.
type Barrier struct {
	From    Place  `json:"from"`
	To      Place  `json:"to"`
	Method  string `json:"method"`
	Why     string `json:"why"`
	Instead string `json:"instead"` // what would make it possible
	Source  string `json:"source"`
}

// Barriers are the ways between two versions that do not work, though one might
// think so. Where the source is offline, those that need it to run are among them.
func (g Graph) Barriers(from, to Place, m Move) []Barrier {
	known := sliced.FilterMap(g.record[from.Engine].Barriers, func(b api.UpgradeBarrier) (Barrier, bool) {
		return Barrier{from, to, b.Method, b.Why, b.Instead, b.Source}, from.Version.within(b.From) && slices.Contains(g.reach(from, b.To), to)
	})
	return append(known, sliced.FilterMap(g.steps(from), func(s Step) (Barrier, bool) {
		const why, instead = "it needs the source running, and source_offline says that it is stopped and stays so", "the source started for the time of it"
		return Barrier{from, to, s.Method, why, instead, s.Source}, m.Offline && s.State == "running" && s.To == to
	})...)
}
