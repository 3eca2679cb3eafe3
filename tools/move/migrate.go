// Package move plans the move of one machine, and writes it: plan, role, report,
// attestation.
package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/ledger"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/backend/sliced"
	"svc/tools/artifact"
	"svc/tools/cvescan"
	"svc/tools/evidence"
	"svc/tools/exposure"
	"svc/tools/fixes"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/migration"
	"svc/tools/rehearsal"
	"svc/tools/report"
	"svc/tools/role"
	"svc/tools/tool"
)

// maxRole bounds the files that a role carries together, in bytes.
const maxRole = 512 << 20

// Input is the input of Migrate.
type Input struct {
	machine.Machine
	Archives
	Target         string `json:"target,omitempty" jsonschema:"release to move to, such as debian-13"`
	Out            string `json:"out,omitempty" jsonschema:"folder to write to: new, empty, or of an earlier migration; required with confirm"`
	Confirm        bool   `json:"confirm,omitempty" jsonschema:"true writes, and claims the machine's licence seat"`
	Preflight      bool   `json:"preflight,omitempty" jsonschema:"true plans and writes nothing; free; wins over confirm"`
	IncludeSecrets bool   `json:"include_secrets,omitempty" jsonschema:"true puts keys and password digests into the role"`
	PlanDigest     string `json:"plan_digest,omitempty" jsonschema:"of a preflight: confirms that plan alone"`
	Fixes          string `json:"fixes,omitempty" jsonschema:"folder of fixes that a person reviewed, for the role"`
	Rehearsal      string `json:"rehearsal,omitempty" jsonschema:"folder of a rehearsal, for the attestation"`
	// The rest goes with a preflight.
	Targets  []string         `json:"targets,omitempty" jsonschema:"releases to compare, with preflight"`
	Machines machine.Machines `json:"machines,omitempty" jsonschema:"several, with preflight"`
	Images   string           `json:"images,omitempty" jsonschema:"folder of disk images, with preflight"`
	tool.Aim
	// Hazards is a folder with tables of known trouble beside the program's own; a person
	// names it, agents can't.
	Hazards string `json:"-"`
}

// Result is what a migration made: identifiers, counts, places and
// digests, never the content of the role.
type Result struct {
	Source        string                   `json:"source"`
	Target        string                   `json:"target"`
	Fingerprint   string                   `json:"fingerprint"`
	IndexVersion  string                   `json:"index_version"`
	Preflight     bool                     `json:"preflight"`
	Sum           attest.PackageSum        `json:"sum"`
	Install       int                      `json:"install"`         // packages that the role installs
	Configuration map[string]int           `json:"configuration"`   // files by what happens to them
	Files         *FileCounts              `json:"files,omitempty"` // everything on the disk; absent where it was not counted
	Inhibitors    []tool.Headline          `json:"inhibitors"`
	Findings      []tool.Headline          `json:"findings"`
	PlanDigest    string                   `json:"plan_digest"`     // of all that is confirmed: the plan, and what secrets and fixes add to the role
	Fixes         []string                 `json:"fixes,omitempty"` // what they bring to the role, and run
	SeatClaimed   bool                     `json:"seat_claimed"`
	Licensed      bool                     `json:"licensed"`
	Out           string                   `json:"out,omitempty"` // absolute
	Artifacts     []evidence.Artifact      `json:"artifacts"`     // the role's files are counted, not listed
	RoleFiles     int                      `json:"role_files"`
	Rehearse      string                   `json:"rehearse"` // command that tries the move on a throw-away target, for a person to run
	Exposure      *cvescan.MigrateExposure `json:"exposure"` // what advisories say of the move
	Told
}

// FileCounts are the paths of a machine's disk by rows, which add up to the total.
type FileCounts struct {
	Total   ledger.Count                `json:"total"`
	Rows    map[ledger.Row]ledger.Count `json:"rows"`
	Noticed int                         `json:"noticed"` // what a move would lose without a word
}

// Part shows lists of the plan that a preflight makes.
func Part(ctx context.Context, env *tool.Env, in Input) (any, error) {
	if !in.Preflight {
		return nil, tool.InputErrorf("svc_migrate", "section, match and cursor go with preflight=true")
	}
	var plan *migration.Plan
	if _, err := migrateShowing(ctx, env, in, func(p *migration.Plan) { plan = p }); err != nil {
		return nil, err
	}
	return in.Shoot(env, "svc_migrate", planLists{Plan: plan, ConfigurationFiles: plan.Configuration}, 0)
}

// planLists are the lists of a plan under names that no other member of the result has:
// there configuration is counted.
type planLists struct {
	*migration.Plan
	Configuration      *struct{}          `json:"configuration,omitempty"`
	ConfigurationFiles []migration.Config `json:"configuration_files"`
}

