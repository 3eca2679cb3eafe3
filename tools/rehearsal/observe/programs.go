//go:build linux

package observe

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"svc/assess/ask/compile"
	"svc/assess/host"
	"svc/backend/sliced"
	"svc/tools/rehearsal"
	"svc/tools/sandbox"
)

// Bounds of what interpreters say of one question, in bytes and time.
const (
	maxCompiled = 4 << 20
	compiledIn  = time.Minute
)

// compile asks interpreters about people's programs, and whose packages bring what these
// load.
func (m *Machine) compile(ctx context.Context, h host.Host, o *rehearsal.Observed) {
	if len(m.People) == 0 {
		return
	}
	o.Compiled = compile.Ask(ctx, h.FS(), m.said, m.People, true)
	paths := sliced.SetOf(m.People, func(p compile.Program) string { return p.Path })
	for _, at := range o.Compiled.Files {
		paths[at] = true
	}
	o.Owners = m.owners(ctx, slices.Sorted(maps.Keys(paths)))
}

// said is what a program prints on the machine, of whatever status.
func (m *Machine) said(ctx context.Context, words []string) ([]byte, error) {
	var said bytes.Buffer
	_, err := m.Sandbox.Run(ctx, sandbox.Command{Words: words, Stdin: strings.NewReader(""), Stdout: &sandbox.Beginning{To: &said, Most: maxCompiled}, Stderr: io.Discard, Time: compiledIn})
	return said.Bytes(), err
}

// maxAsked is how many paths a package manager is asked about at once.
const maxAsked = 500

// owners are the packages that bring files, as dpkg says.
func (m *Machine) owners(ctx context.Context, paths []string) map[string]string {
	all := map[string]string{}
	for _, p := range paths { // a package may call a file as it was before /usr was merged
		for _, dir := range []string{"/bin/", "/sbin/", "/lib/"} {
			if strings.HasPrefix(p, "/usr"+dir) {
				paths = append(paths, p[len("/usr"):])
			}
		}
	}
	for some := range slices.Chunk(slices.DeleteFunc(paths, func(p string) bool { return !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "*?[\\") }), maxAsked) {
		said, err := m.said(ctx, append([]string{"/usr/bin/dpkg-query", "-S", "--"}, some...))
		if err != nil {
			return all
		}
		for line := range strings.Lines(string(said)) {
			names, at, ok := strings.Cut(strings.TrimSpace(line), ": ")
			name, _, _ := strings.Cut(names, ",")
			name, _, _ = strings.Cut(name, ":")
			if ok && !strings.Contains(name, " ") {
				all[at] = name
				if strings.HasPrefix(at, "/bin/") || strings.HasPrefix(at, "/sbin/") || strings.HasPrefix(at, "/lib/") {
					all["/usr"+at] = name
				}
			}
		}
	}
	return all
}
