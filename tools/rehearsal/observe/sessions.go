//go:build linux

package observe

import (
	"context"
	"maps"
	"strings"
	"time"

	"svc/tools/rehearsal"
	"svc/tools/rehearsal/session"
	"svc/tools/sandbox"
)

// sessionIn is how long a login may take.
const sessionIn = 15 * time.Second

// sessions asks what people find who log in.
func (m *Machine) sessions(ctx context.Context, o *rehearsal.Observed) {
	o.Sessions = each(session.Accounts(m.Before), func(account string) session.Said {
		r, err := m.Sandbox.Run(ctx, sandbox.Command{Words: session.Words(account), Stdin: strings.NewReader(""), Time: sessionIn})
		said, ok := session.Parse(plainLines(r.Text))
		if err != nil || !ok {
			return session.Said{}
		}
		return said
	})
	maps.DeleteFunc(o.Sessions, func(_ string, said session.Said) bool { return said.Limits == nil })
}

// plainLines are a program's lines, as text.
func plainLines(b []byte) string { return strings.Join(lines(b, maxHeld), "\n") }
