package network

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strings"

	"svc/assess/conf"
	"svc/tools/convert"
)

// readAssignments reads a file of NAME=value lines; what a shell would have to
// work out is refused.
func (w *wiring) readAssignments(p *convert.Page) (vars map[string]assignment, names []string) {
	vars = map[string]assignment{}
	for line := range conf.Assignments(p.Text()) {
		name := line.Key
		value, ok := unquoted(line.Value)
		if !ok || !line.Set || name == "" || strings.ContainsAny(name, " \t\"'$") {
			p.Refuse(line.N-1, "It is more than a variable and its value.")
			continue
		}
		if before, twice := vars[name]; twice {
			w.drop("A later line says it again.", before.at)
		} else {
			names = append(names, name)
		}
		vars[name] = assignment{value, position{p.From, line.N}}
	}
	return vars, names
}

// unquoted is the value of a variable without its quotes; false where a shell would
// have something to work out.
func unquoted(value string) (string, bool) {
	for _, q := range []string{`"`, "'"} {
		if quoted, has := strings.CutPrefix(value, q); has {
			inner, rest, closed := strings.Cut(quoted, q)
			rest = strings.TrimSpace(rest)
			return inner, closed && (rest == "" || rest[0] == '#') && !strings.ContainsAny(inner, "$`\\\"'")
		}
	}
	value, _, _ = strings.Cut(value, " #")
	value = strings.TrimSpace(value)
	return value, !strings.ContainsAny(value, "$`\\\"' \t;&|()<>")
}

// readIfcfg reads an interface of the rpm families' network scripts.
func (w *wiring) readIfcfg(p *convert.Page) {
	base := strings.TrimPrefix(path.Base(p.From), "ifcfg-")
	vars, names := w.readAssignments(p)
	if base == "lo" {
		w.readLoopback(vars)
		return
	}
	name, _, isAlias := strings.Cut(cmp.Or(vars["DEVICE"].value, base), ":")
	i := w.interfaceNamed(name)
	if !isAlias || i == nil {
		i = &iface{name: name, kind: ifcfgKind(vars), file: p.From}
		w.ifaces = append(w.ifaces, i)
	}
	r := ifcfgReader{w, i, vars}
	if v := vars["DEVICE"]; v.value != "" {
		i.say("name", i.name, v.at)
	}
	for _, name := range names {
		r.variable(name, vars[name])
	}
	if i.kind == "vlan" {
		r.vlan()
	}
}

// readLoopback takes the interface that every system has.
func (w *wiring) readLoopback(vars map[string]assignment) {
	for name, v := range vars {
		if name == "IPADDR" && v.value != "127.0.0.1" {
			w.refuseLine(v.at, "The loopback has another address: give the target's that too.")
		}
		w.drop("Every system has its loopback.", v.at)
	}
}

func ifcfgKind(vars map[string]assignment) string {
	switch kind := strings.ToLower(vars["TYPE"].value); {
	case vars["VLAN"].value == "yes":
		return "vlan"
	case kind == "bond" || vars["BONDING_MASTER"].value == "yes" || vars["BONDING_OPTS"].value != "":
		return "bond"
	case kind == "":
		return "ethernet"
	default:
		return kind
	}
}

// ifcfgReader reads the variables of one file.
type ifcfgReader struct {
	w    *wiring
	i    *iface
	vars map[string]assignment
}

func (r ifcfgReader) variable(name string, v assignment) {
	needless, known := convert.WordsOf("ifcfg-needless")[name]
	value := strings.ToLower(v.value)
	switch {
	case v.value == "":
		r.w.drop("It says nothing.", v.at)
	case known && needless.Why != "" && (needless.Now == "" || slices.Contains(strings.Fields(strings.ToLower(needless.Now)), value)):
		r.w.drop(needless.Why, v.at)
	case name == "DEVICE", strings.HasPrefix(name, "PREFIX"), strings.HasPrefix(name, "NETMASK"):
		// they are told with the name and the addresses
	case convert.WordsOf("ifcfg")[name].Now != "":
		r.plain(convert.WordsOf("ifcfg")[name].Now, v)
	case name == "ONBOOT":
		r.i.say("auto", value, v.at)
	case name == "BOOTPROTO":
		r.method(value, v)
	case name == "PEERDNS" && r.vars["BOOTPROTO"].value != "dhcp":
		r.w.drop("No DHCP offers any.", v.at)
	case strings.HasPrefix(name, "IPADDR") && convert.Number(cmp.Or(name[6:], "0")):
		r.address(name[6:], v)
	case strings.HasPrefix(name, "DNS") && convert.Number(name[3:]):
		r.i.say("dns", v.value, v.at)
	case strings.HasPrefix(name, "IPV6"):
		r.six(name, v)
	default:
		r.more(name, v)
	}
}

