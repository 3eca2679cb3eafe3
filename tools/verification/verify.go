// Package verification compares a machine with its source and plan, or with what it was
// when it was verified, and has that signed.
package verification

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/ask"
	"svc/assess/baseline"
	"svc/assess/host"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/backend/visible"
	"svc/tools/artifact"
	"svc/tools/data"
	"svc/tools/evidence"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/parity"
	"svc/tools/report"
	"svc/tools/tool"
)

// Bounds of what is read for a comparison, in bytes: of a file that is compared line by
// line, and of one that says what is accepted.
const (
	maxCompared = 4 << 20
	maxAccept   = 4 << 20
)

// Input is the input of Verify.
type Input struct {
	machine.Machine
	Source string `json:"source,omitempty" jsonschema:"out folder of the migration, or an assessment file of the source"`
	Out    string `json:"out,omitempty" jsonschema:"folder to write to"`
	// Confirm agrees to the seat that the comparison claims; it is asked for where an
	// agent calls.
	Confirm bool   `json:"confirm,omitempty" jsonschema:"true claims the seat, where there is none"`
	Accept  string `json:"accept,omitempty" jsonschema:"file of accepted differences: dimension subject # why"`
	Data    string `json:"data,omitempty" jsonschema:"folder of the data plan, whose places are counted"`
	// Keys are public keys that the caller trusts to have signed the source, in place
	// of the service's; none where nobody named some.
	Keys []ed25519.PublicKey `json:"-"`
	// Digests reads the contents of those places too.
	Digests bool `json:"digests,omitempty" jsonschema:"true reads what is in them too"`
	// Ask has the migrated machine, which is the user's own, run its services' own
	// checks of their configuration.
	Ask bool `json:"ask,omitempty" jsonschema:"true has the running machine run its services' own checks (nginx -t …): ssh as root, or root /"`
	// Rehearsal is read, and what it said is told beside the comparison.
	Rehearsal string      `json:"rehearsal,omitempty" jsonschema:"folder of a rehearsal; alone: what it said"`
	Limit     int         `json:"limit,omitempty" jsonschema:"checks; 20"`
	Detail    tool.Detail `json:"detail,omitempty" jsonschema:"full has every check"`
}

// Result is a comparison. A summary has what does not match alone, the
// worst first, and Total has how many checks there are.
type Result struct {
	parity.Report
	SeatClaimed bool                `json:"seat_claimed"`
	Licensed    bool                `json:"licensed"`
	Out         string              `json:"out,omitempty"` // absolute
	Artifacts   []evidence.Artifact `json:"artifacts"`
	Rehearsal   *evidence.Rehearsed `json:"rehearsal,omitempty"`
	// Where no out was given, the attestation with the manifest that it signs and
	// the salt.
	Attestation *api.Envelope  `json:"attestation,omitempty"`
	Manifest    string         `json:"manifest,omitempty"`
	Salt        string         `json:"salt,omitempty"`
	Total       map[string]int `json:"total,omitempty"`
	Truncated   bool           `json:"truncated,omitempty"`
	Resource    string         `json:"resource,omitempty"`
	Signature   string         `json:"signature,omitempty"` // the resource that has the attestation, manifest and salt
	Cost        string         `json:"cost,omitempty"`      // of the seat that was claimed
	Next        []tool.Step    `json:"next,omitempty"`      // of a summary
}

// AnyResult is every form that the result of svc_verify has.
type AnyResult struct {
	Result
	Machines []map[string]any `json:"machines,omitempty"`
}

// verification is a comparison on its way.
type verification struct {
	*job.Job // of the migrated machine
	in       Input
	origin   *origin
	// accepted is what a person accepted, and acceptedDigest the file's SHA-256.
	accepted       parity.Acceptances
	acceptedDigest string
	dataPlan       *data.Plan // nil where none is named
	dataPlanDigest string
}

