package network

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"svc/assess/conf"
	"svc/tools/convert"
)

// readKeyfile reads a connection of NetworkManager.
func (w *wiring) readKeyfile(p *convert.Page) {
	vars, names := w.readSections(p)
	kind := strings.TrimPrefix(vars["connection.type"].value, "802-3-")
	i := &iface{name: cmp.Or(vars["connection.interface-name"].value, vars["connection.id"].value), kind: kind, file: p.From}
	w.ifaces = append(w.ifaces, i)
	if uuid := vars["connection.uuid"].value; uuid != "" {
		w.aliases[uuid] = i.name
	}
	r := keyfileReader{w, i, vars}
	for _, name := range names {
		r.key(name, vars[name])
	}
	if stp := vars["bridge.stp"]; kind == "bridge" && stp.value == "" {
		i.say("bridge", "stp yes", vars["connection.type"].at)
	}
}

// readSections reads "key=value" lines below [section] headings, by
// section.key.
func (w *wiring) readSections(p *convert.Page) (vars map[string]assignment, names []string) {
	vars = map[string]assignment{}
	for line := range conf.INI(p.Text()) {
		at := position{p.From, line.N}
		name := strings.TrimPrefix(line.Section, "802-3-") + "." + strings.TrimSpace(line.Key)
		switch _, twice := vars[name]; {
		case line.Heading:
			w.drop(form, at)
		case !line.Set || twice:
			p.Refuse(line.N-1, "It is no setting, or one that is there twice.")
		default:
			names = append(names, name)
			vars[name] = assignment{line.Value, at}
		}
	}
	return vars, names
}

// keyfileReader reads the keys of one connection.
type keyfileReader struct {
	w    *wiring
	i    *iface
	vars map[string]assignment
}

func (r keyfileReader) key(name string, v assignment) {
	section, key, _ := strings.Cut(name, ".")
	values, needless := convert.WordsOf("keyfile-needless")[name]
	plain := convert.WordsOf("keyfile")[name].Now
	switch {
	case v.value == "":
		r.w.drop("It says nothing.", v.at)
	case needless && (values.Now == "" || slices.Contains(strings.Fields(values.Now), v.value)):
		r.w.drop("It is NetworkManager's own, or what the target does.", v.at)
	case plain == "mac" || plain == "set-mac":
		r.i.say(plain, strings.ToLower(v.value), v.at)
	case plain != "":
		r.i.say(plain, v.value, v.at)
	case name == "connection.autoconnect":
		r.i.say("auto", "no", v.at)
	case section == "bond":
		key = strings.ReplaceAll(key, "_", "-")
		r.i.say("bond", key+" "+bondValue(strings.ReplaceAll(key, "-", "_"), v.value), v.at)
	case section == "bridge":
		r.i.say("bridge", bridgeSetting(key, v.value), v.at)
	case section == "ipv4" || section == "ipv6":
		r.ip(section, key, v)
	}
}

// bridgeSetting is a setting of a bridge in the words of the options.
func bridgeSetting(key, value string) string {
	if key == "stp" {
		value = onOff(value)
	}
	if key == "ageing-time" {
		key = "ageing"
	}
	return key + " " + value
}

// ip takes a key of one of the two versions.
func (r keyfileReader) ip(section, key string, v assignment) {
	switch {
	case key == "method":
		r.method(section, v)
	case key == "ignore-auto-dns" && r.vars[section+".method"].value == "manual":
		r.w.drop("Nothing offers any.", v.at)
	case key == "dns":
		for _, server := range listed(v.value) {
			r.i.say("dns", server, v.at)
		}
	case key == "dns-search":
		for _, domain := range listed(v.value) {
			r.i.say("search", domain, v.at)
		}
	case key == "addresses":
		for _, a := range listed(v.value) {
			r.i.say("address", a, v.at)
		}
	case strings.HasPrefix(key, "address") && convert.Number(key[len("address"):]):
		address, gateway, _ := strings.Cut(v.value, ",")
		r.i.say("address", strings.TrimSpace(address), v.at)
		if gateway = strings.TrimSpace(gateway); gateway != "" && gateway != "0.0.0.0" && gateway != "::" {
			r.i.say("gateway", gateway, v.at)
		}
	case strings.HasPrefix(key, "routing-rule") && convert.Number(key[len("routing-rule"):]):
		r.i.say("rule", v.value, v.at)
	case strings.HasPrefix(key, "route") && convert.Number(key[len("route"):]):
		r.route(section, key, v)
	}
}

