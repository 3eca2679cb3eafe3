package e2e

// Inspect has the MCP Inspector's command line, in both eras of the protocol, list the
// tools of `svc mcp`, where it is strict, and an error is a schema that some client does
// not take; and call two of them, one of which assesses a machine of Debian 11.
func (w *Work) Inspect(root string) {
	w.t.Helper()
	w.Modules()
	for _, era := range []string{"legacy", "modern"} {
		inspect := func(args ...string) Said {
			w.t.Helper()
			args = append([]string{"300", "mcp-inspector", "--cli", "--protocol-era", era}, args...)
			return w.Run(0, "timeout", append(args, "--format", "json", program, "mcp")...)
		}
		inspect("--method", "tools/list", "--strict")
		inspect("--method", "tools/call", "--tool-name", "svc_whoami")
		inspect("--method", "tools/call", "--tool-name", "svc_assess", "--tool-arg", "root="+root).Has("debian-11")
	}
}
