// Package job is what one call of a tool works on: the machine, assessed, the service, and
// what the index and the licence say of the two.
package job

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/assess/host"
	"svc/assess/inspect"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/release"
	"svc/tools/artifact"
	"svc/tools/machine"
	"svc/tools/tool"
)

// MaxFile bounds a file of a machine that is read whole, in bytes.
const MaxFile = 64 << 20

// Job is what one call of a tool works on: a machine that is read, and the service
// that is asked about it. A tool fills it as far as it needs.
type Job struct {
	Env     *tool.Env
	Machine machine.Machine
	// Target is the release that the machine is to move to, where one is named.
	Target release.Release
	// Hazards are the tables of known trouble by which the machine is looked at; none are
	// the program's own.
	Hazards    hazards.Table
	Host       host.Host // nil where there is but an assessment
	Assessment *assess.Assessment
	Client     *client.Client
}

// Open reaches the machine, which is to be closed then.
func (j *Job) Open(ctx context.Context) (err error) {
	j.Host, err = j.Machine.Open(ctx, j.Env.Step)
	return err
}

// Close lets the machine go.
func (j *Job) Close() error { return j.Host.Close() }

// Assess assesses the machine that is open. Where its package database is corrupt there
// is an assessment of what could be read, beside the error.
func (j *Job) Assess(ctx context.Context) error { return j.AssessFor(ctx, "") }

// AssessFor is Assess, with findings about a move to a release, too.
func (j *Job) AssessFor(ctx context.Context, target string) (err error) {
	j.Assessment, err = inspect.Assess(ctx, j.Host, assess.Options{Now: j.Env.Now(), Target: target, Hazards: j.Hazards, Progress: j.Env.Progress})
	return err
}

// Connect opens the service.
func (j *Job) Connect(ctx context.Context) (err error) {
	j.Client, err = j.Env.Client(ctx)
	return err
}

// Begin opens the machine, assesses it whole, notes it in this user's register and opens
// the service. The machine is open only where there is no error.
func (j *Job) Begin(ctx context.Context) error {
	if err := j.Open(ctx); err != nil {
		return err
	}
	err := j.Assess(ctx)
	if err == nil {
		err = j.Assessment.RequireFingerprint()
	}
	if err == nil {
		j.Env.Saw(j.Assessment, j.Machine)
		err = j.Connect(ctx)
	}
	if err != nil {
		return errors.Join(err, j.Close())
	}
	return nil
}

// Usage is the event that a call about the machine's move records.
func (j *Job) Usage(kind api.Kind) api.UsageRequest {
	source, target := OSOf(j.Assessment.Release), OSOf(j.Target.Slug)
	return api.UsageRequest{
		Kind: kind, Fingerprint: j.Assessment.Fingerprint, Source: source, Target: &target, HostHint: j.Hint(),
	}
}

// Hint is what may tell the machine's host.
func (j *Job) Hint() api.HostHint { return api.HostHint(inspect.HostHint(j.Host)) }

// ReadFile reads a file of the machine whole.
func (j *Job) ReadFile(name string) ([]byte, error) {
	return host.ReadFile(j.Host.FS(), strings.TrimPrefix(name, "/"), MaxFile)
}

// OSOf is a release as the service has it.
func OSOf(slug string) api.OS {
	distro, version := release.Split(slug)
	return api.OS{Distro: distro, Version: version}
}

// CheckOut refuses an out, a folder with the main file, that can't be written, or that is
// part of the machine to be read: that stays as it is.
func CheckOut(m machine.Machine, out, main string) error {
	root, err1 := filepath.Abs(m.Root)
	at, err2 := filepath.Abs(out)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("looking at out: %w", err)
	}
	if m.Root != "" && root != "/" && strings.HasPrefix(at+"/", root+"/") {
		return fmt.Errorf("out %s is inside the machine's root, which is only read; nothing was written: name another out", out)
	}
	return artifact.Check(out, main)
}
