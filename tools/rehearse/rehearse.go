//go:build linux

// Package rehearse tries the move of a machine: it boots a copy of the source and a fresh
// target apart from everything, and says what runs.
package rehearse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/assess/host"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/artifact"
	"svc/tools/cvescan"
	"svc/tools/evidence"
	"svc/tools/fixes"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/rehearsal"
	"svc/tools/rehearsal/observe"
	"svc/tools/rehearsal/sites"
	"svc/tools/rehearsal/tap"
	"svc/tools/rehearsal/unpack"
	"svc/tools/report"
	"svc/tools/role"
	"svc/tools/sandbox"
	"svc/tools/sandbox/base"
	"svc/tools/tool"
)

// Input is the input of Move.
type Input struct {
	machine.Machine
	Target   string
	Out      string
	WithData bool
	Base     string // folder or disk image of a fresh root of the target; made where it is empty
	Archive  string // of the target's packages, in place of the release's own
	Fixes    string // folder of what a person adds to the role
	Checks   string // folder of programs that a person checks a machine with
	Hazards  string // folder of tables of known trouble, beside the program's own
	Limits   sandbox.Limits
}

// Result is a rehearsal, and where it was written.
type Result struct {
	rehearsal.Document
	Out       string              `json:"out"`
	Artifacts []evidence.Artifact `json:"artifacts"`
}

// rehearsing is a rehearsal on its way.
type rehearsing struct {
	*move.Move
	in       Input
	dir      string // of its own, with what is taken away at its end
	base     base.Base
	lower    []string // folders of the target's root
	how      string
	fixes    []role.Fix
	previous *rehearsal.Document // in out
	source   *booted             // the source's copy; nil where it does not run
	target   *booted
	files    string   // folder with the source's files; empty over ssh
	unread   []string // of them, what could not be read
	people   people
	role     rehearsal.Role
	steps    []rehearsal.Step
	data     []rehearsal.Step
	mends    []rehearsal.Step
	noting   sync.Mutex // of remarks: the source's copy and the target are made beside each other
	remarks  []string
	level    rehearsal.Level
	log      []byte // of Ansible
	document *rehearsal.Document
}

// booted is a root that runs in a sandbox, and what it was observed to do.
type booted struct {
	*sandbox.Sandbox
	since    time.Time
	observed *rehearsal.Observed
	own      []tap.Result
}

// Move tries the move of a machine on a throw-away target, apart from everything,
// and says function by function what runs. The machine is only read; nothing of this
// host is changed, and nothing is left of it but what it says, and roots and packages
// of the target's release that are kept for the next one.
func Move(ctx context.Context, env *tool.Env, in Input) (Result, error) {
	r := &rehearsing{Move: move.New(env, move.Input{Machine: in.Machine, Target: in.Target, Out: in.Out, Preflight: true, IncludeSecrets: true, Fixes: in.Fixes, Hazards: in.Hazards}), in: in, level: rehearsal.Booted}
	if err := r.checkInput(); err != nil {
		return Result{}, err
	}
	for _, f := range sandbox.Kept() {
		host.KnowOwner(f.Device, f.Number, host.Ownership{UID: int(f.UID), GID: int(f.GID)})
	}
	if err := r.Begin(ctx); err != nil {
		return Result{}, err
	}
	defer r.Close()
	if err := job.Authorize(ctx, r.Client, r.Usage(api.Preflight)); err != nil {
		return Result{}, err
	}
	if err := r.Prepare(ctx); err != nil {
		return Result{}, err
	}
	r.chooseLevel()
	dir, release, err := sandbox.Claim(filepath.Join(env.Rehearsals, "running"))
	if err != nil {
		return Result{}, err
	}
	r.dir = dir
	err = errors.Join(r.try(ctx), r.end(), release())
	if err != nil {
		return Result{}, err
	}
	return r.write(ctx)
}

