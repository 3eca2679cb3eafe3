package verification

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/release"
	"svc/tools/evidence"
	"svc/tools/job"
	"svc/tools/migration"
	"svc/tools/parity"
	"svc/tools/tool"
)

// origin is what a machine is compared with.
type origin struct {
	evidence.Signed
	before  *assess.Assessment
	plan    *migration.Plan   // nil where there is only an assessment
	written map[string][]byte // what the role writes, by path on the target
	parity  *parity.Report    // of a verification's folder
}

// readOrigin reads the folder of a migration or of a verification, or an
// assessment.
func readOrigin(source string) (*origin, error) {
	info, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	o := &origin{}
	if !info.IsDir() {
		_, err := evidence.ReadDocument(source, assess.Schema, &o.before)
		return o, err
	}
	if err := o.Read(source, evidence.AssessmentFile, assess.Schema, &o.before); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(source, evidence.ParityFile)); err == nil {
		return o, o.Read(source, evidence.ParityFile, parity.Schema, &o.parity)
	}
	if err := o.Read(source, evidence.PlanFile, migration.Schema, &o.plan); err != nil {
		return nil, err
	}
	o.written, err = readRole(source)
	return o, err
}

// complete plans the move where the source is but an assessment.
func (o *origin) complete(ctx context.Context, env *tool.Env, c *client.Client, target string) error {
	if o.parity != nil {
		return errors.New("the source is the folder of a verification: name that of the migration, or an assessment of the source (svc drift compares with a verification)")
	}
	if o.plan != nil {
		return nil
	}
	r, ok := release.Lookup(target)
	if !ok {
		return api.Errorf(api.UnknownRelease, "the machine's release %q is not known", target)
	}
	j := &job.Job{Env: env, Client: c, Target: r, Assessment: o.before}
	input, err := j.LookUp(ctx)
	if err == nil {
		o.plan = migration.New(input)
	}
	return err
}

// readRole reads what the role of a migration's folder writes, as it stands
// there: a person may have edited it.
func readRole(out string) (map[string][]byte, error) {
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, fmt.Errorf("reading the role: %w", err)
	}
	defer root.Close()
	b, err := root.ReadFile("role/defaults/main.yml")
	if err != nil {
		return nil, fmt.Errorf("reading the role: %w", err)
	}
	var vars struct {
		Files []struct{ Src, Dest string } `yaml:"role_files"`
	}
	if err := yaml.Unmarshal(b, &vars); err != nil {
		return nil, fmt.Errorf("reading the role's variables: %w", err)
	}
	written := map[string][]byte{}
	for _, f := range vars.Files {
		if written[f.Dest], err = root.ReadFile(filepath.Join("role", "files", f.Src)); err != nil {
			return nil, fmt.Errorf("reading the role: %w", err)
		}
	}
	return written, nil
}
