package convert

import (
	"cmp"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/backend/api/release"
)

// Waiting is the folder of the target in which lies what decides who reaches the
// machine, below it as below /: nothing reads it there, so that the connection
// stays by which the role is applied, and two machines never have one address.
// A person puts it in place when the machine takes over.
const Waiting = "/etc/svc/network"

// Waits reports whether a file of the target is put in place by a person.
func Waits(name string) bool { return strings.HasPrefix(name, Waiting+"/") }

// Prepares reports whether a converter takes files that hold for one machine
// alone, or that are closed to others without a secret in them, and lays ready
// what follows of them.
func Prepares(name string) bool {
	return slices.Contains([]string{"network", "iptables", "nftables", "ufw", "ufw-nftables"}, name)
}

// maxNetworkLines bounds the files of the network together: what is longer
// describes no machine.
const maxNetworkLines = 10_000

// spot is a line of a file, from 1.
type spot struct {
	file string
	line int
}

// option is one thing that is said of an interface, in iproute2's words where it
// has any. The keys:
//
//	mac        the hardware address by which it is known
//	set-mac    the hardware address that it is given
//	mtu, auto (yes, no), dhcp4, dhcp6, ra (yes, no), zone (of firewalld)
//	address    10.0.0.2/24
//	gateway    10.0.0.1
//	metric     of the gateways
//	dns, search
//	route      default via 10.0.0.1 metric 5, 10.1.0.0/16 via 10.0.0.3 table 7
//	rule       from 10.0.0.2 table 7 priority 100
//	master     bond0
//	bond       mode active-backup
//	bridge     stp yes, forward-delay 4
//	vlan-id, vlan-link
type option struct {
	key, value string
	at         []spot
}

// iface is an interface as every manager's files describe it.
type iface struct {
	name, kind string // ethernet, bond, bridge, vlan
	file       string
	options    []option
}

func (i *iface) say(key, value string, at ...spot) {
	i.options = append(i.options, option{key, value, at})
}

// all are the options with one of the keys, in their order.
func (i *iface) all(keys ...string) (found []option) {
	for _, o := range i.options {
		if slices.Contains(keys, o.key) {
			found = append(found, o)
		}
	}
	return found
}

// first is the first option with a key; without one it is empty.
func (i *iface) first(key string) option {
	for _, o := range i.options {
		if o.key == key {
			return o
		}
	}
	return option{}
}

// of are the options with a key that are of IP version 4 or 6.
func (i *iface) of(key string, version int) (found []option) {
	for _, o := range i.all(key) {
		if (version == 6) == strings.Contains(o.value, ":") {
			found = append(found, o)
		}
	}
	return found
}

// wiring is the conversion of a machine's network.
type wiring struct {
	Result
	in      Input
	pages   map[string]*page
	ifaces  []*iface
	aliases map[string]string // other names of interfaces, such as the UUIDs of connections
	parts   []part
	// What ifupdown says apart from interfaces: which come up at boot, and the
	// hardware addresses by which they are known, by their names.
	automatic, named []option
	told             map[spot][]string // lines of the target that say what a line said
	dropped          map[spot]string   // why a line is not needed
	outputs          []*output
	manager          string // of the target's network
}

// part is what a bond or bridge says of another interface.
type part struct {
	name, master string
	at           spot
}

// output is a file of the target, line by line.
type output struct {
	path, from, mode string
	shared           bool // of no interface alone
	lines            []outputLine
	tail             []string
}

// outputLine is a line of the target with the lines that it comes of, and with
// the comments that stood before these.
type outputLine struct {
	text   string
	at     []spot
	before []string
}

func (o *output) add(text string, at ...spot) {
	o.lines = append(o.lines, outputLine{text, at, nil})
}

