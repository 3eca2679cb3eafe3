// Package network converts what manages the interfaces of a machine: ifcfg files,
// keyfiles of NetworkManager, netplan and ifupdown, each to what the target has.
//
// The files of a source are read into what they say of interfaces, and the
// target's are written from that, with each line's fate.
package network

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/backend/release"
	"svc/tools/convert"
)

// maxNetworkLines bounds the files of the network together: what is longer
// describes no machine.
const maxNetworkLines = 10_000

// Convert converts the files of whatever manages the interfaces of the source.
func Convert(in convert.Input) convert.Result {
	w := &wiring{in: in, pages: map[string]*convert.Page{}, aliases: map[string]string{}, told: map[position][]string{}, dropped: map[position]string{}}
	for _, f := range in.Files {
		w.pages[f.Path] = convert.Open(f, "#")
	}
	if w.tooLong() {
		return w.Result
	}
	w.read()
	w.join()
	w.write()
	w.account()
	w.spread()
	w.finish()
	return w.Result
}

// tooLong refuses all, where the files are too long.
func (w *wiring) tooLong() bool {
	lines := 0
	for _, p := range w.pages {
		lines += len(p.Lines)
	}
	if lines <= maxNetworkLines {
		return false
	}
	for file := range w.pages {
		w.Refuse(file, convert.Refusal{Line: 0, Text: "", Why: "It is, with the files beside it, too long to be the network of a machine."})
	}
	return true
}

// read reads every file in the way of its manager.
func (w *wiring) read() {
	for _, file := range slices.Sorted(maps.Keys(w.pages)) {
		p := w.pages[file]
		switch dir := path.Dir(file); {
		case dir == "/etc/netplan":
			w.readNetplan(p)
		case dir == "/etc/NetworkManager/system-connections":
			w.readKeyfile(p)
		case strings.HasPrefix(file, "/etc/network/"):
			w.readInterfaces(p)
		case strings.HasPrefix(path.Base(file), "ifcfg-"):
			w.readIfcfg(p)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(w.pages)) {
		w.readBeside(w.pages[file])
	}
	w.resolve()
	w.automate()
}

// resolve gives parts to what they are a part of, by the names of interfaces.
func (w *wiring) resolve() {
	for _, part := range w.parts {
		name := cmp.Or(w.aliases[part.name], part.name)
		if w.interfaceNamed(name) == nil && path.Dir(part.at.file) == "/etc/netplan" {
			w.refuseLine(part.at, "No file describes "+name+".")
		}
		w.described(name, part.at).say("master", part.master, part.at)
	}
	for _, i := range w.ifaces {
		for n, o := range i.options {
			if o.key == "master" || o.key == "vlan-link" {
				i.options[n].value = cmp.Or(w.aliases[o.value], o.value)
			}
		}
	}
}

// join looks at what interfaces say of each other.
func (w *wiring) join() {
	seen := map[string]bool{}
	for _, i := range w.ifaces {
		if !isInterface(i.name) {
			w.Refuse(i.file, convert.Refusal{Line: 0, Text: "", Why: "The interface has no name by which the target could know it."})
		}
		if seen[i.name] {
			w.Refuse(i.file, convert.Refusal{Line: 0, Text: "", Why: "Two files describe " + i.name + "."})
		}
		seen[i.name] = true
	}
	for _, i := range w.ifaces {
		for _, o := range i.all("master", "vlan-link") {
			master := w.interfaceNamed(o.value)
			switch {
			case o.key == "vlan-link" && master == nil && isInterface(o.value):
				// an interface that needs no settings
			case master == nil || o.key == "master" && master.kind != "bond" && master.kind != "bridge":
				w.refuseLine(o.at[0], "No file describes "+o.value+" as what it has to be.")
			}
		}
		for _, o := range i.options {
			w.check(o)
		}
	}
}

// oneGateway refuses gateways of a version on several interfaces, of which it is
// not said which counts: NetworkManager alone gives each a metric.
func (w *wiring) oneGateway() {
	for _, version := range []int{4, 6} {
		var first *iface
		for _, i := range w.ifaces {
			for _, o := range i.of("gateway", version) {
				if first != nil && first != i && i.first("metric").key == "" {
					w.refuseLine(o.at[0], first.name+" has a gateway too: say which counts.")
				}
				first = i
			}
		}
	}
}

// write writes every interface in the target's way.
func (w *wiring) write() {
	w.writeNetworkd()
	switch {
	case w.onlyKeyfiles():
		w.manager = "NetworkManager"
		w.carryKeyfiles()
	case !convert.DebianFamily(w.in.Target):
		w.manager = "NetworkManager"
		w.writeKeyfiles()
	case w.in.Target.Family == release.Ubuntu:
		w.manager = "netplan"
		w.oneGateway()
		w.writeNetplan()
	default:
		w.manager = "ifupdown"
		w.oneGateway()
		w.writeInterfaces()
	}
	for _, o := range w.outputs {
		for _, line := range o.lines {
			for _, at := range line.at {
				w.told[at] = append(w.told[at], strings.TrimSpace(line.text))
			}
		}
	}
}

// writeNetworkd carries the files of systemd-networkd over to where it is again.
func (w *wiring) writeNetworkd() {
	for _, file := range slices.Sorted(maps.Keys(w.pages)) {
		switch p := w.pages[file]; {
		case path.Dir(file) != "/etc/systemd/network":
		case convert.DebianFamily(w.in.Target):
			w.carry(p, "0644")
		default:
			p.Refuse(0, "The target has no systemd-networkd: set the interface up by hand.")
		}
	}
}

// onlyKeyfiles reports whether NetworkManager has the source's interfaces in its
// own form, and the target gets it too.
func (w *wiring) onlyKeyfiles() bool {
	_, brought := w.in.Brought["network-manager"]
	brought = brought && w.in.Target.Family == release.Debian // Ubuntu's leaves all but netplan's interfaces alone
	for file := range w.pages {
		brought = brought && path.Dir(file) == "/etc/NetworkManager/system-connections"
	}
	return brought
}

// Moves is a move to a release whose network is set up in another way.
func Moves(in convert.Input) bool {
	known := func(r convert.Input) bool {
		return (convert.RPMFamily(in.Source) || convert.DebianFamily(in.Source)) && (convert.RPMFamily(in.Target) || convert.DebianFamily(in.Target))
	}
	return known(in) && in.Source.Family != in.Target.Family && !(convert.RPMFamily(in.Source) && convert.RPMFamily(in.Target))
}