// Move is one migration on its way.
type Move struct {
	*job.Job
	in    Input
	Plan  *migration.Plan
	Files artifact.Files // until they are staged
	// digests are of the files that were made, the manifest's own among them.
	Digests artifact.Digests
	// planDigest is of the plan without what is counted on the disk, and shownDigest of
	// all that a person is shown before it is written.
	PlanDigest, shownDigest string
	fixes                   []role.Fix
	// exposure is what advisories say of the move, once the machine has its seat.
	Exposure *exposure.Document
	// rehearsal is what the attestation says of one; nil where none is named.
	rehearsal *attest.Rehearsed
	tried     *rehearsal.Document // which it named
	// carried counts the bytes read of files for the role.
	carried int
}

// New is a move that has not begun.
func New(env *tool.Env, in Input) *Move {
	return &Move{Job: &job.Job{Env: env, Machine: in.Machine}, in: in, Exposure: &exposure.Document{}}
}

// Migrate plans the move of a machine and, confirmed, writes it. A refusal
// writes nothing; a crash costs nothing, since a repeat gives the same bytes
// and the same seat.
func Migrate(ctx context.Context, env *tool.Env, in Input) (Result, error) {
	return migrateShowing(ctx, env, in, func(*migration.Plan) {})
}

// migrateShowing is Migrate; a preflight's plan is shown to who wants to see it.
func migrateShowing(ctx context.Context, env *tool.Env, in Input, show func(*migration.Plan)) (Result, error) {
	m := New(env, in)
	if err := m.Check(); err != nil {
		return Result{}, err
	}
	if err := in.Archives.consented(env, in.Confirm); err != nil {
		return Result{}, err
	}
	if err := m.Begin(ctx); err != nil {
		return Result{}, err
	}
	defer m.Close()
	var err error
	if m.rehearsal, err = m.rehearsed(); err != nil {
		return Result{}, err
	}
	usage := m.Usage(api.Migration)
	if in.Preflight {
		usage = m.Usage(api.Preflight)
	}
	if err := job.Authorize(ctx, m.Client, usage); err != nil {
		return Result{}, err
	}
	if err := m.Prepare(ctx); err != nil {
		return Result{}, err
	}
	if in.Preflight {
		secret, err := env.Secret()
		if err != nil {
			return Result{}, err
		}
		if _, err := client.Call(ctx, m.Client, api.Usage, usage, client.WithKey(job.OperationKey(secret, usage, m.PlanDigest))); err != nil {
			return Result{}, err
		}
		show(m.Plan)
		// What was recorded may be the answer of an earlier call; the seat is asked for as it is now.
		next, err := client.Call(ctx, m.Client, api.Authorize, m.Usage(api.Migration))
		if err != nil {
			return Result{}, err
		}
		m.Exposure = cvescan.Expose(ctx, m.Job, m.Plan)
		r := m.result(api.UsageResponse{Licensed: next.Licensed})
		r.Cost, err = job.CostOf(ctx, m.Env, next)
		return m.told(r), err
	}
	if !m.in.Confirm || m.unseen() {
		return Result{}, m.unconfirmed(ctx, usage)
	}
	if d := m.in.PlanDigest; d != "" && d != m.shownDigest {
		return Result{}, fmt.Errorf("the plan is not the one that was shown: plan_digest is %s, and that of the plan is %s; nothing was written: look at the plan again by a preflight", tool.Excerpt(d, 64), m.shownDigest)
	}
	r, err := m.write(ctx, usage)
	if err != nil {
		return r, err
	}
	m.Env.Moved(r.Fingerprint, r.Target, r.Out)
	return m.told(r), nil
}

// unseen reports whether a call has the role run commands that nobody was shown: where
// an agent calls, the folder of fixes may be the machine's idea.
func (m *Move) unseen() bool {
	return m.Env.ForAgent && len(m.fixes) > 0 && m.in.PlanDigest == ""
}

// unconfirmed says what a confirmed call would write, and what that costs. It
// records nothing.
func (m *Move) unconfirmed(ctx context.Context, usage api.UsageRequest) error {
	answer, err := client.Call(ctx, m.Client, api.Authorize, usage)
	if err != nil {
		return err
	}
	cost, err := job.CostOf(ctx, m.Env, answer)
	if err != nil {
		return err
	}
	r, needs := m.result(api.UsageResponse{}), ""
	if m.in.Out == "" {
		r.Out, needs = "out", "out, the folder to write to"
	}
	secrets := ""
	if m.in.IncludeSecrets {
		secrets = ", with keys, password digests and closed files of the machine in it"
	}
	shown := ""
	if m.unseen() {
		shown = m.shownDigest
	}
	mending := ""
	if len(m.fixes) > 0 {
		mending = ", with the fixes " + strings.Join(fixes.Lines(m.fixes), "; ")
	}
	relations := map[string]int{}
	for _, p := range m.Plan.Packages {
		relations[string(p.Relation)]++
	}
	return &tool.NeedsConfirm{
		Would: fmt.Sprintf("write to %s the plan of the move of %s to %s (digest %s), a report, an attestation and a role of %d files%s%s. "+
			"Packages of the source: %d, as %s; the role installs %d. Files of /etc: %s. Findings: %d; inhibitors: %s",
			r.Out, m.Assessment.Release, m.Target.Slug, r.PlanDigest, r.RoleFiles, secrets, mending,
			m.Plan.Sum.Total, counts(relations), r.Install, counts(r.Configuration), len(r.Findings), keys(r.Inhibitors)),
		Cost:  cost,
		Seat:  answer.WouldClaimSeat,
		Needs: needs,
		Shown: shown,
	}
}