// Verify compares a migrated machine with its source, and has the result
// signed.
func Verify(ctx context.Context, env *tool.Env, in Input) (Result, error) {
	v := &verification{Job: &job.Job{Env: env, Machine: in.Machine}, in: in}
	if err := v.check("svc_verify"); err != nil {
		return Result{}, err
	}
	if in.Out != "" {
		if err := artifact.Check(in.Out, evidence.ParityFile); err != nil {
			return Result{}, err
		}
	}
	if err := cmp.Or(v.readAccepted(), v.readDataPlan()); err != nil {
		return Result{}, err
	}
	d, rehearsed, err := evidence.ReadRehearsal(env, in.Rehearsal)
	if err != nil {
		return Result{}, err
	}
	if err := v.begin(ctx); err != nil {
		return Result{}, err
	}
	defer v.Close()
	if p := v.dataPlan; p != nil && p.Fingerprint != v.origin.before.Fingerprint {
		return Result{}, fmt.Errorf("%s is the data plan of another machine than %s; nothing was compared", in.Data, in.Source)
	}
	if d != nil && (d.Fingerprint != v.origin.before.Fingerprint || d.Target != v.Assessment.Release) {
		return Result{}, fmt.Errorf("%s: %w", in.Rehearsal, evidence.ErrOtherRehearsal)
	}
	usage := v.event(api.Verify)
	if err := v.agreed(ctx, usage); err != nil {
		return Result{}, err
	}
	err = v.trust(ctx)
	if err == nil {
		err = v.origin.complete(ctx, env, v.Client, v.Assessment.Release)
	}
	if err != nil {
		return Result{}, err
	}
	r, err := v.compare(ctx)
	if err != nil {
		return Result{}, err
	}
	price, err := job.NextSeat(ctx, env)
	if err != nil {
		return Result{}, err
	}
	signed, err := v.sign(ctx, r, usage)
	if err != nil {
		return Result{}, err
	}
	signed.Rehearsal = rehearsed
	env.Saw(v.origin.before, in.Machine)
	if signed.SeatClaimed {
		signed.Cost = "One licence seat was claimed for the machine, for ever, at " + price + "."
	}
	return v.shown(signed), nil
}

// check looks at the input, before anything is read.
func (v *verification) check(name string) error {
	if v.in.Source == "" {
		return &tool.InputError{Tool: name, Err: errors.New("source is required: the out folder of the migration, or an assessment of the source")}
	}
	return tool.CheckShown(name, &v.in.Detail, v.in.Limit)
}

// readAccepted reads the file of differences that a person accepted.
func (v *verification) readAccepted() error {
	if v.in.Accept == "" {
		return nil
	}
	b, err := evidence.ReadLocal(v.in.Accept, maxAccept)
	if err != nil {
		return fmt.Errorf("reading the accepted differences: %w", err)
	}
	if v.accepted, err = parity.ParseAcceptances(string(b)); err != nil {
		return fmt.Errorf("%s: %w; nothing was compared", v.in.Accept, err)
	}
	v.acceptedDigest = artifact.Digest(b)
	return nil
}

// readDataPlan reads the data plan, which this user's own key has signed.
func (v *verification) readDataPlan() error {
	if v.in.Data == "" {
		if v.in.Digests {
			return &tool.InputError{Tool: "svc_verify", Err: errors.New("digests are of the places of a data plan: name its folder with data")}
		}
		return nil
	}
	o := &evidence.Signed{}
	err := o.Read(v.in.Data, evidence.PlanFile, data.PlanSchema, &v.dataPlan)
	if err != nil {
		return fmt.Errorf("the data plan: %w", err)
	}
	v.dataPlanDigest = o.Digests[evidence.PlanFile]
	key, err := v.Env.LocalKey()
	if err != nil {
		return err
	}
	return o.Attested(v.in.Data, append([]ed25519.PublicKey{key.Public().(ed25519.PublicKey)}, v.in.Keys...))
}

// begin reads the source's folder, assesses the machine and opens the service.
func (v *verification) begin(ctx context.Context) (err error) {
	if v.origin, err = readOrigin(v.in.Source); err != nil {
		return err
	}
	if err := v.origin.before.RequireFingerprint(); err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	if err := v.Open(ctx); err != nil {
		return err
	}
	if v.in.Ask && !v.Host.Live() {
		return errors.Join(&tool.InputError{Tool: "svc_verify", Err: errors.New("only a machine that runs can be asked: name it by ssh, or by root / where svc runs on it")}, v.Close())
	}
	err = v.Assess(ctx)
	if err == nil {
		err = v.Connect(ctx)
	}
	if err != nil {
		return errors.Join(err, v.Close())
	}
	return nil
}

// event is that of the comparison: it is the source's seat that counts.
func (v *verification) event(kind api.Kind) api.UsageRequest {
	u := api.UsageRequest{
		Kind: kind, Fingerprint: v.origin.before.Fingerprint, Source: job.OSOf(v.origin.before.Release), HostHint: v.Hint(),
	}
	if kind == api.Verify {
		target := job.OSOf(v.Assessment.Release)
		u.Target = &target
	}
	return u
}