// checkInput looks at the input, before anything is read.
func (r *rehearsing) checkInput() error {
	if r.in.Out == "" {
		return &tool.InputError{Tool: "svc rehearse", Err: errors.New("out is required: the folder to write to")}
	}
	if r.in.WithData && r.in.SSH != "" {
		return &tool.InputError{Tool: "svc rehearse", Err: errors.New("data are taken from a disk, never from a running service: name the machine by its root or its image")}
	}
	if err := r.Check(); err != nil { // of a plan that writes nothing
		return err
	}
	if err := job.CheckOut(r.in.Machine, r.in.Out, evidence.RehearsalFile); err != nil {
		return err
	}
	if err := sandbox.Available(); err != nil {
		return err
	}
	if err := ansible(); err != nil {
		return err
	}
	var err error
	if r.in.Base == "" {
		if r.base, err = base.Of(r.Target.Slug, r.in.Archive); err == nil {
			err = r.base.Makes()
		}
		if err != nil {
			return err
		}
	}
	if r.fixes, err = fixes.Read(r.in.Fixes); err != nil {
		return err
	}
	r.previous = readPrevious(r.in.Out)
	return nil
}

// try makes a target, gives it the machine, and observes both.
func (r *rehearsing) try(ctx context.Context) (err error) {
	if err := r.unpack(ctx); err != nil {
		return err
	}
	r.findPrograms(ctx)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil) // of which both machines would end
	var both sync.WaitGroup
	for _, machine := range []func(context.Context) error{r.readCopy, r.makeTarget} {
		both.Go(func() {
			if err := machine(ctx); err != nil {
				fail(err) // the other is not waited for
			}
		})
	}
	both.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	steps := []func(context.Context) error{r.mendAll(report.BeforeData)}
	if r.in.WithData {
		steps = append(steps, r.moveData, r.applyRole, r.mendAll(report.OnceMore))
	}
	steps = append(steps, r.reboot, r.observeTarget)
	if err := r.follow(ctx, steps...); err != nil {
		return err
	}
	if err := r.target.Exceeded(); err != nil {
		r.remark("The target was ended: " + err.Error() + ".")
	}
	r.document, err = r.judge()
	return err
}

// readCopy boots a copy of the source and reads what it does. It ends then, but where
// its servers give their data.
func (r *rehearsing) readCopy(ctx context.Context) error {
	if err := r.bootSource(ctx); err != nil || r.source == nil || r.in.WithData {
		return err
	}
	return r.source.Close()
}

// makeTarget boots a fresh target and applies the role to it.
func (r *rehearsing) makeTarget(ctx context.Context) error {
	return r.follow(ctx, r.makeBase, r.bootTarget, r.applyRole)
}

// follow takes steps of the target, as long as it runs: one that took more than it may
// is no error, but what is said of it.
func (r *rehearsing) follow(ctx context.Context, steps ...func(context.Context) error) error {
	over := func() bool { return r.target != nil && r.target.Exceeded() != nil }
	for _, step := range steps {
		if over() {
			break
		}
		if err := cmp.Or(step(ctx), ctx.Err()); err != nil && (ctx.Err() != nil || !over()) {
			return err
		}
	}
	return nil
}

// remark adds what a reader should know, once.
func (r *rehearsing) remark(s string) {
	r.noting.Lock()
	defer r.noting.Unlock()
	if !slices.Contains(r.remarks, s) {
		r.remarks = append(r.remarks, s)
	}
}

// remarked is what was remarked until now: a sandbox may add to it as long as it runs.
func (r *rehearsing) remarked() []string {
	r.noting.Lock()
	defer r.noting.Unlock()
	return slices.Clone(r.remarks)
}

// chooseLevel says how far a user who is no root gets.
func (r *rehearsing) chooseLevel() {
	if !sandbox.User() {
		return
	}
	r.remark("It was tried without root, in user namespaces: what of the machine only root may read was not read.")
	if err := sandbox.Boots(); err != nil {
		r.level = rehearsal.Chroot
		r.remark("Nothing was started, neither of the source's copy nor of the target: " + err.Error() + ". As root, or where systemd gives you a group (systemd-run --user --scope svc rehearse …), both are booted.")
	}
}

