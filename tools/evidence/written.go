package evidence

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/artifact"
)

// Names of what is written, below its folder.
const (
	AssessmentFile  = "assessment.json"
	PlanFile        = "plan.json"
	ReportFile      = "report.html"
	NextFile        = "NEXT.md"
	ExposureFile    = "exposure.json"  // what advisories say of a move
	ParityFile      = "parity.json"    // the main file of a verification
	RehearsalFile   = "rehearsal.json" // the main file of a rehearsal
	AttestationFile = artifact.Attestation
)

// Artifact is a file that was written.
type Artifact struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Artifacts are the files of a folder with their digests, in the order of their
// names.
func Artifacts(out string, digests artifact.Digests) []Artifact {
	return append([]Artifact{}, sliced.Map(slices.Sorted(maps.Keys(digests)), func(name string) Artifact { return Artifact{filepath.Join(out, name), digests[name]} })...)
}

// Document is a value as its file has it: as JSON, with what is hidden in its
// texts as \uXXXX.
func Document(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := jsonv2.MarshalWrite(&b, v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	b.WriteByte('\n')
	return visible.JSON(b.Bytes()), nil
}