// agreed asks for the gate's answer, and, where an agent calls, for consent to the
// seat that the comparison would claim.
func (v *verification) agreed(ctx context.Context, usage api.UsageRequest) error {
	answer, err := job.Admitted(ctx, v.Client, usage)
	if err != nil || v.in.Confirm || !v.Env.ForAgent || !answer.WouldClaimSeat {
		return err
	}
	cost, err := job.CostOf(ctx, v.Env, answer)
	if err != nil {
		return err
	}
	return &tool.NeedsConfirm{
		Would: fmt.Sprintf("compare the machine, which runs %s, with what %s says of its source, and have the result signed", v.Assessment.Release, visible.Name(v.in.Source)),
		Cost:  cost, Seat: true,
	}
}

// trust checks that what was read of the source is what a trusted key signed.
func (v *verification) trust(ctx context.Context) error {
	if len(v.origin.Digests) == 0 {
		return nil // an assessment alone
	}
	keys := v.in.Keys
	if len(keys) == 0 {
		var err error
		if keys, err = evidence.ServiceKeys(ctx, v.Env, v.Client); err != nil {
			return err
		}
	}
	return v.origin.Attested(v.in.Source, keys)
}

// compare looks at the files that the plan names and at the data, and compares
// all.
func (v *verification) compare(ctx context.Context) (*parity.Report, error) {
	planBytes, err := evidence.Document(v.origin.plan)
	if err != nil {
		return nil, err
	}
	in := parity.Input{
		Plan: v.origin.plan, PlanDigest: artifact.Digest(planBytes), Before: v.origin.before, After: v.Assessment,
		Files: map[string]parity.File{}, Written: v.origin.written, Accepted: v.accepted,
		Base: baseline.Read(ctx, v.Host, v.Assessment),
	}
	if in.Asked, err = v.ask(ctx, parity.Wanted(in)); err != nil {
		return nil, err
	}
	names := readNames(v.Host.FS())
	for _, c := range v.origin.plan.Configuration {
		for _, place := range parity.Looked(c) {
			in.Files[place] = look(v.Host.FS(), names, place, v.origin.written[place])
		}
	}
	if in.Places, err = v.places(ctx); err != nil {
		return nil, err
	}
	if err := host.Lost(v.Host); err != nil {
		return nil, err
	}
	r := parity.Verify(in)
	r.DataPlanDigest, r.AcceptedDigest = v.dataPlanDigest, v.acceptedDigest
	return r, nil
}

// ask asks a machine that runs for its services, and, where that is wanted, these
// for whether they take their configuration.
func (v *verification) ask(ctx context.Context, wanted func(unit string) bool) (asked parity.Asked, err error) {
	if v.Assessment.Running == nil {
		return asked, nil
	}
	asked.Services = ask.Services(ctx, v.Host)
	if !v.in.Ask {
		return asked, nil
	}
	asked.Answers, err = ask.All(ctx, v.Host, wanted)
	if errors.Is(err, ask.ErrNotRoot) || errors.Is(err, fs.ErrNotExist) {
		return parity.Asked{Services: asked.Services, Why: err.Error()}, nil
	}
	return asked, err
}

