package network

import (
	"strings"

	"svc/backend/sliced"
	"svc/tools/convert"
)

// wiring is the conversion of a machine's network.
type wiring struct {
	convert.Result
	in      convert.Input
	pages   map[string]*convert.Page
	ifaces  []*iface
	aliases map[string]string // other names of interfaces, such as the UUIDs of connections
	parts   []part
	// What ifupdown says apart from interfaces: which come up at boot, and the
	// hardware addresses by which they are known, by their names.
	automatic, named []option
	told             map[position][]string // lines of the target that say what a line said
	dropped          map[position]string   // why a line is not needed
	outputs          []*output
	manager          string // of the target's network
}

// part is what a bond or bridge says of another interface.
type part struct {
	name, master string
	at           position
}

// interfaceNamed is the interface of a name, or nil.
func (w *wiring) interfaceNamed(name string) *iface {
	return sliced.First(w.ifaces, func(i *iface) bool { return i.name == name })
}

// described is the interface of a name, which need not have been there: a name
// with a dot and a number is that of a VLAN.
func (w *wiring) described(name string, at position) *iface {
	if i := w.interfaceNamed(name); i != nil {
		return i
	}
	i := &iface{name: name, kind: "ethernet", file: at.file}
	if link, id, dotted := strings.Cut(name, "."); dotted && convert.Number(id) {
		i.kind = "vlan"
		i.say("vlan-link", link, at)
		i.say("vlan-id", id, at)
	}
	w.ifaces = append(w.ifaces, i)
	return i
}

// members are the parts of a bond or bridge, with where they say so.
func (w *wiring) members(master string) (names []string, at []position) {
	for _, i := range w.ifaces {
		if o := i.first("master"); o.value == master {
			names, at = append(names, i.name), append(at, o.at...)
		}
	}
	return names, at
}

func (w *wiring) drop(why string, at ...position) {
	for _, s := range at {
		w.dropped[s] = why
	}
}

func (w *wiring) refuseLine(at position, why string) {
	if p := w.pages[at.file]; p != nil && at.line > 0 && at.line <= len(p.Lines) {
		p.Refuse(at.line-1, why)
		return
	}
	w.Refuse(at.file, convert.Refusal{Line: 0, Text: "", Why: why})
}

// form is why a line is not needed that only says what follows.
const form = "The target has another form."

// noCounterpart is why a setting is left to a person.
const noCounterpart = "Nothing of the target surely does the same."