// network converts the files of whatever manages the interfaces of the source.
func network(in Input) Result {
	w := &wiring{in: in, pages: map[string]*page{}, aliases: map[string]string{}, told: map[spot][]string{}, dropped: map[spot]string{}}
	for _, f := range in.Files {
		w.pages[f.Path] = open(f, "#")
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
		lines += len(p.lines)
	}
	if lines <= maxNetworkLines {
		return false
	}
	for file := range w.pages {
		w.refuse(file, Refusal{0, "", "It is, with the files beside it, too long to be the network of a machine."})
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

// interfaceNamed is the interface of a name, or nil.
func (w *wiring) interfaceNamed(name string) *iface {
	for _, i := range w.ifaces {
		if i.name == name {
			return i
		}
	}
	return nil
}

func (w *wiring) drop(why string, at ...spot) {
	for _, s := range at {
		w.dropped[s] = why
	}
}

func (w *wiring) refuseLine(at spot, why string) {
	if p := w.pages[at.file]; p != nil && at.line > 0 && at.line <= len(p.lines) {
		p.refuse(at.line-1, why)
		return
	}
	w.refuse(at.file, Refusal{0, "", why})
}

// described is the interface of a name, which need not have been there: a name
// with a dot and a number is that of a VLAN.
func (w *wiring) described(name string, at spot) *iface {
	if i := w.interfaceNamed(name); i != nil {
		return i
	}
	i := &iface{name: name, kind: "ethernet", file: at.file}
	if link, id, dotted := strings.Cut(name, "."); dotted && number(id) {
		i.kind = "vlan"
		i.say("vlan-link", link, at)
		i.say("vlan-id", id, at)
	}
	w.ifaces = append(w.ifaces, i)
	return i
}

// join looks at what interfaces say of each other.
func (w *wiring) join() {
	seen := map[string]bool{}
	for _, i := range w.ifaces {
		if !isInterface(i.name) {
			w.refuse(i.file, Refusal{0, "", "The interface has no name by which the target could know it."})
		}
		if seen[i.name] {
			w.refuse(i.file, Refusal{0, "", "Two files describe " + i.name + "."})
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

// check refuses values that no manager would take.
func (w *wiring) check(o option) {
	ok := true
	switch o.key {
	case "address":
		_, err := netip.ParsePrefix(o.value)
		ok = err == nil
	case "gateway", "dns":
		a, err := netip.ParseAddr(o.value)
		ok = err == nil && (a.Zone() == "" || isInterface(a.Zone())) // a zone may be any text
	case "mtu", "metric", "vlan-id":
		ok = number(o.value)
	case "mac", "set-mac":
		ok = isMAC(o.value)
	case "route":
		_, ok = parseWords(o.value, routeWords)
	case "rule":
		_, ok = parseWords("- "+o.value, ruleWords)
	case "search", "zone":
		ok = isPlain(o.value)
	case "bond", "bridge":
		key, value, _ := strings.Cut(o.value, " ")
		ok = isPlain(key) && isPlain(value) && (number(value) || !slices.Contains(bareNumbers, key))
	}
	if !ok || strings.ContainsAny(o.value, "\r\n") {
		w.refuseLine(o.at[0], "It is no "+o.key+".")
	}
}

// bareNumbers are the settings of bonds and bridges that are numbers: netplan
// alone takes units behind them.
var bareNumbers = strings.Fields("miimon updelay downdelay arp-interval num-grat-arp packets-per-slave min-links forward-delay priority ageing hello-time max-age")

// isInterface reports whether a text is a name of an interface that every manager
// takes as it is.
func isInterface(name string) bool {
	return len(name) <= 15 && isPlain(name) && name[0] != '-' && strings.Trim(name, ".") != ""
}

// isPlain reports whether a text means itself to every manager and shell.
func isPlain(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("._-+:,@", c)
	})
}

func isMAC(s string) bool {
	parts := strings.Split(s, ":")
	return len(parts) == 6 && !slices.ContainsFunc(parts, func(part string) bool {
		_, err := strconv.ParseUint(part, 16, 8)
		return err != nil || len(part) != 2
	})
}

// Words of `ip route` and `ip rule`, each with a value.
var (
	routeWords = strings.Fields("via dev metric table src mtu")
	ruleWords  = strings.Fields("from to table lookup priority pref iif oif fwmark")
)

// parseWords reads a first word and pairs of a word and its value.
func parseWords(text string, known []string) (map[string]string, bool) {
	f := strings.Fields(text)
	if len(f)%2 == 0 {
		return nil, false
	}
	words := map[string]string{"to": f[0]}
	if f[0] == "-" {
		delete(words, "to")
	} else if _, err := prefix(f[0]); err != nil {
		return nil, false
	}
	for i := 1; i < len(f); i += 2 {
		if !slices.Contains(known, f[i]) || !plainWord(f[i], f[i+1]) {
			return nil, false
		}
		words[f[i]] = f[i+1]
	}
	return words, true
}

// plainWord reports whether a value is what `ip` takes after a word.
func plainWord(word, value string) bool {
	var err error
	switch word {
	case "via", "src":
		_, err = netip.ParseAddr(value)
	case "from", "to":
		if value != "all" {
			_, err = prefix(value)
		}
	case "metric", "mtu", "priority", "pref":
		_, err = strconv.ParseUint(value, 10, 32)
	case "fwmark":
		_, err = strconv.ParseUint(value, 0, 32)
	}
	return err == nil && (isPlain(value) || strings.Contains(value, "/") && isPlain(strings.ReplaceAll(value, "/", "")))
}

// prefix is a network as `ip` writes it: default, or an address with or without
// a length.
func prefix(s string) (netip.Prefix, error) {
	if s == "default" {
		return netip.Prefix{}, nil
	}
	if !strings.Contains(s, "/") {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return netip.Prefix{}, err
		}
		return a.Prefix(a.BitLen())
	}
	return netip.ParsePrefix(s)
}

// write writes every interface in the target's way.
func (w *wiring) write() {
	w.writeNetworkd()
	switch {
	case w.onlyKeyfiles():
		w.manager = "NetworkManager"
		w.carryKeyfiles()
	case !debianFamily(w.in.Target):
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
		case debianFamily(w.in.Target):
			w.carry(p, "0644")
		default:
			p.refuse(0, "The target has no systemd-networkd: set the interface up by hand.")
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

// noCounterpart is why a setting is left to a person.
const noCounterpart = "Nothing of the target surely does the same."

// account makes a change or a refusal of every line that says something.
func (w *wiring) account() {
	for file, p := range w.pages {
		for n := range p.lines {
			at := spot{file, n + 1}
			line := strings.TrimSpace(p.lines[n])
			switch told, why := w.told[at], w.dropped[at]; {
			case p.idle(n) || strings.HasPrefix(line, ";"):
			case len(told) > 0:
				now := strings.Join(slices.Compact(told), "\n")
				if now != line {
					p.changes = append(p.changes, Change{n + 1, line, now, w.manager + " says it so."})
				}
			case why != "":
				p.changes = append(p.changes, Change{n + 1, line, "", why})
			case !slices.ContainsFunc(p.refused, func(r Refusal) bool { return r.Line == n+1 }):
				p.refuse(n, noCounterpart)
			}
		}
	}
	for file, p := range w.pages {
		slices.SortStableFunc(p.refused, func(a, b Refusal) int { return cmp.Compare(a.Line, b.Line) })
		for _, r := range p.refused {
			w.refuse(file, Refusal{r.Line, secretless(r.Text), r.Why})
		}
	}
}

// secretWords begin the names of settings that may be secrets.
var secretWords = strings.Fields("psk pass secret wep-key private-key privatekey presharedkey key= pin= leap")

// secretless is a line as far as a secret's name.
func secretless(line string) string {
	for _, word := range secretWords {
		if i := strings.Index(strings.ToLower(line), word); i >= 0 && i+len(word) <= len(line) {
			return line[:i+len(word)] + "…"
		}
	}
	return line
}

// spread refuses with a file all that does not stand without it: an interface
// with its routes, a bond with its parts.
func (w *wiring) spread() {
	for changed := true; changed; {
		changed = false
		for _, group := range w.groups() {
			bad := slices.IndexFunc(group, func(file string) bool { return len(w.Refusals[file]) > 0 })
			for _, file := range group {
				if bad >= 0 && len(w.Refusals[file]) == 0 {
					w.refuse(file, Refusal{0, "", "It belongs to " + group[bad] + ", which is not understood."})
					changed = true
				}
			}
		}
	}
}

// groups are the files that belong together, interface by interface.
func (w *wiring) groups() (all [][]string) {
	for _, i := range w.ifaces {
		group := []string{i.file}
		for _, o := range i.options {
			for _, at := range o.at {
				group = append(group, at.file)
			}
			if o.key == "master" || o.key == "vlan-link" {
				if other := w.interfaceNamed(o.value); other != nil {
					group = append(group, other.file)
				}
			}
		}
		slices.Sort(group)
		all = append(all, slices.Compact(group))
	}
	return all
}

// finish puts the files together, with the source's comments where they stood.
func (w *wiring) finish() {
	for _, file := range slices.Sorted(maps.Keys(w.pages)) {
		p := w.pages[file]
		for n := range p.lines {
			remark, at := w.remark(p, n), spot{file, n + 1}
			if remark != "" && len(w.told[at]) == 0 && !w.place(at, remark) {
				p.changes = append(p.changes, Change{n + 1, remark, "", "Nothing is left to which it belongs."})
			}
		}
		slices.SortStableFunc(p.changes, func(a, b Change) int { return cmp.Compare(a.Line, b.Line) })
		if len(p.changes) > 0 && len(w.Refusals[file]) == 0 {
			w.note(file, p.changes...)
		}
	}
	for _, o := range w.outputs {
		o.from = w.origin(o)
		w.Files = append(w.Files, File{Path: Waiting + o.path, Text: o.text(), From: o.from, Mode: o.mode})
	}
	slices.Sort(w.Packages)
	w.Packages = slices.Compact(w.Packages)
}

// origin is the file that a file of the target follows. One that is shared
// stays as long as one interface does.
func (w *wiring) origin(o *output) string {
	for _, i := range w.ifaces {
		if o.shared && len(w.Refusals[o.from]) > 0 && len(w.Refusals[i.file]) == 0 {
			return i.file
		}
	}
	return o.from
}

// remark is the comment that line n of a page is, or nothing.
func (w *wiring) remark(p *page, n int) string {
	line := strings.TrimSpace(p.lines[n])
	switch {
	case strings.HasPrefix(line, ";"):
		return "#" + line
	case p.idle(n):
		return line
	}
	return ""
}

// place puts a comment before what comes of the next line of its file; the
// comments at a file's head at the head of what comes of it, those at its end
// at the end.
func (w *wiring) place(at spot, remark string) bool {
	next, last := w.after(at)
	switch {
	case next != nil:
		next.before = append(next.before, remark)
	case last != nil:
		last.tail = append(last.tail, remark)
	}
	return last != nil
}

// after is the line of the target that comes of the next line of a file, and
// the last output that has something of the file.
func (w *wiring) after(at spot) (next *outputLine, last *output) {
	head := !slices.ContainsFunc(w.pages[at.file].lines[:at.line], func(line string) bool { return line != "" && !strings.HasPrefix(line, "#") })
	line := 0
	for _, o := range w.outputs {
		if o.from == at.file && last == nil && len(o.lines) > 0 {
			last = o
		}
		if head && o.from == at.file && !o.shared {
			return &o.lines[0], o
		}
		for i := range o.lines {
			for _, s := range o.lines[i].at {
				if s.file != at.file {
					continue
				}
				last = o
				if s.line > at.line && (next == nil || s.line < line) {
					next, line = &o.lines[i], s.line
				}
			}
		}
	}
	return next, last
}

func (o *output) text() string {
	var b strings.Builder
	for _, line := range o.lines {
		for _, remark := range line.before {
			b.WriteString(remark + "\n")
		}
		b.WriteString(line.text + "\n")
	}
	for _, remark := range o.tail {
		b.WriteString(remark + "\n")
	}
	return b.String()
}

// networkMoves is a move to a release whose network is set up in another way.
func networkMoves(in Input) bool {
	known := func(r Input) bool {
		return (rpmFamily(in.Source) || debianFamily(in.Source)) && (rpmFamily(in.Target) || debianFamily(in.Target))
	}
	return known(in) && in.Source.Family != in.Target.Family && !(rpmFamily(in.Source) && rpmFamily(in.Target))
}
