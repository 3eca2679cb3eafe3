package rehearsal

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/migration"
	"svc/tools/rehearsal/sites"
)

// judge has what was observed.
type judge struct{ Input }

// kinds are the functions that a machine may have, and how each is judged: the
// table by which an assessment becomes a list of checks. What takes something that
// was started can't be told where nothing was.
var kinds = []struct {
	name    string
	judge   func(judge) []Check
	started bool
}{
	{"unit", judge.units, false}, // whether it is there is told by files
	{"port", judge.ports, true},
	{"configuration", judge.configuration, false},
	{"settings", judge.settings, false},
	{"site", judge.sites, true},
	{"database", func(j judge) []Check { return j.catalogues("database") }, true},
	{"listing", func(j judge) []Check { return j.catalogues("listing") }, true}, // what others serve and can load
	{"data", judge.data, true},
	{"mend", judge.mends, true},
	{"timer", judge.timers, true},
	{"cron", judge.cron, false},
	{"program", judge.programs, false},
	{"account", judge.accounts, false},
	{"session", judge.sessions, false},
	{"certificate", judge.certificates, false},
	{"own", judge.own, true},
}

// Words for why something was not tried.
const (
	needsData    = "It needs data, which were not moved: try it with --with-data."
	notOnSource  = "It did not run on the source's own copy either, so the move can't be judged by it."
	notRead      = "It did not run on the source's own copy either, which lacks what could not be read of the source."
	notStarted   = "Nothing was started in the target, which was not booted."
	needsDevices = "It needs what no sandbox has: a network, devices or the kernel's own settings."
)

// placeNow is where the target has a file of the source.
func (j judge) placeNow(name string) string { return PlaceNow(j.Plan, name) }

// level takes back what was said of a function that only something started shows.
func (j judge) level(c *Check, started bool) {
	if j.Level == Chroot && started && c.Verdict == Fails {
		c.Verdict, c.Target, c.Why = Untried, "", notStarted
	}
}

// units are services that run, or should.
func (j judge) units() (all []Check) {
	for _, name := range slices.Sorted(maps.Keys(j.wanted())) {
		to := j.unitNow(name)
		c := Check{Subject: to, Verdict: Runs, Source: j.wanted()[name]}
		if to != name {
			c.Source = name + ", " + c.Source
		}
		s, known := j.Target.Services[to]
		c.Target = s.Active
		switch {
		case j.Level == Chroot && (j.stateNow(to) != "" || strings.Contains(to, "@")):
			c.Verdict, c.Target, c.Why = Untried, j.stateNow(to), notStarted
		case (!known || !s.Loaded) && !j.takenOver(to):
			c.Verdict, c.Target, c.Why = Fails, "no such unit", "The target has no unit of this name."
			if state := j.stateNow(to); state != "" {
				c.Target, c.Why = state, "Its unit is "+state+" on the target."
			}
		case s.Active == "active", s.Active == "inactive" && (s.Triggered || s.Type == "oneshot"), j.takenOver(to):
		case s.Active == "inactive" && s.Refused && strings.Contains(strings.Join(j.Target.Logs[to], " "), "ConditionVirtualization"):
			c.Verdict, c.Why = Untried, needsDevices
		case s.Active == "failed" && j.wantsHardware(to):
			c.Verdict, c.Why = Untried, needsDevices
		case s.Active == "inactive" && s.Refused:
			c.Verdict, c.Why = Fails, "A condition of its unit is not met on the target."
		default:
			c.Verdict, c.Why = Fails, "It is "+s.Active+" on the target."
		}
		if c.Verdict != Runs {
			c.Log = j.Target.Logs[to]
		}
		if c.Verdict == Fails && j.failedUnread(name) {
			c.Verdict, c.Why = Untried, notRead
		}
		all = append(all, c)
	}
	return append(all, j.anewFailed(all)...)
}

// failedUnread reports whether a unit failed in a copy of the source that lacks what
// could not be read.
func (j judge) failedUnread(unit string) bool {
	is, ran := j.sourceState(unit)
	return ran && is == "failed" && len(j.Unread) > 0
}

// anewFailed are services that the target alone has fail, beside those that were asked
// about: what was written for a program that the source's release has not, for one.
func (j judge) anewFailed(asked []Check) (all []Check) {
	if j.Source == nil || j.Level == Chroot {
		return nil
	}
	base := basePackages(j.Target.Assessment)
	of := sliced.Index(j.Target.Assessment.Services, func(u assess.Unit) (string, string) { return serviceName(u), u.Package })
	for _, name := range slices.Sorted(maps.Keys(j.Target.Services)) {
		was, known := j.sourceState(name)
		switch {
		case j.Target.Services[name].Active != "failed", plumbing(name), base[of[name]], known && was != "active" && was != "inactive":
			continue
		case slices.ContainsFunc(asked, func(c Check) bool { return c.Subject == name }):
			continue
		}
		c := Check{Subject: name, Verdict: Fails, Source: cmp.Or(was, "no such unit"), Target: "failed", Why: "It is failed on the target, and was not on the source.", Log: j.Target.Logs[name]}
		if j.wantsHardware(name) {
			c.Verdict, c.Why = Untried, needsDevices
		}
		all = append(all, c)
	}
	return all
}