func (r ifcfgReader) plain(key string, v assignment) {
	value := v.value
	if key == "mac" || key == "set-mac" {
		value = strings.ToLower(value)
	}
	r.i.say(key, value, v.at)
}

func (r ifcfgReader) method(value string, v assignment) {
	switch value {
	case "none", "static":
		r.w.drop("The addresses say it.", v.at)
	case "dhcp":
		r.i.say("dhcp4", "yes", v.at)
	default:
		r.w.refuseLine(v.at, "The target has no such way to an address.")
	}
}

// address is an address of version 4 with the length that its PREFIX or NETMASK
// says.
func (r ifcfgReader) address(end string, v assignment) {
	if r.vars["BOOTPROTO"].value == "dhcp" {
		r.w.refuseLine(v.at, "The interface has its address by DHCP: say which counts.")
		return
	}
	length, at := cmp.Or(r.vars["PREFIX"+end].value, maskLength(r.vars["NETMASK"+end].value)), []position{v.at}
	for _, name := range []string{"PREFIX" + end, "NETMASK" + end} {
		if l := r.vars[name]; l.value != "" {
			at = append(at, l.at)
		}
	}
	if length == "" {
		r.w.refuseLine(v.at, "It has no length: say its PREFIX.")
		return
	}
	r.i.say("address", v.value+"/"+length, at...)
}

// six takes the variables of IP version 6.
func (r ifcfgReader) six(name string, v assignment) {
	value := strings.ToLower(v.value)
	switch {
	case name == "IPV6ADDR" || name == "IPV6ADDR_SECONDARIES":
		for _, a := range strings.Fields(value) {
			if !strings.Contains(a, "/") {
				a += "/64"
			}
			r.i.say("address", a, v.at)
		}
	case name == "IPV6_DEFAULTGW":
		gateway, _, _ := strings.Cut(value, "%")
		r.i.say("gateway", gateway, v.at)
	case name == "IPV6_MTU":
		r.w.refuseLine(v.at, "The target has one MTU for both versions of IP.")
	case name == "IPV6_AUTOCONF" && (value == "yes" || value == "no"):
		r.i.say("ra", value, v.at)
	}
}

// more takes the variables of interfaces that are made of others.
func (r ifcfgReader) more(name string, v assignment) {
	switch {
	case name == "DOMAIN" || name == "SEARCH":
		for _, domain := range strings.Fields(v.value) {
			r.i.say("search", domain, v.at)
		}
	case name == "DHCPV6C" && v.value == "yes":
		r.i.say("dhcp6", "yes", v.at)
	case name == "BONDING_OPTS":
		for _, opt := range strings.Fields(v.value) {
			key, value, _ := strings.Cut(opt, "=")
			r.i.say("bond", strings.ReplaceAll(key, "_", "-")+" "+bondValue(key, value), v.at)
		}
	case name == "STP" && r.i.kind == "bridge":
		r.i.say("bridge", "stp "+onOff(v.value), v.at)
	case name == "DELAY" && r.i.kind == "bridge":
		r.i.say("bridge", "forward-delay "+v.value, v.at)
	}
}

// vlan completes a VLAN by what its name says.
func (r ifcfgReader) vlan() {
	parent, id, dotted := strings.Cut(r.i.name, ".")
	at := r.vars["VLAN"].at
	if device := r.vars["DEVICE"]; device.at.file != "" {
		at = device.at
	}
	if !dotted {
		parent, id = "", strings.TrimPrefix(r.i.name, "vlan")
	}
	if r.i.first("vlan-link").key == "" && parent != "" {
		r.i.say("vlan-link", parent, at)
	}
	if r.i.first("vlan-id").key == "" {
		r.i.say("vlan-id", id, at)
	}
	if r.i.first("vlan-link").key == "" {
		r.w.refuseLine(at, "It does not say on which interface the VLAN is.")
	}
}

