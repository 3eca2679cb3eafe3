package agent

import (
	"encoding/json"
	"fmt"
	"io"
)

// carried are the settings that a client must hand to the server it starts:
// most clients pass on little of their own environment.
var carried = []string{"SVC_SERVER", "SVC_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "SSH_AUTH_SOCK"}

// Fragment is the entry for an agent's configuration file.
type Fragment struct {
	Servers map[string]Server `json:"mcpServers"`
}

// Server is how a client starts one MCP server.
type Server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// PrintConfig writes the fragment for the program at executable, an absolute
// path. env looks up a variable; the token is never among what is written.
func PrintConfig(w io.Writer, executable string, env func(string) string) error {
	vars := map[string]string{}
	for _, name := range carried {
		if v := env(name); v != "" {
			vars[name] = v
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(Fragment{map[string]Server{"svc": {executable, []string{"mcp"}, vars}}}); err != nil {
		return fmt.Errorf("printing the configuration: %w", err)
	}
	return nil
}
