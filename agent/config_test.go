package agent

import (
	"bytes"
	"testing"

	"github.com/matryer/is"
)

func TestPrintConfig(t *testing.T) {
	is := is.New(t)
	env := map[string]string{"SVC_API_KEY": "svc_secret", "SVC_SERVER": "https://example.org"}
	var b bytes.Buffer
	is.NoErr(PrintConfig(&b, "/opt/svc", func(k string) string { return env[k] }))
	is.Equal(b.String(), `{
  "mcpServers": {
    "svc": {
      "command": "/opt/svc",
      "args": [
        "mcp"
      ],
      "env": {
        "SVC_SERVER": "https://example.org"
      }
    }
  }
}
`)
}
