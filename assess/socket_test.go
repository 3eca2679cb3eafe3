package assess

import (
	"testing"

	"github.com/matryer/is"
)

// TestPortsThatWereDrawn are no loss where the program has another one; a port that its
// protocol assigns is not drawn, whatever else the program listens at.
func TestPortsThatWereDrawn(t *testing.T) {
	for _, c := range []struct {
		program     string
		here, there int
		want        bool
	}{
		{"rpc.statd", 656, 812, true},
		{"rpc.mountd", 54539, 40001, true},
		{"rpc.statd", 656, 656, false}, // it has it there too
		{"rpc.statd", 656, 54539, false},
		{"dovecot", 993, 701, false},
		{"dovecot", 701, 995, false}, // nor is that what took its place
		{"nginx", 8080, 8081, false},
		{"", 656, 812, false},
	} {
		t.Run("", func(t *testing.T) {
			is := is.New(t)
			s := Socket{Protocol: "tcp6", Port: c.here, Program: c.program}
			here, there := &Running{Sockets: []Socket{s}}, &Running{Sockets: []Socket{{Protocol: "tcp", Port: c.there, Program: c.program}}}
			is.Equal(s.DrawnElsewhere(here, there), c.want)
		})
	}
}

// TestPortsOfAMachinesOwnRange are drawn too, and those outside of it are not.
func TestPortsOfAMachinesOwnRange(t *testing.T) {
	is := is.New(t)
	was, now := Socket{Protocol: "udp", Port: 12345, Program: "named"}, Socket{Protocol: "udp", Port: 40001, Program: "named"}
	here, there := &Running{Sockets: []Socket{was}, Draws: []int{10000, 65000}}, &Running{Sockets: []Socket{now}}
	is.True(was.DrawnElsewhere(here, there))
	is.True(now.DrawnElsewhere(there, here))
	here.Draws = []int{49152, 65535}
	is.True(!was.DrawnElsewhere(here, there))
	is.True(!(Socket{Port: 40001}).DrawnByKernel(here))
	is.True((Socket{Port: 40001}).DrawnByKernel(there))
}