// counts are a table's numbers in words, in the order of their names.
func counts(table map[string]int) string {
	return cmp.Or(strings.Join(sliced.Map(slices.Sorted(maps.Keys(table)), func(name string) string { return fmt.Sprintf("%s %d", name, table[name]) }), ", "), "none")
}

// keys are the findings of some headlines, each once.
func keys(headlines []tool.Headline) string {
	return cmp.Or(strings.Join(slices.Compact(sliced.Map(headlines, func(h tool.Headline) string { return h.Key })), ", "), "none")
}

// Check looks at the input, before anything is read.
func (m *Move) Check() error {
	target, err := job.TargetNamed(m.in.Target)
	switch {
	case m.in.Target == "":
		return &tool.InputError{Tool: "svc_migrate", Err: errors.New("target is required: a release such as debian-13")}
	case err != nil:
		return err
	case m.in.Preflight:
	case m.in.Out == "" && !m.in.Confirm: // which says what a confirmed call would do
	case m.in.Out == "":
		return &tool.InputError{Tool: "svc_migrate", Err: errors.New("out is required: the folder to write to (or preflight, which writes nothing)")}
	default:
		if err := job.CheckOut(m.in.Machine, m.in.Out, evidence.PlanFile); err != nil {
			return err
		}
	}
	m.Target = target
	if m.Hazards, err = job.HazardTables(m.in.Hazards); err != nil {
		return err
	}
	return m.in.Archives.check()
}

// Prepare makes the plan and the files that follow from it.
func (m *Move) Prepare(ctx context.Context) error {
	input, err := m.LookUp(ctx)
	if err != nil {
		return err
	}
	input.IncludeSecrets = m.in.IncludeSecrets
	fault, err := m.shipped(ctx, &input)
	if err != nil {
		return err
	}
	if input.Files, err = m.countFiles(ctx); err != nil {
		return err
	}
	m.Plan = migration.New(input)
	if err := fault(); err != nil {
		return err
	}
	passwords := map[string]string(nil)
	if m.in.IncludeSecrets {
		passwords = m.passwords()
	}
	if m.fixes, err = fixes.Read(m.in.Fixes); err != nil {
		return err
	}
	roleFiles, err := role.Render(m.Plan, m.Assessment, role.Source{Read: m.readFile, Described: m.Described, Passwords: passwords, Fixes: m.fixes})
	if err := cmp.Or(host.Lost(m.Host), err); err != nil {
		return err
	}
	m.Files = artifact.Files(roleFiles)
	if m.Files[evidence.AssessmentFile], err = evidence.Document(m.Assessment); err != nil {
		return err
	}
	m.Files[evidence.NextFile] = report.Next(m.Plan, m.Assessment, m.tried)
	if m.Files[evidence.PlanFile], err = evidence.Document(m.Plan); err != nil {
		return err
	}
	m.Digests = m.Files.Digests()
	m.PlanDigest, err = m.digestPlan()
	m.shownDigest = m.digestShown()
	return err
}

// expounded are the report, and what advisories say of the move where they say
// something.
func (m *Move) expounded() (files artifact.Files, err error) {
	files = artifact.Files{evidence.ReportFile: report.RenderRehearsal(m.tried, m.Plan, m.Assessment, m.Exposure, "svc "+m.Env.Version)}
	if m.Exposure.Compared {
		files[evidence.ExposureFile], err = evidence.Document(m.Exposure)
	}
	return files, err
}

// readFile reads a file that goes into the role.
func (m *Move) readFile(name string) ([]byte, error) {
	b, err := m.ReadFile(name)
	if m.carried += len(b); err == nil && m.carried > maxRole {
		err = fmt.Errorf("%w: the role's files together have over %d bytes", host.ErrTooBig, maxRole)
	}
	return b, err
}