// readBeside reads the files that belong to interfaces of network scripts, and
// what holds for the machine as a whole.
func (w *wiring) readBeside(p *convert.Page) {
	base := path.Base(p.From)
	kind, name, _ := strings.Cut(base, "-")
	switch {
	case p.From == "/etc/sysconfig/network":
		w.readHost(p)
	case kind == "route" || kind == "route6":
		w.readRoutes(p, "route", name)
	case kind == "rule" || kind == "rule6":
		w.readRoutes(p, "rule", name)
	}
}

// readHost reads /etc/sysconfig/network.
func (w *wiring) readHost(p *convert.Page) {
	vars, names := w.readAssignments(p)
	for _, name := range names {
		v := vars[name]
		switch {
		case v.value == "":
			w.drop("It says nothing.", v.at)
		case name == "HOSTNAME":
			w.drop("The name of a host is in /etc/hostname.", v.at)
		case name == "GATEWAY" || name == "IPV6_DEFAULTGW":
			w.hostGateway(v, cmp.Or(vars["GATEWAYDEV"].value, vars["IPV6_DEFAULTDEV"].value))
		case name == "GATEWAYDEV" || name == "IPV6_DEFAULTDEV":
			w.drop("The gateway stands with its interface.", v.at)
		case slices.Contains([]string{"NETWORKING", "NETWORKING_IPV6", "NOZEROCONF", "IPV6FORWARDING", "NISDOMAIN", "NTPSERVERARGS", "VLAN"}, name) && slices.Contains([]string{"yes", "no", "iburst"}, v.value):
			w.drop("The target does so, or has another place for it.", v.at)
		}
	}
}

// hostGateway gives the machine's gateway to the interface that reaches it.
func (w *wiring) hostGateway(v assignment, device string) {
	gateway, err := netip.ParseAddr(v.value)
	for _, i := range w.ifaces {
		for _, o := range i.all("address") {
			network, bad := netip.ParsePrefix(o.value)
			if i.name == device || device == "" && err == nil && bad == nil && network.Contains(gateway) {
				i.say("gateway", v.value, v.at)
				return
			}
		}
	}
}

// readRoutes reads a route-, route6-, rule- or rule6- file: lines as `ip` takes
// them, or numbered variables.
func (w *wiring) readRoutes(p *convert.Page, key, name string) {
	i := w.interfaceNamed(name)
	if i == nil {
		w.Refuse(p.From, convert.Refusal{Line: 0, Text: "", Why: "No file describes its interface."})
		return
	}
	if key == "route" && slices.ContainsFunc(p.Lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "ADDRESS") }) {
		w.readNumberedRoutes(p, i)
		return
	}
	for n := range p.Lines {
		if p.Idle(n) {
			continue
		}
		line, _, _ := strings.Cut(p.Lines[n], " #")
		i.say(key, withoutDevice(strings.Fields(line), name), position{p.From, n + 1})
	}
}

// readNumberedRoutes reads ADDRESS0, NETMASK0, GATEWAY0 and METRIC0.
func (w *wiring) readNumberedRoutes(p *convert.Page, i *iface) {
	vars, names := w.readAssignments(p)
	for _, name := range names {
		end, ok := strings.CutPrefix(name, "ADDRESS")
		if !ok {
			continue
		}
		route, at := vars[name].value, []position{vars[name].at}
		for _, part := range []struct{ name, word string }{{"NETMASK", "/"}, {"GATEWAY", " via "}, {"METRIC", " metric "}} {
			v, has := vars[part.name+end]
			if !has {
				continue
			}
			value := v.value
			if part.word == "/" {
				value = cmp.Or(maskLength(v.value), v.value)
			}
			route, at = route+part.word+value, append(at, v.at)
		}
		i.say("route", strings.Replace(route, "0.0.0.0/0", "default", 1), at...)
	}
}