// places counts what the places of the data plan hold on the machine.
func (v *verification) places(ctx context.Context) ([]parity.Place, error) {
	if v.dataPlan == nil {
		return nil, nil
	}
	places, moved := []parity.Place{}, []data.Item{}
	for _, i := range v.dataPlan.Items {
		if i.Method == data.Rsync {
			moved = append(moved, i)
		} else {
			places = append(places, parity.Place{Item: i})
		}
	}
	has, errs, err := data.Measure(ctx, v.Host, moved, v.in.Digests)
	if err != nil {
		return nil, err
	}
	for n, i := range moved {
		p := parity.Place{Item: i, Has: has[n], Err: errs[n]}
		switch counted, file, err := data.Counted(v.Host.FS(), i); {
		case err == nil:
			p.Want, p.Counted = &counted, file
		case !errors.Is(err, fs.ErrNotExist):
			p.Err = cmp.Or(p.Err, fmt.Errorf("%s: %w", file, err))
		}
		if err := v.follow(ctx, &p); err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

// follow allows for what the plan's own steps changed in a place. What they copied
// may have been there before: it is left out where the rest is then as it was.
func (v *verification) follow(ctx context.Context, p *parity.Place) error {
	f := parity.Follow(v.origin.plan, p.Item)
	for _, m := range f.Lines {
		b, err := host.ReadFile(v.Host.FS(), strings.TrimPrefix(m.Path, "/"), maxCompared)
		if err == nil { // what can't be read counts as it was
			f.Grow(m, string(b))
		}
	}
	if f.Copied != nil && p.Want != nil && p.Err == nil && p.Want.Entries() != p.Has.Entries() {
		has, errs, err := data.Measure(ctx, v.Host, []data.Item{f.Without(p.Item)}, v.in.Digests)
		if err != nil {
			return err
		}
		if f.Apart = errs[0] == nil && has[0].Entries() == p.Want.Entries(); f.Apart {
			p.Has = has[0]
		}
	}
	p.Followed = f
	return nil
}

// sign records the verification, has it attested, and writes what it made.
func (v *verification) sign(ctx context.Context, r *parity.Report, usage api.UsageRequest) (Result, error) {
	files := artifact.Files{}
	var err error
	if files[evidence.ParityFile], err = evidence.Document(r); err != nil {
		return Result{}, err
	}
	if files[evidence.AssessmentFile], err = evidence.Document(v.Assessment); err != nil {
		return Result{}, err
	}
	files[evidence.ReportFile] = report.RenderParity(r, v.Assessment, "svc "+v.Env.Version)
	signer, err := evidence.NewSigner(ctx, v.Env, v.Client)
	if err != nil {
		return Result{}, err
	}
	staging, err := v.stage(files)
	if err != nil {
		return Result{}, err
	}
	ctx = context.WithoutCancel(ctx)
	recorded, err := client.Call(ctx, v.Client, api.Usage, usage, client.WithKey(job.OperationKey(signer.Secret, usage, artifact.Digest(files[evidence.ParityFile]))))
	if err != nil {
		return Result{}, errors.Join(err, staging.Discard())
	}
	result := Result{Report: *r, SeatClaimed: recorded.SeatClaimed, Licensed: recorded.Licensed, Artifacts: []evidence.Artifact{}}
	if v.in.Out == "" {
		return result, v.envelope(ctx, &result, signer, files)
	}
	if err := evidence.Seal(ctx, staging, signer, v.predicate(r)); err != nil {
		return Result{}, errors.Join(err, staging.Discard())
	}
	if err := staging.Commit(); err != nil {
		return Result{}, err
	}
	result.Out, _ = filepath.Abs(v.in.Out) // staging resolved it already
	result.Artifacts = evidence.Artifacts(result.Out, staging.Digests())
	return result, nil
}

// envelope puts the attestation and what it signs into the result: nothing is
// written.
func (v *verification) envelope(ctx context.Context, result *Result, signer *evidence.Signer, files artifact.Files) error {
	sealed, added, err := files.Digests().Sealed(signer.Secret)
	if err != nil {
		return err
	}
	result.Manifest, result.Salt = string(added[attest.Manifest]), string(added[artifact.Salt])
	envelope, err := signer.Sign(ctx, sealed[attest.Manifest], v.predicate(&result.Report))
	if err != nil {
		return err
	}
	result.Attestation = new(api.Envelope)
	return json.Unmarshal(envelope, result.Attestation)
}

// stage is nil, whose Discard does nothing, where nothing is to be written.
func (v *verification) stage(files artifact.Files) (*artifact.Staging, error) {
	if v.in.Out == "" {
		return nil, nil
	}
	staging, err := artifact.Stage(v.in.Out, evidence.ParityFile, files)
	if err == nil {
		err = staging.Reserve(maxSeal)
	}
	if err != nil {
		return nil, errors.Join(err, staging.Discard())
	}
	return staging, nil
}

// maxSeal is what the manifest and the attestation of a verification take on the
// disk, in bytes.
const maxSeal = 1 << 20

func (v *verification) predicate(r *parity.Report) *attest.ParityPredicate {
	return &attest.ParityPredicate{
		Operation: attest.Operation{
			Fingerprint: r.Fingerprint, Source: r.Source, Target: r.Target, IndexVersion: r.IndexVersion, Tool: "svc " + v.Env.Version,
		},
		Migration: v.origin.Root, Packages: v.origin.plan.Sum, Checks: r.Sum.CheckSum(), Dimensions: r.DimensionSums(), NotLooked: r.NotLooked, Parity: r.Parity,
	}
}

// shown cuts a summary to what does not match.
func (v *verification) shown(r Result) Result {
	if v.in.Detail == tool.DetailFull {
		return r
	}
	whole := r.Report
	r.Total = map[string]int{"checks": len(r.Checks)}
	r.Checks = []parity.Check{}
	r.Dimensions = slices.DeleteFunc(slices.Clone(r.Dimensions), func(d parity.DimensionSum) bool {
		return d.Match+d.Planned == d.Total
	})
	v.link(&r)
	r.Next = v.next(r)
	most := tool.BoundsOf(v.in.Limit)
	for _, result := range []parity.Result{parity.Differs, parity.Manual, parity.Unknown, parity.Accepted} {
		for _, c := range whole.Checks {
			if c.Result == result && len(r.Checks) < most.Limit {
				r.Checks = append(r.Checks, c)
			}
		}
	}
	for len(tool.Encoded(r)) > most.Budget && len(r.Checks) > 0 {
		r.Checks = r.Checks[:len(r.Checks)/2]
	}
	r.Truncated = len(r.Checks) < len(whole.Checks)
	if r.Truncated && v.Env.Resources != nil {
		r.Resource = v.Env.Resources.Put(whole.Kind+"-"+whole.Fingerprint[:min(12, len(whole.Fingerprint))], tool.Encoded(whole))
	}
	return r
}

// next are the steps that follow.
func (v *verification) next(r Result) []tool.Step {
	again := map[string]any{"source": v.in.Source}
	switch {
	case r.Sum.Differs > 0:
		return []tool.Step{{Tool: "svc_verify", Input: again, Why: "once a person has mended what differs on the machine, or entered what is meant so in a file for accept"}}
	case r.Kind == string(KindDrift):
		return []tool.Step{}
	case r.Out == "":
		again["out"] = "a folder to write to"
		return []tool.Step{{Tool: "svc_verify", Input: again, Why: "writes the signed evidence, for who wasn't here; svc_verify of kind drift starts from it"}}
	}
	return []tool.Step{{Tool: "svc_verify", Input: map[string]any{"kind": KindDrift, "source": r.Out}, Why: "at any later time: says what changed since; it is free"}}
}

// link puts what is signed, which nobody reads, where a link leads to.
func (v *verification) link(r *Result) {
	if v.Env.Resources == nil || r.Attestation == nil {
		return
	}
	signed := struct {
		Attestation *api.Envelope `json:"attestation"`
		Manifest    string        `json:"manifest"`
		Salt        string        `json:"salt"`
	}{r.Attestation, r.Manifest, r.Salt}
	r.Signature = v.Env.Resources.Put("signature-"+api.VMKey(r.Fingerprint), tool.Encoded(signed))
	r.Attestation, r.Manifest, r.Salt = nil, "", ""
}

// names are the users and groups of a machine by id.
type names struct{ users, groups map[int]string }

func readNames(fsys host.FS) names {
	return names{byID(fsys, "etc/passwd"), byID(fsys, "etc/group")}
}

func byID(fsys host.FS, file string) map[int]string {
	all := map[int]string{}
	b, err := host.ReadFile(fsys, file, maxCompared)
	if err != nil {
		return all // a file's owner is then shown as a number
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(line, ":"); len(f) > 2 {
			if id, err := strconv.Atoi(f[2]); err == nil && all[id] == "" {
				all[id] = f[0]
			}
		}
	}
	return all
}

func name(names map[int]string, id int) string {
	if n, ok := names[id]; ok {
		return n
	}
	return strconv.Itoa(id)
}

// look says what stands at a path of the migrated machine. The content is kept
// only where it is not what the role writes.
func look(fsys host.FS, by names, path string, written []byte) parity.File {
	at := strings.TrimPrefix(path, "/")
	info, err := fsys.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return parity.File{}
	case err != nil:
		return parity.File{Err: err.Error()}
	}
	f := parity.File{Exists: true, Mode: fmt.Sprintf("%04o", assess.Octal(info.Mode()))}
	if uid, gid, ok := host.Owner(info); ok {
		f.Owner, f.Group = name(by.users, uid), name(by.groups, gid)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Link, err = fsys.ReadLink(at)
	case info.Mode().IsRegular():
		var b []byte
		b, err = host.ReadFile(fsys, at, job.MaxFile)
		f.SHA256 = artifact.Digest(b)
		switch {
		case string(b) == string(written):
			f.Content = written
		case len(b) <= maxCompared:
			f.Content = b
		}
	}
	if err != nil {
		f.Err = err.Error()
	}
	return f
}