// passwords are the digests of shadow; where that can't be read there are none.
func (m *Move) passwords() map[string]string {
	digests := map[string]string{}
	b, err := m.readFile("/etc/shadow")
	if err != nil {
		m.Env.Log.Warn("reading password digests", "error", err)
		return digests
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(line, ":"); len(f) > 2 {
			digests[f[0]] = f[1]
		}
	}
	return digests
}

// maxExpounded is what advisories may add to a report and say beside it, in bytes:
// room on the disk is kept for it.
const maxExpounded = 8 << 20

// write stages the files, records the usage, has the attestation signed, and
// only then puts the folder in its place. All that can be known to fail fails
// before the seat is claimed; once it is, the rest is finished even where the
// caller is gone.
func (m *Move) write(ctx context.Context, usage api.UsageRequest) (Result, error) {
	signer, err := evidence.NewSigner(ctx, m.Env, m.Client)
	if err != nil {
		return Result{}, err
	}
	staging, err := m.stage()
	if err != nil {
		return Result{}, err
	}
	ctx = context.WithoutCancel(ctx)
	recorded, err := client.Call(ctx, m.Client, api.Usage, usage, client.WithKey(job.OperationKey(signer.Secret, usage, m.PlanDigest)))
	if err != nil {
		return Result{}, errors.Join(err, staging.Discard())
	}
	m.Exposure = cvescan.Expose(ctx, m.Job, m.Plan)
	if err := m.finish(ctx, staging, signer); err != nil {
		return Result{}, &tool.Unfinished{Err: errors.Join(err, staging.Discard())}
	}
	if err := staging.Commit(); err != nil {
		return Result{}, &tool.Unfinished{Err: err}
	}
	m.Digests = staging.Digests()
	return m.result(recorded), nil
}

// stage writes what is made without a seat, and keeps room for the rest.
func (m *Move) stage() (*artifact.Staging, error) {
	draft, err := m.expounded()
	if err != nil {
		return nil, err
	}
	staging, err := artifact.Stage(m.in.Out, evidence.PlanFile, m.Files)
	if err != nil {
		return nil, err
	}
	m.Files = nil // they are on the disk
	if m.in.IncludeSecrets || m.Plan.Closed() {
		if err := staging.Private(); err != nil {
			return nil, errors.Join(err, staging.Discard())
		}
	}
	if err := staging.Reserve(int64(len(draft[evidence.ReportFile])) + maxExpounded); err != nil {
		return nil, errors.Join(err, staging.Discard())
	}
	return staging, nil
}

// finish adds the report, the manifest and the attestation.
func (m *Move) finish(ctx context.Context, staging *artifact.Staging, signer *evidence.Signer) error {
	added, err := m.expounded()
	if err == nil {
		err = staging.Add(added)
	}
	if err != nil {
		return err
	}
	return evidence.Seal(ctx, staging, signer, &attest.MigrationPredicate{
		Operation: attest.Operation{
			Fingerprint: m.Assessment.Fingerprint, Source: m.Assessment.Release, Target: m.Target.Slug, IndexVersion: m.Plan.IndexVersion, Tool: "svc " + m.Env.Version,
		},
		Packages: m.Plan.Sum, Inhibitors: len(m.Plan.Inhibitors), Rehearsal: m.rehearsal,
	})
}

// result is what the caller is told.
func (m *Move) result(recorded api.UsageResponse) Result {
	r := Result{
		Source: m.Assessment.Release, Target: m.Target.Slug, Fingerprint: m.Assessment.Fingerprint, IndexVersion: m.Plan.IndexVersion, Preflight: m.in.Preflight,
		Sum: m.Plan.Sum, Install: len(m.Plan.Install), Configuration: map[string]int{}, PlanDigest: m.shownDigest, Fixes: fixes.Lines(m.fixes),
		Inhibitors: tool.Headlines(m.Plan.Inhibitors), Findings: tool.Headlines(slices.DeleteFunc(slices.Concat(m.Plan.Findings, m.Assessment.Findings), func(f assess.Finding) bool { return f.Inhibitor })),
		SeatClaimed: recorded.SeatClaimed, Licensed: recorded.Licensed, Artifacts: []evidence.Artifact{}, Exposure: cvescan.Counted(m.Exposure, m.Env.Now()), Rehearse: m.rehearse(),
	}
	for _, c := range m.Plan.Configuration {
		r.Configuration[string(c.Action)]++
	}
	if f := m.Plan.Files; f != nil {
		r.Files = &FileCounts{f.Total, f.Rows, len(f.Noticed)}
	}
	if m.in.Preflight {
		return r
	}
	r.Out, _ = filepath.Abs(m.in.Out) // staging resolved it already
	for _, a := range evidence.Artifacts(r.Out, m.Digests) {
		if strings.HasPrefix(a.Path, filepath.Join(r.Out, "role")+"/") {
			r.RoleFiles++
			continue
		}
		r.Artifacts = append(r.Artifacts, a)
	}
	return r
}
