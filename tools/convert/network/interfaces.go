package network

import (
	"slices"
	"strings"

	"svc/backend/release"
	"svc/tools/convert"
)

// writeInterfaces writes for Debian's ifupdown: a file an interface.
func (w *wiring) writeInterfaces() {
	if len(w.ifaces) == 0 {
		return
	}
	w.Packages = append(w.Packages, "ifupdown")
	w.bareInterfaces("auto lo", "iface lo inet loopback", "source /etc/network/interfaces.d/*")
	dynamic := slices.ContainsFunc(w.ifaces, func(i *iface) bool { return len(i.all("dhcp4", "dhcp6")) > 0 })
	for _, i := range w.ifaces {
		s := stanzas{w, i, &output{path: "/etc/network/interfaces.d/" + i.name, from: i.file, mode: "0644"}}
		s.write(dynamic)
		w.outputs = append(w.outputs, s.out)
	}
	w.writeServers(dynamic)
}

// bareInterfaces writes a file in the place of that which says how the target was
// reached until it takes over.
func (w *wiring) bareInterfaces(lines ...string) {
	if len(w.ifaces) == 0 {
		return
	}
	base := &output{path: "/etc/network/interfaces", from: w.ifaces[0].file, mode: "0644", shared: true}
	for _, line := range lines {
		base.add(line)
	}
	w.outputs = append(w.outputs, base)
}

// writeServers writes the name servers and the domains to search, which ifupdown
// leaves to others: dhcpcd puts a file of its own before what DHCP offers, where
// the first servers count, and one behind, since the last search does.
func (w *wiring) writeServers(dynamic bool) {
	servers, search := "/etc/resolv.conf", "/etc/resolv.conf"
	if dynamic {
		servers, search = servers+".head", search+".tail"
	}
	add := func(i *iface, file, text string, at []position) {
		n := slices.IndexFunc(w.outputs, func(o *output) bool { return o.path == file })
		if n < 0 {
			n = len(w.outputs)
			w.outputs = append(w.outputs, &output{path: file, from: i.file, mode: "0644", shared: true})
		}
		w.outputs[n].add(text, at...)
	}
	for _, i := range w.ifaces {
		if text, at := joined(i.all("search")); text != "" {
			add(i, search, "search "+text, at)
		}
		for _, d := range i.all("dns") {
			add(i, servers, "nameserver "+d.value, d.at)
		}
	}
}

// ownServers reports whether the DHCP client asks name servers of the machine's
// own before those that DHCP offers: dhcpcd does, where nothing else writes
// resolv.conf.
func (w *wiring) ownServers() bool {
	for _, other := range []string{"resolvconf", "openresolv", "systemd-resolved"} {
		if _, ok := w.in.Brought[other]; ok {
			return false
		}
	}
	return dhcpClient(w.in.Target) == "dhcpcd-base" && !slices.ContainsFunc(w.ifaces, func(i *iface) bool { return i.first("dhcp6").key != "" })
}

// stanzas writes the stanzas of one interface.
type stanzas struct {
	w   *wiring
	i   *iface
	out *output
}

func (s stanzas) write(dynamic bool) {
	i := s.i
	for _, o := range i.all("mac") {
		if i.kind != "ethernet" {
			s.w.refuseLine(o.at[0], "ifupdown knows no built interface by its address.")
		}
		s.out.add("rename mac/"+o.value+"="+i.name, o.at...)
	}
	master, auto := i.first("master"), i.first("auto")
	switch {
	case master.key != "":
		s.out.add("# "+i.name+" is brought up with "+master.value, append(auto.at, master.at...)...)
	case auto.value == "no":
		s.out.add("# "+i.name+" is not brought up at boot", auto.at...)
	default:
		s.out.add("auto "+i.name, auto.at...)
	}
	s.four(dynamic)
	s.six()
}

// add adds an option to the stanza that was begun.
func (s stanzas) add(text string, at ...position) { s.out.add("    "+text, at...) }