// listed are the values of a list.
func listed(value string) []string {
	return strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune("; ,", c) })
}

func (r keyfileReader) method(section string, v assignment) {
	switch section + " " + v.value {
	case "ipv4 auto":
		r.i.say("dhcp4", "yes", v.at)
	case "ipv6 auto":
		r.i.say("ra", "yes", v.at)
	case "ipv6 dhcp":
		r.i.say("dhcp6", "yes", v.at)
	case "ipv6 manual", "ipv6 link-local", "ipv6 disabled":
		r.i.say("ra", "no", v.at)
	}
}

// route is a route with the options that stand in a key beside it.
func (r keyfileReader) route(section, key string, v assignment) {
	parts := strings.Split(v.value, ",")
	words, at := strings.TrimSpace(parts[0]), []position{v.at}
	if words == "0.0.0.0/0" || words == "::/0" {
		words = "default"
	}
	for n, word := range []string{" via ", " metric "} {
		if n+1 < len(parts) && strings.TrimSpace(parts[n+1]) != "" {
			words += word + strings.TrimSpace(parts[n+1])
		}
	}
	if options, ok := r.vars[section+"."+key+"_options"]; ok {
		words += " " + strings.NewReplacer(",", " ", "=", " ").Replace(options.value)
		at = append(at, options.at)
	}
	if len(parts) > 3 {
		words = v.value
	}
	r.i.say("route", words, at...)
}

// carryKeyfiles carries connections over to Debian's NetworkManager as they are.
// It leaves alone what ifupdown has, so ifupdown gets nothing but the loopback.
func (w *wiring) carryKeyfiles() {
	for _, i := range w.ifaces {
		w.carry(w.pages[i.file], "0600")
	}
	w.bareInterfaces("auto lo", "iface lo inet loopback")
}

// carry carries a file over to the same program as it is, but for one with a
// secret.
func (w *wiring) carry(p *convert.Page, mode string) {
	o := &output{path: p.From, from: p.From, mode: mode}
	w.outputs = append(w.outputs, o)
	p.Refused = nil // the program knows every key
	for n, line := range p.Lines {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && value != "" && secretless(name+"=") != name+"=" {
			p.Refuse(n, "It is a secret: bring the file over by hand.")
		}
		if n+1 < len(p.Lines) || line != "" {
			o.add(line, position{p.From, n + 1})
		}
	}
}

// writeKeyfiles writes a connection of NetworkManager for each interface.
func (w *wiring) writeKeyfiles() {
	for _, i := range w.ifaces {
		o := &output{path: "/etc/NetworkManager/system-connections/" + i.name + ".nmconnection", from: i.file, mode: "0600"}
		w.outputs = append(w.outputs, o)
		k := keyfile{w, i, o}
		k.connection()
		k.link()
		if i.first("master").key == "" {
			k.ip(4)
			k.ip(6)
		}
	}
}

// keyfile writes one connection.
type keyfile struct {
	w   *wiring
	i   *iface
	out *output
}

// each writes a key for every option of a kind.
func (k keyfile) each(option, key string) {
	for _, o := range k.i.all(option) {
		k.out.add(key+"="+o.value, o.at...)
	}
}

func (k keyfile) connection() {
	_, named := joined(k.i.all("name"))
	k.out.add("[connection]")
	k.out.add("id="+k.i.name, named...)
	k.out.add("type=" + k.i.kind)
	if k.i.first("mac").key == "" {
		k.out.add("interface-name=" + k.i.name)
	}
	for _, o := range k.i.all("auto") {
		k.out.add("autoconnect="+map[bool]string{true: "false", false: "true"}[o.value == "no"], o.at...)
	}
	k.each("zone", "zone")
	for _, o := range k.i.all("master") {
		k.out.add("master="+o.value, o.at...)
		if master := k.w.interfaceNamed(o.value); master != nil {
			k.out.add("slave-type=" + master.kind)
		}
	}
}

// link writes what is of the interface itself.
func (k keyfile) link() {
	if !slices.Contains([]string{"ethernet", "bond", "bridge", "vlan"}, k.i.kind) {
		k.w.Refuse(k.i.file, convert.Refusal{Line: 0, Text: "", Why: "An interface of the kind " + k.i.kind + " has to be set up by hand."})
	}
	if k.i.kind != "ethernet" {
		k.out.add("[" + k.i.kind + "]")
	}
	k.each("vlan-id", "id")
	k.each("vlan-link", "parent")
	for _, o := range k.i.all("bond") {
		key, value, _ := strings.Cut(o.value, " ")
		k.out.add(strings.ReplaceAll(key, "-", "_")+"="+value, o.at...)
	}
	if k.i.kind == "bridge" {
		k.bridge()
	}
	if len(k.i.all("mac", "set-mac", "mtu")) > 0 {
		k.out.add("[ethernet]")
		k.each("mac", "mac-address")
		k.each("set-mac", "cloned-mac-address")
		k.each("mtu", "mtu")
	}
}