// end takes the sandboxes away.
func (r *rehearsing) end() error {
	var errs []error
	for _, m := range []*booted{r.source, r.target} {
		if m != nil && m.Sandbox != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}

// bootPatience is how long services may take to start.
const bootPatience = 3 * time.Minute

// unpack makes the source's files a folder that can be booted.
func (r *rehearsing) unpack(ctx context.Context) (err error) {
	switch {
	case r.in.Root != "" && !r.Host.Live() && !sandbox.User():
		root, err := filepath.Abs(r.in.Root)
		r.files = root
		return err
	case r.in.Image != "", r.in.Root != "" && !r.Host.Live():
		r.Env.Step("copying the machine's files", 0, 1)
		if r.in.Root != "" && len(sandbox.Kept()) == 0 { // only who is no root copies a folder
			r.remark("Whose the source's files are could not be seen without root: name the machine by --root alone, or by its image.")
		}
		r.files = filepath.Join(r.dir, "image")
		r.unread, err = unpack.Copy(ctx, r.Host.FS(), r.files, r.in.limit())
		return err
	}
	r.remark("The source runs, so no copy of it was booted: the target is compared with what ran when it was read.")
	return nil
}

func (in *Input) limit() int64 { return cmp.Or(in.Limits.Disk, 20<<30) }

// bootSource boots a copy of the source, without any network, and observes it. A
// source that can't be booted is said, and is no error. It is waited for less than the
// target, so it yields; with data, its servers are waited for.
func (r *rehearsing) bootSource(ctx context.Context) error {
	if r.files == "" || r.level == rehearsal.Chroot {
		return nil
	}
	r.Env.Step("booting a copy of the source", 0, 1)
	m, err := r.boot(ctx, sandbox.Options{Lower: []string{r.files}, Dir: filepath.Join(r.dir, "source"), Name: "source", Interfaces: r.interfaces(), Limits: r.in.Limits, Yields: !r.in.WithData})
	if err != nil {
		r.remark("No copy of the source could be booted, so the target is compared with its files alone: " + oneLine(err.Error()))
		return ctx.Err()
	}
	r.source = m
	m.Settle(ctx, settling, settled)
	asked := observe.Machine{Wanted: func(string) bool { return true }, People: r.people.programs, Pages: sites.Configured(r.Assessment, r.text)}
	if m.observed, err = r.observe(ctx, m, asked); err == nil {
		m.own = r.ownChecks(ctx, m)
	}
	if err != nil {
		r.remark("The copy of the source could not be observed, so the target is compared with its files alone: " + oneLine(err.Error()))
		m.observed = nil
	}
	return ctx.Err()
}

// Services are said to be started before many of them open their ports. They get the
// time until nothing has worked for settling, but no more than settled.
const (
	settling = 2 * time.Second
	settled  = 30 * time.Second
	stopping = 5 * time.Second // as long, services that stop may do nothing
)

// boot starts a sandbox, and waits for its services.
func (r *rehearsing) boot(ctx context.Context, o sandbox.Options) (*booted, error) {
	since := time.Now()
	o.Thinned = func(group string) {
		r.remark(fmt.Sprintf("Of the %s, all processes of %s were ended: the machine wanted more processes than a rehearsal has, and this had the most.", o.Name, visible.Text(group)))
	}
	s, err := sandbox.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Plain {
		return &booted{Sandbox: s, since: since}, nil
	}
	state, err := s.Booted(ctx, bootPatience)
	if errors.Is(err, sandbox.ErrEnded) {
		err = fmt.Errorf("%w: %s", err, cmp.Or(oneLine(tail([]byte(s.Console()), 300)), "its first process said nothing"))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(), ctx.Err())
	}
	if state != "running" && state != "degraded" {
		r.remark(fmt.Sprintf("Not everything of the %s was started after %s: its systemd says %q.", o.Name, bootPatience, state))
	}
	return &booted{Sandbox: s, since: since}, nil
}