// four writes the stanzas of IP version 4; the first has what is not of a
// version.
func (s stanzas) four(dynamic bool) {
	addresses, dhcp := s.i.of("address", 4), s.i.first("dhcp4")
	_, named := joined(s.i.all("name", "vlan-id", "vlan-link"))
	method := "manual"
	switch {
	case dhcp.key != "":
		method = "dhcp"
		s.w.Packages = append(s.w.Packages, dhcpClient(s.w.in.Target))
	case len(addresses) > 0:
		method = "static"
	}
	s.out.add("iface "+s.i.name+" inet "+method, append(named, dhcp.at...)...)
	if method == "static" {
		s.add("address "+addresses[0].value, addresses[0].at...)
		addresses = addresses[1:]
	}
	s.gateway(4, method == "static")
	s.link()
	s.resolver(dynamic)
	s.composed()
	s.routes()
	for _, a := range addresses {
		s.out.add("iface "+s.i.name+" inet static", a.at...)
		s.add("address "+a.value, a.at...)
	}
}

// dhcpClient is the package of the client that a release has by default.
func dhcpClient(target release.Release) string {
	if since, _ := release.Lookup("debian-12"); target.Older(since) {
		return "isc-dhcp-client"
	}
	return "dhcpcd-base"
}

// six writes the stanzas of IP version 6. Without one the kernel takes what the
// network offers.
func (s stanzas) six() {
	addresses, ra := s.i.of("address", 6), s.i.first("ra")
	for n, a := range addresses {
		s.out.add("iface "+s.i.name+" inet6 static", a.at...)
		s.add("address "+a.value, a.at...)
		switch {
		case n > 0:
			continue
		case ra.value == "no":
			s.add("accept_ra 0", ra.at...)
		default:
			s.add("autoconf 1", ra.at...)
			s.add("accept_ra 1", ra.at...)
		}
		s.gateway(6, true)
	}
	if d := s.i.first("dhcp6"); d.key != "" {
		s.w.Packages = append(s.w.Packages, "isc-dhcp-client")
		s.out.add("iface "+s.i.name+" inet6 dhcp", d.at...)
	}
	switch {
	case len(addresses) > 0:
	case ra.value == "yes":
		s.w.drop("The kernel does so by itself.", ra.at...)
	case len(s.i.of("gateway", 6)) > 0:
		s.gateway(6, false)
	}
}

// gateway writes the gateway of a version, of which there may be one, beside an
// address.
func (s stanzas) gateway(version int, static bool) {
	metric := s.i.first("metric")
	for n, g := range s.i.of("gateway", version) {
		if n > 0 || !static {
			s.w.refuseLine(g.at[0], "ifupdown takes one gateway, beside an address.")
			continue
		}
		s.add("gateway "+g.value, g.at...)
		if metric.key != "" {
			s.add("metric "+metric.value, metric.at...)
		}
	}
}

// link writes what is of the interface itself.
func (s stanzas) link() {
	for _, o := range s.i.all("mtu") {
		s.add("mtu "+o.value, o.at...)
	}
	for _, o := range s.i.all("set-mac") {
		s.add("hwaddress "+o.value, o.at...)
	}
	for _, o := range s.i.all("zone") {
		if _, ok := s.w.in.Brought["firewalld"]; ok {
			s.add("up firewall-cmd --zone="+o.value+" --change-interface=$IFACE || true", o.at...)
		} else {
			s.w.drop("The plan brings no firewalld.", o.at...)
		}
	}
	if ra := s.i.first("ra"); ra.value == "no" && len(s.i.of("address", 6)) == 0 {
		s.add("pre-up echo 0 >/proc/sys/net/ipv6/conf/$IFACE/accept_ra", ra.at...)
	}
}