// hardware are words of programs that want what no sandbox has: the clock, the kernel's
// random numbers and its audit, a TPM.
var hardware = lazyregexp.New(`adjtimex\(|RNDADDENTROPY failed|/dev/tpm|TCSD TDDL.*Could not find a device|The audit system is disabled`)

// wantsHardware reports whether a unit failed since it wants some.
func (j judge) wantsHardware(unit string) bool {
	return hardware.MatchString(strings.Join(j.Target.Logs[unit], " "))
}

// stateNow is how a unit is set on the target, whose file is there.
func (j judge) stateNow(name string) string {
	return sliced.First(j.Target.Assessment.Services, func(u assess.Unit) bool {
		return serviceName(u) == name
	}).State
}

// takenOver reports whether an instance's work is that of a service without one:
// postfix@-.service is postfix.service in a later release.
func (j judge) takenOver(instance string) bool {
	template, _, ok := strings.Cut(instance, "@")
	s := j.Target.Services[template+".service"]
	return ok && s.Active == "active" && s.Type != "oneshot"
}

// wanted are the source's services that a move is for, by name, with what they were:
// those that ran in its copy or, where that was not booted or lacks what they need,
// those that are enabled.
func (j judge) wanted() map[string]string {
	all, base := map[string]string{}, basePackages(j.Before)
	for _, u := range j.Before.Services {
		enabled := u.State == "enabled" || u.State == "enabled-runtime" || u.State == "linked"
		if path.Ext(u.Name) != ".service" && u.Manager == "systemd" || strings.HasSuffix(u.Name, "@.service") || base[u.Package] && !u.Local && len(u.Dropins) == 0 {
			continue
		}
		name := serviceName(u)
		switch is, ran := j.sourceState(name); {
		case j.Source == nil && enabled:
			all[name] = "enabled"
		case ran && is == "active":
			all[name] = "active"
		case enabled && j.failedUnread(name):
			all[name] = "enabled"
		}
	}
	if j.Source == nil {
		return all
	}
	for _, u := range j.Source.Assessment.Running.Units { // instances of templates, and what others start
		if instance := strings.Contains(u.Name, "@"); instance && u.State == "active" && path.Ext(u.Name) == ".service" && !plumbing(u.Name) {
			all[u.Name] = "active"
		}
	}
	return all
}

func serviceName(u assess.Unit) string {
	if path.Ext(u.Name) == "" {
		return u.Name + ".service" // as systemd calls a script of init
	}
	return u.Name
}

// plumbing are instances that every system has of its own.
func plumbing(unit string) bool {
	return slices.ContainsFunc([]string{"getty@", "serial-getty@", "user@", "user-runtime-dir@", "systemd-", "modprobe@", "ifup@", "container-getty@"}, func(s string) bool { return strings.HasPrefix(unit, s) })
}

func (j judge) sourceState(unit string) (active string, known bool) {
	if j.Source == nil || j.Source.Services == nil {
		return "", false
	}
	s, known := j.Source.Services[unit]
	return s.Active, known
}

// basePackages are those that every installation begins with: their services are
// the target's own affair.
func basePackages(a *assess.Assessment) map[string]bool {
	return sliced.Index(a.Packages, func(p assess.Package) (string, bool) { return p.Name, p.Base || p.Essential })
}

// unitNow is what the target calls a unit.
func (j judge) unitNow(name string) string {
	if to := sliced.First(j.Plan.Services, func(s migration.Service) bool { return s.Unit == name && s.To != "" }).To; to != "" {
		return to
	}
	template, instance, ok := strings.Cut(name, "@")
	if !ok || instance == ".service" {
		return name
	}
	if now := j.unitNow(template + "@.service"); now != template+"@.service" {
		return strings.TrimSuffix(now, ".service") + instance
	}
	return j.ofOtherVersion(name)
}

// versioned is the beginning of an instance's name that is a version: @15-main.
var versioned = lazyregexp.New(`@[0-9]+(\.[0-9]+)*-`)