func (r *rehearsing) observe(ctx context.Context, m *booted, asked observe.Machine) (*rehearsal.Observed, error) {
	asked.Sandbox, asked.Since, asked.Before, asked.Now = m.Sandbox, m.since, r.Assessment, r.Env.Now()
	return asked.Observe(ctx)
}

// options are those of the target's sandbox.
func (r *rehearsing) options() sandbox.Options {
	o := sandbox.Options{Lower: r.lower, Dir: filepath.Join(r.dir, "target"), Name: "target", Interfaces: r.interfaces(), Limits: r.in.Limits, Proxy: sandbox.Archives(r.base.Allowed, r.Env.Log), Plain: r.level == rehearsal.Chroot}
	if r.in.WithData {
		o.Show = map[string]string{sourcePlace: r.files}
	}
	return o
}

// interfaces are those that source and target have.
func (r *rehearsing) interfaces() []sandbox.Interface {
	return interfaces(r.Assessment, r.text("/etc/hosts"))
}

// sourcePlace is where the target sees the source's files.
const sourcePlace = "/mnt/svc-source"

func (r *rehearsing) bootTarget(ctx context.Context) (err error) {
	r.Env.Step("starting the target", 0, 1)
	if r.target, err = r.boot(ctx, r.options()); err != nil {
		return fmt.Errorf("the target does not boot: %w", err)
	}
	if r.level == rehearsal.Chroot {
		_, err = r.target.Run(ctx, sandbox.Command{Words: []string{"sh", "-c", quiet}})
	}
	return err
}

// reboot starts the target anew, as it will be started in its life.
func (r *rehearsing) reboot(ctx context.Context) error {
	if r.level == rehearsal.Chroot {
		return nil // what was never booted
	}
	r.Env.Step("rebooting the target", 0, 1)
	if err := r.target.Halt(ctx, stopping, time.Minute); err != nil {
		return err
	}
	o := r.options()
	o.Proxy = nil
	m, err := r.boot(ctx, o)
	if err != nil {
		r.remark("The target does not come up again after the move: " + oneLine(err.Error()))
		r.level = rehearsal.Chroot
		o.Plain = true
		if m, err = r.boot(ctx, o); err != nil {
			return err
		}
	}
	r.target = m
	m.Settle(ctx, settling, settled)
	return nil
}

func (r *rehearsing) observeTarget(ctx context.Context) (err error) {
	r.Env.Step("asking what runs", 0, 1)
	wanted := map[string]bool{}
	for _, s := range r.Plan.Services {
		wanted[s.To] = wanted[s.To] || s.State == "enabled"
	}
	asked := observe.Machine{Wanted: func(unit string) bool { return wanted[unit] }, People: r.people.on(func(name string) string { return rehearsal.PlaceNow(r.Plan, name) })}
	if r.source != nil && r.source.observed != nil {
		asked.Pages = slices.Collect(maps.Keys(r.source.observed.Pages))
	}
	if r.target.observed, err = r.observe(ctx, r.target, asked); err != nil {
		return fmt.Errorf("asking the target: %w", err)
	}
	r.target.own = r.ownChecks(ctx, r.target)
	return nil
}

