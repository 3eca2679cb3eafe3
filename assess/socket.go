package assess

import (
	"slices"
	"strings"

	"svc/backend/sliced"
)

// kernelDraws is the range of ports from which a kernel draws that was told no other: ip(7),
// ip_local_port_range.
var kernelDraws = []int{32768, 60999}

// drawn are ranges of ports that programs are given as they start, without having asked
// for one: the kernel's and that of bindresvport(3), from which services of RPC have theirs.
func (r *Running) drawn() [2][]int { return [2][]int{r.KernelDraws(), {600, 1023}} }

// KernelDraws are the first and the last port of those from which the kernel draws.
func (r *Running) KernelDraws() []int {
	if r == nil || len(r.Draws) != 2 {
		return kernelDraws
	}
	return r.Draws
}

// assigned are ports of the second range that services are set to by their protocols: syslog over
// TLS, CUPS, LDAPS, tinc, rpasswd, SpamAssassin, DNS over TLS, rsync, lwresd, FTPS, IMAPS,
// POP3S. Debian's /etc/bindresvport.blacklist keeps most of them from being drawn (IANA's
// registry has the others).
var assigned = []int{601, 623, 631, 636, 646, 655, 664, 774, 783, 853, 873, 921, 989, 990, 992, 993, 994, 995}

// Transport is tcp or udp, whichever version of IP the socket is of.
func (s Socket) Transport() string { return strings.TrimSuffix(s.Protocol, "6") }

// DrawnElsewhere reports whether a socket's port was drawn as its program started, and
// not set: on another machine the same program listens as well, and at ports of the same
// range at which it does not listen here. A program that was set to a port has it on
// both, or does not listen. What no program holds is the kernel's, which draws none but
// those that are known for it.
func (s Socket) DrawnElsewhere(here, there *Running) bool {
	elsewhere := there.drawn()
	for i, r := range here.drawn() {
		if s.Program == "" && !s.Drawn || slices.Contains(assigned, s.Port) || s.Port < r[0] || s.Port > r[1] || there.listens(s, s.Port) {
			continue
		}
		if slices.ContainsFunc(there.Sockets, func(other Socket) bool {
			return other.Port >= elsewhere[i][0] && other.Port <= elsewhere[i][1] && !slices.Contains(assigned, other.Port) && other.Program == s.Program && other.Drawn == s.Drawn && other.Transport() == s.Transport() && !here.listens(s, other.Port)
		}) {
			return true
		}
	}
	return false
}

// Drew reports whether all sockets of a machine that are wanted, and there are any, have
// ports that were drawn.
func (r *Running) Drew(there *Running, wanted func(Socket) bool) bool {
	some := sliced.Filter(r.Sockets, wanted)
	return some != nil && !slices.ContainsFunc(some, func(s Socket) bool { return !s.DrawnElsewhere(r, there) })
}

// Ephemeral is the first of the ports from which programs ask, not of those at which they answer.
// Where the kernel draws from lower ones too, services have most of these.
func (r *Running) Ephemeral() int { return max(kernelDraws[0], r.KernelDraws()[0]) }

// DrawnByKernel reports whether a socket's port is of the range from which the kernel of its
// machine draws.
func (s Socket) DrawnByKernel(r *Running) bool {
	draws := r.KernelDraws()
	return s.Port >= draws[0] && s.Port <= draws[1]
}

// listens reports whether the program of a socket listens at a port of a machine.
func (r *Running) listens(s Socket, port int) bool {
	return slices.ContainsFunc(r.Sockets, func(other Socket) bool {
		return other.Port == port && other.Program == s.Program && other.Transport() == s.Transport()
	})
}