// ofOtherVersion is the target's instance where an instance is named by its program's
// version: postgresql@15-main is postgresql@17-main. It is the name as it was where the
// target has that, or not exactly one that differs in its version alone.
func (j judge) ofOtherVersion(instance string) string {
	if j.Target.Services[instance].Loaded || !versioned.MatchString(instance) {
		return instance
	}
	plain := func(unit string) string { return versioned.ReplaceAllString(unit, "@") }
	var found []string
	for other, s := range j.Target.Services {
		if s.Loaded && versioned.MatchString(other) && plain(other) == plain(instance) {
			found = append(found, other)
		}
	}
	if len(found) != 1 {
		return instance
	}
	return found[0]
}

// place is where a machine listens.
type place struct {
	protocol string // tcp or udp
	port     int
}

// listens are a machine's places, with whether others reach them.
func listens(o *Observed) map[place]bool {
	all := map[place]bool{}
	if o == nil || o.Assessment.Running == nil {
		return all
	}
	for _, s := range o.Assessment.Running.Sockets {
		if s.Port < o.Assessment.Running.Ephemeral() || s.Protocol == "tcp" || s.Protocol == "tcp6" {
			at := place{s.Transport(), s.Port}
			all[at] = all[at] || !loopback(s.Address)
		}
	}
	return all
}

func loopback(address string) bool { return strings.HasPrefix(address, "127.") || address == "::1" }

// listenedBy names who listens at a place.
func listenedBy(o *Observed, at place) string {
	if o == nil || o.Assessment.Running == nil {
		return ""
	}
	return sliced.First(o.Assessment.Running.Sockets, func(s assess.Socket) bool {
		return s.Port == at.port && s.Transport() == at.protocol && s.Program != ""
	}).Program
}

// expected are the places of the source: those of its copy that ran, else what its
// files say.
func (j judge) expected() map[place]bool {
	if j.Source != nil {
		return listens(j.Source)
	}
	if j.Before.Running != nil {
		return listens(&Observed{Assessment: j.Before})
	}
	all := sliced.SetOf(sites.Requests(j.Before), func(r sites.Request) place { return place{"tcp", r.Port} })
	for _, d := range j.Before.Databases {
		if d.Port != 0 {
			all[place{"tcp", d.Port}] = true
		}
	}
	return all
}

func (j judge) ports() (all []Check) {
	want, has := j.expected(), listens(j.Target)
	places := slices.SortedFunc(maps.Keys(want), func(a, b place) int {
		return strings.Compare(fmt.Sprintf("%s %05d", a.protocol, a.port), fmt.Sprintf("%s %05d", b.protocol, b.port))
	})
	runs := j.Before.Running
	if j.Source != nil {
		runs = j.Source.Assessment.Running
	}
	for _, at := range places {
		by := listenedBy(j.Source, at)
		if at.port >= runs.Ephemeral() && (by == "" || by == "systemd") || j.drawn(at) {
			continue
		}
		c := Check{Subject: fmt.Sprintf("%s %d", at.protocol, at.port), Verdict: Runs, Source: strings.TrimSpace(by + " " + reach(want[at]))}
		open, listening := has[at]
		switch {
		case j.Target.Assessment.Running == nil:
			c.Verdict, c.Why = Untried, notStarted
		case !listening:
			c.Verdict, c.Target, c.Why = Fails, "closed", "Nothing listens there on the target."
			unit := j.unitOf(by)
			c.Log = j.Target.Logs[unit]
			if j.Target.Services[unit].Active == "failed" && j.wantsHardware(unit) {
				c.Verdict, c.Why = Untried, needsDevices
			}
		default:
			c.Target = strings.TrimSpace(listenedBy(j.Target, at) + " " + reach(open))
			j.greeted(&c, at)
			if j.Source != nil && open != want[at] && c.Verdict == Runs {
				c.Verdict, c.Why = Fails, fmt.Sprintf("The source listens %s, the target %s.", reach(want[at]), reach(open))
			}
		}
		all = append(all, c)
	}
	return all
}

// drawn reports whether the source's copy listens at a place that was drawn, and not set:
// it says nothing of the target, where another one was.
func (j judge) drawn(at place) bool {
	if j.Source == nil || j.Source.Assessment.Running == nil || j.Target.Assessment.Running == nil {
		return false
	}
	return j.Source.Assessment.Running.Drew(j.Target.Assessment.Running, func(s assess.Socket) bool { return s.Port == at.port && s.Transport() == at.protocol })
}

func reach(open bool) string {
	if open {
		return "for others"
	}
	return "for itself alone"
}

// greeted holds how a port greets against how the source's copy did.
func (j judge) greeted(c *Check, at place) {
	if j.Source == nil || at.protocol != "tcp" {
		return
	}
	before, now := j.Source.Greetings[at.port], j.Target.Greetings[at.port]
	switch {
	case before.Open && !now.Open:
		c.Verdict, c.Why = Fails, "It takes no connection on the target."
	case word(before.First) != "" && word(now.First) == "":
		c.Verdict, c.Why = Fails, fmt.Sprintf("It said %q first on the source, and says nothing on the target.", before.First)
	}
}