// judge makes the document.
func (r *rehearsing) judge() (*rehearsal.Document, error) {
	in := rehearsal.Input{Level: r.level, Plan: r.Plan, Before: r.Assessment, WithData: r.in.WithData, OnSource: observe.There(r.Host.FS()), UnitPaths: r.unitPaths, Data: r.data, Mends: r.mends, Unread: r.unread, People: r.people.programs, PeopleLeft: r.people.left}
	switch target, err := host.OpenRoot(r.target.Root()); {
	case err == nil:
		defer target.Close()
		in.OnTarget, in.Target, in.OwnTarget = observe.There(target.FS()), r.target.observed, r.target.own
		in.Same = observe.Same(r.Host.FS(), target.FS())
	case r.target.Exceeded() == nil:
		return nil, err
	} // one that was ended is asked nothing
	if r.source != nil {
		in.Source = r.source.observed
		in.OwnSource = sliced.Index(r.source.own, func(o tap.Result) (string, tap.Result) { return o.Name, o })
	}
	d := rehearsal.New(in)
	d.PlanDigest, d.Level, d.Base, d.Role, d.Remarks = r.PlanDigest, r.level, r.how, r.role, append(d.Remarks, r.remarked()...)
	d.Steps = append(d.Steps, r.steps...)
	d.Compared = "the source's files"
	switch {
	case in.Source != nil:
		d.Compared = "a copy of the source, booted"
	case r.Assessment.Running != nil:
		d.Compared = "what ran on the source"
	}
	d.Fixes = append(d.Fixes, sliced.Map(r.fixes, func(f role.Fix) rehearsal.Fix { return rehearsal.NewFix(f.Name, f.Digest(), f.About()) })...)
	d.Mend(r.previous)
	return d, nil
}

var started = regexp.MustCompile(`(?m)^(?:Exec[A-Za-z]+|EnvironmentFile|WorkingDirectory)=[-@+!:]*(/[^\s;"'$%]+)(?:\s+(/[^\s;"'$%]+))?`)

// maxText bounds a file that is read for the paths it names, in bytes.
const maxText = 4 << 20

// text is that of a file of the source; empty where it can't be read.
func (r *rehearsing) text(file string) string {
	b, _ := host.ReadFile(r.Host.FS(), strings.TrimPrefix(file, "/"), maxText)
	return string(b)
}

// unitPaths are paths that a unit file of the source names to be started.
func (r *rehearsing) unitPaths(file string) []string {
	return sliced.FlatMap(started.FindAllStringSubmatch(r.text(file), -1), func(m []string) []string {
		return slices.DeleteFunc(m[1:], func(s string) bool { return s == "" })
	})
}

// write puts what the rehearsal says into its folder.
func (r *rehearsing) write(ctx context.Context) (Result, error) {
	secret, err := r.Env.Secret()
	if err != nil {
		return Result{}, err
	}
	usage := r.Usage(api.Preflight)
	if _, err := client.Call(ctx, r.Client, api.Usage, usage, client.WithKey(job.OperationKey(secret, usage, r.PlanDigest))); err != nil {
		return Result{}, err
	}
	d := r.document
	r.Exposure = cvescan.Expose(ctx, r.Job, r.Plan)
	files := artifact.Files{"role.log": r.log}
	if files[evidence.RehearsalFile], err = evidence.Document(d); err != nil {
		return Result{}, err
	}
	files[evidence.ReportFile] = report.RenderRehearsal(d, r.Plan, r.Assessment, r.Exposure, "svc "+r.Env.Version)
	key, err := r.Env.LocalKey()
	if err != nil {
		return Result{}, err
	}
	digests, err := evidence.WriteOwn(r.in.Out, evidence.RehearsalFile, files, key, &attest.RehearsalPredicate{
		Operation: attest.Operation{Fingerprint: d.Fingerprint, Source: d.Source, Target: d.Target, IndexVersion: d.IndexVersion, Tool: "svc " + r.Env.Version},
		Level:     string(d.Level), WithData: d.WithData, Runs: d.Sum.Runs, Fails: d.Sum.Fails, Untried: d.Sum.Untried,
	})
	if err != nil {
		return Result{}, err
	}
	result := Result{Document: *d}
	result.Out, _ = filepath.Abs(r.in.Out) // staging resolved it already
	result.Artifacts = evidence.Artifacts(result.Out, digests)
	return result, nil
}

// readPrevious is the rehearsal that out holds; nil where it holds none.
func readPrevious(out string) *rehearsal.Document {
	o := &evidence.Signed{}
	var d *rehearsal.Document
	if err := o.Read(out, evidence.RehearsalFile, rehearsal.Schema, &d); err != nil {
		return nil
	}
	return d
}

// oneLine is an error as a remark has it.
func oneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
