package parity

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/migration"
)

// TestAnUnannouncedListenerIsNamed opens ports on a machine that was migrated to what
// it is, while the source was off.
func TestAnUnannouncedListenerIsNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		socket assess.Socket
		named  bool
	}{
		{"a shell of a session", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 4444, Program: "nc", Path: "/usr/bin/nc", Unit: "session-3.scope"}, true},
		{"over IPv6", assess.Socket{Protocol: "tcp6", Address: "::", Port: 4444, Program: "nc", Path: "/usr/bin/nc", Unit: "session-3.scope"}, true},
		{"a transient service", assess.Socket{Protocol: "tcp", Address: "10.0.0.5", Port: 4444, Program: "x", Path: "/tmp/x", Unit: "run-u12.service"}, true},
		{"outside of systemd", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 4444, Program: "x", Path: "/dev/shm/x"}, true},
		{"a package's service", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 4444, Program: "apache2", Path: "/usr/sbin/apache2", Unit: "apache2.service"}, false},
		{"an instance", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 4444, Program: "postgres", Path: "/usr/lib/postgresql/13/bin/postgres", Unit: "postgresql@13-main.service", Package: "postgresql-common"}, false},
		{"an enabled service that nobody announced", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 4444, Program: "nc", Path: "/usr/bin/nc", Unit: "evil.service"}, true},
		{"a port that configuration names", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 80, Program: "nc", Path: "/usr/bin/nc", Unit: "session-3.scope"}, false},
		{"on the machine alone", assess.Socket{Protocol: "tcp", Address: "127.0.0.1", Port: 4444, Program: "nc", Path: "/usr/bin/nc", Unit: "session-3.scope"}, false},
		{"on demand", assess.Socket{Protocol: "udp", Address: "0.0.0.0", Port: 4444, Program: "nc", Path: "/usr/bin/nc", Unit: "session-3.scope"}, false},
		{"held by systemd", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 4444, Program: "systemd", Path: "/usr/lib/systemd/systemd", Unit: "init.scope"}, false},
		{"held by the kernel", assess.Socket{Protocol: "tcp", Address: "0.0.0.0", Port: 2049}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			in := Input{Plan: &migration.Plan{}, Before: fixture(t), After: clone(t, fixture(t))}
			in.After.Running = &assess.Running{Sockets: []assess.Socket{c.socket}}
			var named []Check
			for _, check := range Verify(in).Checks {
				if check.Dimension == Ports && check.Added {
					named = append(named, check)
				}
			}
			is.Equal(len(named) == 1, c.named)
			if c.named {
				is.Equal(named[0].Subject, "4444/tcp, running")
				is.True(strings.HasPrefix(named[0].Why, c.socket.Program+" listens there for others"))
			}
			in.Before.Running = &assess.Running{}
			is.Equal(len((additions{verification: verification{Input: in, running: true}}).listeners()), 0) // both ran: compared
		})
	}
}

// TestAPortThatWasDrawn is no difference where both machines ran.
func TestAPortThatWasDrawn(t *testing.T) {
	is := is.New(t)
	in := Input{Plan: &migration.Plan{}, Before: fixture(t), After: clone(t, fixture(t))}
	differ := func() (subjects []string) {
		for _, check := range Verify(in).Checks {
			if check.Dimension == Ports && check.Result == Differs {
				subjects = append(subjects, check.Subject)
			}
		}
		return subjects
	}
	in.Before.Running = &assess.Running{Sockets: []assess.Socket{{Protocol: "tcp", Address: "0.0.0.0", Port: 43657, Program: "rpc.statd"}, {Protocol: "udp", Address: "127.0.0.1", Port: 883, Program: "rpc.statd"}}}
	in.After.Running = &assess.Running{Sockets: []assess.Socket{{Protocol: "tcp6", Address: "::", Port: 56321, Program: "rpc.statd"}, {Protocol: "udp", Address: "127.0.0.1", Port: 791, Program: "rpc.statd"}}}
	is.Equal(differ(), nil)
	in.After.Running.Sockets[0].Program = "nc"
	is.Equal(differ(), []string{"43657/tcp", "56321/tcp"})
	in.After.Running.Sockets = in.After.Running.Sockets[:1]
	is.Equal(differ(), []string{"43657/tcp", "56321/tcp", "883/udp on this machine alone"})
	// The kernel's are drawn where they are known as such on both machines: 51820 may be set.
	kernel := func(port int, drawn bool) *assess.Running {
		return &assess.Running{Sockets: []assess.Socket{{Protocol: "udp", Address: "0.0.0.0", Port: port, Drawn: drawn}}}
	}
	in.Before.Running, in.After.Running = kernel(43657, true), kernel(56321, true)
	is.Equal(differ(), nil)
	in.Before.Running, in.After.Running = kernel(51820, false), kernel(56321, true)
	is.Equal(differ(), []string{"51820/udp", "56321/udp"})
}