// word is the first word of a greeting, to the first digit or sign: SSH, +OK, 220.
func word(greeting string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(greeting), " ")
	return first
}

// unitOf is the target's unit that a program of the source belongs to; empty where it is of none.
func (j judge) unitOf(program string) string {
	if program == "" || j.Source == nil {
		return ""
	}
	of := sliced.First(j.Source.Assessment.Running.Sockets, func(s assess.Socket) bool { return s.Program == program && s.Unit != "" })
	if of.Unit == "" {
		return ""
	}
	return j.unitNow(of.Unit)
}

// configuration are services' own checks of theirs.
func (j judge) configuration() (all []Check) {
	fails := map[string]string{}
	if j.Source != nil {
		for _, a := range j.Source.Answers {
			if !a.OK() && a.Err == nil {
				fails[a.Name+" "+path.Base(a.File)] = a.Text
			}
		}
	}
	for _, a := range j.Target.Answers {
		c := Check{Subject: a.Command, Verdict: Runs, Target: "takes it"}
		before, failed := fails[a.Name+" "+path.Base(a.File)]
		switch {
		case a.Err != nil:
			c.Verdict, c.Why = Untried, a.Err.Error()
		case a.OK():
		case failed:
			c.Verdict, c.Why, c.Source, c.Target = Untried, notOnSource, before, a.Text
		case j.Level == Chroot && strings.Contains(a.Text, "/run/"): // which who starts a service makes
			c.Verdict, c.Why, c.Target = Untried, notStarted, a.Text
		default:
			c.Verdict, c.Target, c.Log = Fails, "refuses it", []string{a.Text}
			c.Why = fmt.Sprintf("%s: its own check of its configuration ends with status %d.", a.Name, a.Status)
		}
		all = append(all, c)
	}
	return all
}

// settings are files of services that ran, which no rule carries: where nobody wrote
// them on the target, what they say does not hold there.
func (j judge) settings() (all []Check) {
	for _, row := range j.Plan.Configuration {
		if row.Action != migration.Manual || !j.ran(row.Package, row.From) {
			continue
		}
		c := Check{Subject: row.From, Verdict: Runs}
		if !slices.ContainsFunc(j.Target.Assessment.Configuration, func(f assess.ConfigFile) bool { return f.Path == row.From && f.State != assess.ConfigMissing }) && !j.Same(row.From) {
			c.Verdict, c.Why = Fails, "What it says does not hold on the target, for it is not carried: "+row.Reason
		}
		all = append(all, c)
	}
	return all
}

// ran reports whether a service ran on the source whose file this is: by its
// package, or by the folder of it that the package's service is called by.
func (j judge) ran(pkg, file string) bool {
	folder, _, _ := strings.Cut(strings.TrimPrefix(file, "/etc/"), "/")
	wanted := j.wanted()
	return slices.ContainsFunc(j.Before.Services, func(u assess.Unit) bool {
		return wanted[serviceName(u)] != "" && (pkg != "" && u.Package == pkg || strings.TrimSuffix(serviceName(u), ".service") == folder)
	})
}

// timers are those that wait for their time, and units that wait for files.
func (j judge) timers() (all []Check) {
	base := basePackages(j.Before)
	paths := sliced.Filter(j.Before.Services, func(u assess.Unit) bool { return path.Ext(u.Name) == ".path" })
	for _, u := range slices.Concat(j.Before.Timers, paths) {
		if u.State != "enabled" || base[u.Package] && !u.Local {
			continue
		}
		if j.Source != nil && !slices.ContainsFunc(j.Source.Assessment.Running.Units, func(r assess.RunningUnit) bool { return r.Name == u.Name && r.State == "active" }) {
			continue
		}
		c := Check{Subject: j.unitNow(u.Name), Verdict: Runs, Source: u.Schedule}
		if r := j.Target.Assessment.Running; r == nil || !slices.ContainsFunc(r.Units, func(r assess.RunningUnit) bool { return r.Name == c.Subject && r.State == "active" }) {
			c.Verdict, c.Target, c.Why = Fails, "not active", "It waits for nothing on the target: it starts nothing."
			c.Log = j.Target.Logs[c.Subject]
		}
		all = append(all, c)
	}
	return all
}

// relevant reports whether a row of the plan is about a package by name.
func relevant(p *migration.Plan, name string) (migration.Package, bool) {
	return sliced.Find(p.Packages, func(r migration.Package) bool { return r.Name == name && name != "" })
}
