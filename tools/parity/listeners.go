package parity

import (
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/sliced"
)

// listeners are the ports that are open to others on a migrated machine that runs,
// where the source did not run while it was read: those that neither machine's
// configuration names, and whose program is of no service that is accounted for. UDP
// is left out, as programs open it on demand, and so is what the kernel itself holds:
// it has no program.
func (a additions) listeners() (all []change) {
	if a.After.Running == nil || a.running {
		return nil // where both machines ran, their sockets are compared
	}
	named := sliced.SetOf(slices.Concat(open(a.Before, false), open(a.After, false)), func(is subject) string { return is.subject })
	services := sliced.Index(gathered(sliced.Map(a.After.Services, started(Services))), func(s subject) (string, subject) { return s.subject, s })
	for _, s := range a.After.Running.Sockets {
		number := fmt.Sprintf("%d/tcp", s.Port)
		if !strings.HasPrefix(s.Protocol, "tcp") || isLocal(s.Address) || named[number] || s.Program == "" || a.serves(services, s) {
			continue
		}
		named[number] = true // by IPv4 and IPv6: once
		what := subject{item: item{Ports, number + ", running", s.Path, "", in("/proc/net/" + s.Protocol)}}
		all = append(all, changeOf(what, "", orPresent(s.Path), fmt.Sprintf("%s listens there for others; no configuration names the port, and no service that is accounted for runs it.", s.Program)))
	}
	return all
}

// serves reports whether a program that listens is of a service that is accounted
// for: one that a package brings, or whose own file is. What systemd itself holds is of
// a socket unit, which is told as a file.
func (a additions) serves(services map[string]subject, s assess.Socket) bool {
	if s.Program == "systemd" && s.Unit == "init.scope" {
		return true
	}
	if unit, known := services[s.Unit]; known {
		return a.unit(unit) != ""
	}
	return s.Package != ""
}
