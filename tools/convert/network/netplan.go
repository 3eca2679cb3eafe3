package network

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"svc/backend/sliced"
	"svc/tools/convert"
)

// netplanKinds are the kinds of interfaces by netplan's names for them.
var netplanKinds = map[string]string{"ethernets": "ethernet", "bonds": "bond", "bridges": "bridge", "vlans": "vlan"}

// readNetplan reads a file of netplan.
func (w *wiring) readNetplan(p *convert.Page) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(p.Text()), &document); err != nil || len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		w.Refuse(p.From, convert.Refusal{Line: 0, Text: "", Why: "It is no YAML with keys and values."})
		return
	}
	for n, line := range p.Lines {
		if strings.TrimSpace(line) == "---" {
			w.drop(form, position{p.From, n + 1})
		}
	}
	r := netplanReader{w: w, file: p.From}
	for key, network := range r.pairs(document.Content[0]) {
		if key.Value == "network" {
			r.network(key, network)
		}
	}
}

// netplanReader reads one file.
type netplanReader struct {
	w    *wiring
	file string
	i    *iface
}

func (r netplanReader) position(n *yaml.Node) position { return position{r.file, n.Line} }

// pairs are the keys and values of a mapping; anything else has none.
func (r netplanReader) pairs(n *yaml.Node) func(func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// shape notes that a key only says what follows, where its value is of that
// kind.
func (r netplanReader) shape(key, value *yaml.Node, kind yaml.Kind) bool {
	if value.Kind != kind {
		r.w.refuseLine(r.position(key), "It is not as netplan writes it.")
		return false
	}
	r.w.drop(form, r.position(key))
	return true
}

// below are the keys and values of a mapping that a key has.
func (r netplanReader) below(key, value *yaml.Node) func(func(key, value *yaml.Node) bool) {
	if !r.shape(key, value, yaml.MappingNode) {
		value = &yaml.Node{}
	}
	return r.pairs(value)
}

// scalars are the values of a list of plain values.
func (r netplanReader) scalars(key, list *yaml.Node) (all []*yaml.Node) {
	if !r.shape(key, list, yaml.SequenceNode) {
		return nil
	}
	for _, item := range list.Content {
		if item.Kind != yaml.ScalarNode {
			r.w.refuseLine(r.position(item), "It has settings of its own.")
			continue
		}
		all = append(all, item)
	}
	if len(all) == 0 {
		r.w.drop("It says nothing.", r.position(key))
	}
	return all
}

func (r netplanReader) network(key, network *yaml.Node) {
	for key, value := range r.below(key, network) {
		switch kind := netplanKinds[key.Value]; {
		case (key.Value == "version" || key.Value == "renderer") && value.Kind == yaml.ScalarNode:
			r.w.drop(form, r.position(key))
		case kind == "":
			r.w.refuseLine(r.position(key), "An interface of this kind has to be set up by hand.")
		default:
			for name, device := range r.below(key, value) {
				r.device(kind, name, device)
			}
		}
	}
}

func (r netplanReader) device(kind string, name, device *yaml.Node) {
	r.i = &iface{name: name.Value, kind: kind, file: r.file}
	r.w.ifaces = append(r.w.ifaces, r.i)
	r.i.say("name", name.Value, r.position(name))
	if !r.shape(name, device, yaml.MappingNode) {
		return
	}
	for key, value := range r.pairs(device) {
		if key.Value == "match" || key.Value == "set-name" {
			r.match(key, value)
		}
	}
	r.w.aliases[name.Value] = r.i.name
	stp := false
	for key, value := range r.pairs(device) {
		stp = stp || key.Value == "parameters" && slices.ContainsFunc(value.Content, func(n *yaml.Node) bool { return n.Value == "stp" })
		r.setting(key, value)
	}
	if kind == "bridge" && !stp {
		r.i.say("bridge", "stp yes", r.position(name))
	}
}

// match takes what names an interface.
func (r netplanReader) match(key, value *yaml.Node) {
	if key.Value == "set-name" {
		r.i.name = value.Value
		r.i.say("name", value.Value, r.position(key))
		return
	}
	for key, value := range r.below(key, value) {
		switch {
		case key.Value == "macaddress":
			r.i.say("mac", strings.ToLower(value.Value), r.position(value))
		case key.Value == "name" && !strings.ContainsAny(value.Value, "*?["):
			r.i.name = value.Value
			r.i.say("name", value.Value, r.position(value))
		default:
			r.w.refuseLine(r.position(key), "It may be any of several interfaces.")
		}
	}
}

func (r netplanReader) setting(key, value *yaml.Node) {
	plain := convert.WordsOf("netplan")[key.Value].Now
	switch {
	case key.Value == "match", key.Value == "set-name":
	case plain != "" && value.Kind == yaml.ScalarNode:
		r.plain(plain, value)
	case key.Value == "addresses":
		for _, item := range r.scalars(key, value) {
			r.i.say("address", item.Value, r.position(item))
		}
	case key.Value == "interfaces":
		r.w.parts = append(r.w.parts, sliced.Map(r.scalars(key, value), func(item *yaml.Node) part { return part{item.Value, r.i.name, r.position(item)} })...)
	case key.Value == "nameservers":
		for key, value := range r.below(key, value) {
			r.nameservers(key, value)
		}
	case key.Value == "parameters":
		for key, value := range r.below(key, value) {
			r.parameter(key, value)
		}
	case netplanWords[key.Value] != nil:
		r.routes(key, value)
	case slices.Contains([]string{"optional", "renderer", "dhcp-identifier", "critical"}, key.Value) && value.Kind == yaml.ScalarNode:
		r.w.drop("It is netplan's own.", r.position(key))
	default: // what it says may stand in a line with what is understood
		r.w.refuseLine(r.position(key), noCounterpart)
	}
}

func (r netplanReader) plain(key string, value *yaml.Node) {
	v := strings.ToLower(value.Value)
	switch key {
	case "dhcp4", "dhcp6":
		if onOff(v) == "no" {
			r.w.drop("The target does so.", r.position(value))
			return
		}
		v = "yes"
	case "ra":
		v = onOff(v)
	case "vlan-link":
		v = value.Value
	}
	r.i.say(key, v, r.position(value))
}

func (r netplanReader) nameservers(key, value *yaml.Node) {
	option := map[string]string{"addresses": "dns", "search": "search"}[key.Value]
	if option == "" {
		r.w.refuseLine(r.position(key), "It is not as netplan writes it.")
		return
	}
	for _, item := range r.scalars(key, value) {
		r.i.say(option, item.Value, r.position(item))
	}
}

func (r netplanReader) parameter(key, value *yaml.Node) {
	kind, name, known := strings.Cut(convert.WordsOf("netplan-parameters")[strings.Replace(key.Value, "-member", "-slave", 1)].Now, " ")
	switch {
	case !known || value.Kind != yaml.ScalarNode || kind != r.i.kind || strings.ContainsAny(value.Value, " \t\n"):
		r.w.refuseLine(r.position(key), noCounterpart)
	case name == "stp":
		r.i.say("bridge", "stp "+onOff(value.Value), r.position(value))
	default:
		r.i.say(kind, name+" "+value.Value, r.position(value))
	}
}

// netplanWords are the keys of routes and of rules, with those of `ip`.
var netplanWords = map[string]map[string]string{
	"routes":         {"via": "via", "metric": "metric", "table": "table", "from": "src", "mtu": "mtu"},
	"routing-policy": {"from": "from", "to": "to", "table": "table", "priority": "priority", "mark": "fwmark"},
}

// routes takes a list of routes or of rules.
func (r netplanReader) routes(key, list *yaml.Node) {
	if !r.shape(key, list, yaml.SequenceNode) {
		return
	}
	for _, item := range list.Content {
		r.route(key.Value, item)
	}
}

func (r netplanReader) route(kind string, item *yaml.Node) {
	to, text := "", ""
	at := []position{}
	for key, value := range r.pairs(item) {
		at = append(at, r.position(value))
		word := netplanWords[kind][key.Value]
		switch {
		case value.Kind != yaml.ScalarNode:
			r.w.refuseLine(r.position(key), "It is not as netplan writes it.")
		case kind == "routes" && key.Value == "to":
			to = value.Value
		case word == "":
			r.w.refuseLine(r.position(key), noCounterpart)
		default:
			text += " " + word + " " + value.Value
		}
	}
	if len(at) == 0 {
		r.w.refuseLine(r.position(item), "It is not as netplan writes it.")
		return
	}
	if to == "0.0.0.0/0" || to == "::/0" {
		to = "default"
	}
	gateway, plain := strings.CutPrefix(text, " via ")
	switch {
	case kind == "routing-policy":
		r.i.say("rule", strings.TrimSpace(text), at...)
	case to == "default" && plain && !strings.Contains(gateway, " "):
		r.i.say("gateway", gateway, at...)
	default:
		r.i.say("route", to+text, at...)
	}
}

// writeNetplan writes a file of netplan for each interface. netplan wants what an
// interface is made of in an earlier file.
func (w *wiring) writeNetplan() {
	ranks := w.ranks()
	for _, i := range w.ifaces {
		o := &output{path: "/etc/netplan/9" + strconv.Itoa(ranks[i.name]) + "-" + i.name + ".yaml", from: i.file, mode: "0600"}
		w.outputs = append(w.outputs, o)
		n := netplan{w, i, o}
		o.add("network:")
		o.add("  version: 2")
		n.undescribed()
		n.device()
	}
	w.Packages = append(w.Packages, "netplan.io")
}

// ranks are how many interfaces stand one upon the other below each, up to 9.
func (w *wiring) ranks() map[string]int {
	ranks := map[string]int{}
	for range 9 {
		for _, i := range w.ifaces {
			if o := i.first("master"); o.key != "" {
				ranks[o.value] = min(9, max(ranks[o.value], ranks[i.name]+1))
			}
			if o := i.first("vlan-link"); o.key != "" {
				ranks[i.name] = min(9, max(ranks[i.name], ranks[o.value]+1))
			}
		}
	}
	return ranks
}

// netplan writes one interface.
type netplan struct {
	w   *wiring
	i   *iface
	out *output
}

// add writes a line of the interface at a depth below its name.
func (n netplan) add(depth int, text string, at ...position) {
	n.out.add(strings.Repeat("  ", depth+3)+text, at...)
}

// undescribed writes the interface that a VLAN is on, where no other file does.
func (n netplan) undescribed() {
	if link := n.i.first("vlan-link"); link.key != "" && n.w.interfaceNamed(link.value) == nil {
		n.out.add("  ethernets:")
		n.out.add("    "+strconv.Quote(link.value)+": {}", link.at...)
	}
}

func (n netplan) device() {
	group := n.i.kind + "s"
	if netplanKinds[group] == "" {
		n.w.Refuse(n.i.file, convert.Refusal{Line: 0, Text: "", Why: "An interface of the kind " + n.i.kind + " has to be set up by hand."})
	}
	_, named := joined(n.i.all("name"))
	n.out.add("  " + group + ":")
	n.out.add("    "+strconv.Quote(n.i.name)+":", named...)
	n.link()
	n.composed()
	n.addresses()
	n.routes()
	if last := &n.out.lines[len(n.out.lines)-1]; strings.HasSuffix(last.text, strconv.Quote(n.i.name)+":") {
		last.text += " {}"
	}
}

// link writes what is of the interface itself.
func (n netplan) link() {
	for _, o := range n.i.all("mac") {
		n.add(0, "match: {macaddress: "+strconv.Quote(o.value)+"}", o.at...)
		n.add(0, "set-name: "+strconv.Quote(n.i.name))
	}
	for _, o := range n.i.all("auto") {
		if o.value == "no" {
			n.add(0, "activation-mode: manual", o.at...)
		} else {
			n.w.drop("The target does so.", o.at...)
		}
	}
	for _, o := range n.i.all("zone") {
		n.w.refuseLine(o.at[0], "netplan binds no interface to a zone: say it in the zone's file.")
	}
	n.each("set-mac", "macaddress")
	n.each("mtu", "mtu")
	for _, o := range n.i.all("metric") {
		n.w.refuseLine(o.at[0], "netplan has metrics of routes alone.")
	}
}

// each writes a key for every option of a kind.
func (n netplan) each(option, key string) {
	for _, o := range n.i.all(option) {
		value := o.value
		if !convert.Number(value) {
			value = strconv.Quote(value)
		}
		n.add(0, key+": "+value, o.at...)
	}
}

// composed writes what an interface is made of.
func (n netplan) composed() {
	n.each("vlan-id", "id")
	n.each("vlan-link", "link")
	if n.i.kind != "bond" && n.i.kind != "bridge" {
		return
	}
	names, at := n.w.members(n.i.name)
	quoted := sliced.Map(names, strconv.Quote)
	n.add(0, "interfaces: ["+strings.Join(quoted, ", ")+"]", at...)
	n.parameters()
}

// parameters writes the settings of a bond or bridge; netplan would turn STP on.
func (n netplan) parameters() {
	settings := n.i.all(n.i.kind)
	if n.i.kind == "bridge" && !slices.ContainsFunc(settings, func(o option) bool { return strings.HasPrefix(o.value, "stp ") }) {
		settings = append(settings, option{"bridge", "stp no", nil})
	}
	if len(settings) > 0 {
		n.add(0, "parameters:")
	}
	for _, o := range settings {
		key, value, _ := strings.Cut(o.value, " ")
		name := netplanParameter(n.i.kind, key)
		switch {
		case name == "":
			n.w.refuseLine(o.at[0], "netplan has nothing for "+key+".")
		case key == "stp":
			n.add(1, "stp: "+map[bool]string{true: "true", false: "false"}[value == "yes"], o.at...)
		case convert.Number(value):
			n.add(1, name+": "+value, o.at...)
		default:
			n.add(1, name+": "+strconv.Quote(value), o.at...)
		}
	}
}

// netplanParameter is netplan's name of a setting of a bond or bridge.
func netplanParameter(kind, key string) string {
	for name, to := range convert.WordsOf("netplan-parameters") {
		if to.Now == kind+" "+key {
			return name
		}
	}
	return ""
}

func (n netplan) addresses() {
	for _, o := range n.i.all("dhcp4", "dhcp6") {
		n.add(0, o.key+": true", o.at...)
	}
	for _, o := range n.i.all("ra") {
		n.add(0, "accept-ra: "+map[bool]string{true: "true", false: "false"}[o.value == "yes"], o.at...)
	}
	n.list(0, "addresses:", n.i.all("address"))
	servers, search := n.i.all("dns"), n.i.all("search")
	if len(servers)+len(search) > 0 {
		n.add(0, "nameservers:")
		n.list(1, "addresses:", servers)
		n.list(1, "search:", search)
	}
}

// list writes a list of plain values.
func (n netplan) list(depth int, key string, values []option) {
	if len(values) > 0 {
		n.add(depth, key)
	}
	for _, o := range values {
		n.add(depth, "- "+strconv.Quote(o.value), o.at...)
	}
}

// routes writes the gateways, routes and rules.
func (n netplan) routes() {
	gateways, routes, rules := n.i.all("gateway"), n.i.all("route"), n.i.all("rule")
	if len(gateways)+len(routes) > 0 {
		n.add(0, "routes:")
	}
	for _, o := range gateways {
		n.add(0, "- {to: default, via: "+strconv.Quote(o.value)+"}", o.at...)
	}
	for _, o := range routes {
		words, _ := parseWords(o.value, routeWords)
		if words["dev"] != "" {
			n.w.refuseLine(o.at[0], "A route of this interface leads over another.")
		}
		text := "to: " + strconv.Quote(words["to"])
		n.words(o, "routes", text, words)
	}
	if len(rules) > 0 {
		n.add(0, "routing-policy:")
	}
	for _, o := range rules {
		words, _ := parseWords("- "+o.value, ruleWords)
		words["table"], words["priority"] = cmp.Or(words["table"], words["lookup"]), cmp.Or(words["priority"], words["pref"])
		if words["iif"]+words["oif"] != "" {
			n.w.refuseLine(o.at[0], "netplan has no rules by interface.")
		}
		n.words(o, "routing-policy", "", words)
	}
}

// words writes a route or rule in a line.
func (n netplan) words(o option, kind, text string, words map[string]string) {
	for _, word := range []string{"via", "from", "to", "metric", "table", "src", "mtu", "priority", "fwmark"} {
		value := n.w.table(o, word, words[word])
		for key, of := range netplanWords[kind] {
			if of != word || value == "" || value == "all" {
				continue
			}
			if !convert.Number(value) {
				value = strconv.Quote(value)
			}
			text += ", " + key + ": " + value
		}
	}
	n.add(0, "- {"+strings.TrimPrefix(text, ", ")+"}", o.at...)
}
