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