// resolver writes the name servers for those who look for them here.
func (s stanzas) resolver(dynamic bool) {
	servers, at := joined(s.i.all("dns"))
	search, from := joined(s.i.all("search"))
	switch {
	case dynamic && len(from) > 0 && !s.w.ownServers():
		s.w.refuseLine(from[0], "With ifupdown, domains to search are those that DHCP offers: say these to the DHCP client.")
		return
	case dynamic && len(at) > 0 && !s.w.ownServers():
		s.w.refuseLine(at[0], "With ifupdown, name servers are those that DHCP offers: say these to the DHCP client.")
		return
	case dynamic:
		return // they have a file of their own
	}
	if servers != "" {
		s.add("dns-nameservers "+servers, at...)
	}
	if search != "" {
		s.add("dns-search "+search, from...)
	}
}

// composed writes what an interface is made of.
func (s stanzas) composed() {
	switch s.i.kind {
	case "bond":
		s.w.Packages = append(s.w.Packages, "ifenslave")
		s.members("bond-slaves ")
		for _, o := range s.i.all("bond") {
			key, value, _ := strings.Cut(o.value, " ")
			if !convert.Lists("ifenslave", key) || value == "" {
				s.w.refuseLine(o.at[0], "ifenslave has no bond-"+key+".")
			}
			s.add("bond-"+key+" "+value, o.at...)
		}
	case "bridge":
		s.w.Packages = append(s.w.Packages, "bridge-utils")
		s.members("bridge_ports ")
		for _, o := range s.i.all("bridge") {
			key, value, _ := strings.Cut(o.value, " ")
			if convert.WordsOf("bridge-utils")[key].Now == "" {
				s.w.refuseLine(o.at[0], "bridge-utils has nothing for "+key+".")
			}
			s.add(convert.WordsOf("bridge-utils")[key].Now+" "+onlyOnOff(key, value), o.at...)
		}
	case "vlan":
		s.vlan()
	case "ethernet":
	default:
		s.w.Refuse(s.i.file, convert.Refusal{Line: 0, Text: "", Why: "ifupdown makes no interface of the kind " + s.i.kind + "."})
	}
}

// onlyOnOff is a switch in bridge-utils' words.
func onlyOnOff(key, value string) string {
	if key == "stp" {
		return map[string]string{"yes": "on", "no": "off"}[value]
	}
	return value
}

// members writes the parts of a bond or bridge.
func (s stanzas) members(word string) {
	names, at := s.w.members(s.i.name)
	if len(names) == 0 {
		names = []string{"none"}
	}
	s.add(word+strings.Join(names, " "), at...)
	for _, name := range names {
		if part := s.w.interfaceNamed(name); part != nil && part.kind != "ethernet" {
			s.add("pre-up ifup " + name + " || true")
		}
	}
}

// vlan makes a VLAN whose name does not say what it is; ifupdown makes the
// others.
func (s stanzas) vlan() {
	link, id := s.i.first("vlan-link"), s.i.first("vlan-id")
	if s.i.name == link.value+"."+id.value {
		return
	}
	if s.w.interfaceNamed(link.value) != nil {
		s.add("pre-up ifup " + link.value + " || true")
	}
	s.add("pre-up ip link set dev "+link.value+" up", link.at...)
	s.add("pre-up ip link add link "+link.value+" name "+s.i.name+" type vlan id "+id.value, append(link.at, id.at...)...)
	s.add("post-down ip link delete dev " + s.i.name)
}

// routes writes routes and rules of their own. One that fails does not keep
// the others away, as on the source.
func (s stanzas) routes() {
	for _, o := range s.i.all("route") {
		device := " dev " + s.i.name
		if slices.Contains(strings.Fields(o.value), "dev") {
			device = ""
		}
		s.add("up ip "+six(o.value)+"route add "+o.value+device+" || true", o.at...)
	}
	for _, o := range s.i.all("rule") {
		s.add("up ip "+six(o.value)+"rule add "+o.value+" || true", o.at...)
		s.add("down ip " + six(o.value) + "rule del " + o.value + " || true")
	}
}

// six is the flag of `ip` for IP version 6, where a text has such addresses.
func six(text string) string {
	if strings.Contains(text, ":") {
		return "-6 "
	}
	return ""
}
