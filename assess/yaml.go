package assess

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"svc/assess/host"
)

// maxYAML bounds a document that is decoded, in bytes: its tree takes some
// hundred times as many.
const maxYAML = 128 << 10

// DecodeYAML decodes a document into what v points to.
func DecodeYAML(text string, v any) error {
	if len(text) > maxYAML {
		return fmt.Errorf("%w: over %d bytes", host.ErrTooBig, maxYAML)
	}
	return yaml.Unmarshal([]byte(text), v)
}