// bridge writes the settings of a bridge; NetworkManager would turn STP on.
func (k keyfile) bridge() {
	stp := "false"
	var at []position
	for _, o := range k.i.all("bridge") {
		key, value, _ := strings.Cut(o.value, " ")
		switch key {
		case "stp":
			stp, at = map[bool]string{true: "true", false: "false"}[value == "yes"], o.at
		case "ageing":
			k.out.add("ageing-time="+value, o.at...)
		default:
			k.out.add(key+"="+value, o.at...)
		}
	}
	k.out.add("stp="+stp, at...)
}

// ip writes one of the two versions.
func (k keyfile) ip(version int) {
	addresses := k.i.of("address", version)
	dhcp, ra := k.i.first("dhcp"+strconv.Itoa(version)), k.i.first("ra")
	method, at := "manual", dhcp.at
	switch {
	case version == 4 && dhcp.key != "", version == 6 && ra.value != "no":
		method = "auto"
	case version == 4 && len(addresses) == 0:
		method = "disabled"
	case version == 6 && dhcp.key != "":
		method = "dhcp"
	case version == 6 && len(addresses) == 0:
		method = "link-local"
	}
	if version == 6 {
		at = append(slices.Clone(at), ra.at...)
	}
	k.out.add("[ipv" + strconv.Itoa(version) + "]")
	k.out.add("method="+method, at...)
	for n, a := range addresses {
		k.out.add("address"+strconv.Itoa(n+1)+"="+a.value, a.at...)
	}
	for _, o := range k.i.of("gateway", version) {
		k.out.add("gateway="+o.value, o.at...)
	}
	k.resolver(version, method)
	if version == 4 {
		k.each("metric", "route-metric")
	}
	k.routes(version)
}

// resolver writes the name servers of a version; domains stand with the first
// that is used.
func (k keyfile) resolver(version int, method string) {
	servers, at := joined(k.i.of("dns", version))
	if servers != "" {
		k.out.add("dns="+strings.ReplaceAll(servers, " ", ";")+";", at...)
	}
	four := len(k.i.of("address", 4))+len(k.i.all("dhcp4")) > 0
	if search, from := joined(k.i.all("search")); search != "" && four == (version == 4) && method != "disabled" {
		k.out.add("dns-search="+strings.ReplaceAll(search, " ", ";")+";", from...)
	}
}

// routes writes the routes and rules of a version.
func (k keyfile) routes(version int) {
	n := 0
	for _, o := range k.i.of("route", version) {
		n++
		key := "route" + strconv.Itoa(n)
		words, _ := parseWords(o.value, routeWords)
		if words["dev"] != "" {
			k.w.refuseLine(o.at[0], "A route of this interface leads over another.")
		}
		to := words["to"]
		if to == "default" {
			to = map[int]string{4: "0.0.0.0/0", 6: "::/0"}[version]
		}
		k.out.add(strings.TrimRight(key+"="+to+","+words["via"]+","+words["metric"], ","), o.at...)
		options := []string{}
		for _, word := range []string{"table", "src", "mtu"} {
			if value := k.w.table(o, word, words[word]); value != "" {
				options = append(options, word+"="+value)
			}
		}
		if len(options) > 0 {
			k.out.add(key+"_options="+strings.Join(options, ","), o.at...)
		}
	}
	for n, o := range k.i.of("rule", version) {
		k.rule(n, o)
	}
}

// rule writes a rule with a priority, without which NetworkManager takes none.
func (k keyfile) rule(n int, o option) {
	words, _ := parseWords("- "+o.value, ruleWords)
	text := "priority " + cmp.Or(words["priority"], words["pref"], strconv.Itoa(32765-n))
	for _, word := range []string{"from", "to", "iif", "oif", "fwmark"} {
		if words[word] != "" && words[word] != "all" {
			text += " " + word + " " + words[word]
		}
	}
	if table := k.w.table(o, "table", cmp.Or(words["table"], words["lookup"])); table != "" {
		text += " table " + table
	}
	k.out.add("routing-rule"+strconv.Itoa(n+1)+"="+text, o.at...)
}
