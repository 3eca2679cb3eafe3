package network

import (
	"path"
	"slices"
	"strings"

	"svc/assess/conf"
	"svc/tools/convert"
)

// readInterfaces reads a file of Debian's ifupdown.
func (w *wiring) readInterfaces(p *convert.Page) {
	r := ifupdownReader{w: w}
	for n, words := range conf.Words(p.Text()) {
		r.line(words, position{p.From, n})
	}
	r.end()
}

// ifupdownReader reads one file, stanza by stanza.
type ifupdownReader struct {
	w       *wiring
	i       *iface // nil for stanzas that are not needed
	lo      bool
	address option // whose netmask may follow
}

func (r *ifupdownReader) line(f []string, at position) {
	if strings.HasSuffix(f[len(f)-1], `\`) {
		r.w.refuseLine(at, "It goes on in the next line.")
		return
	}
	switch f[0] {
	case "auto", "allow-hotplug", "allow-auto":
		r.end()
		for _, name := range f[1:] {
			if strings.Contains(name, "/") {
				r.w.refuseLine(at, "It may be any of several interfaces.")
			}
			r.w.automatic = append(r.w.automatic, option{"auto", name, []position{at}})
		}
	case "source", "source-directory":
		r.end()
		if len(f) == 2 && strings.HasPrefix(path.Clean(path.Join("/etc/network", strings.TrimPrefix(f[1], "/etc/network"))), "/etc/network/interfaces.d") {
			r.w.drop(form, at)
		}
	case "rename":
		r.end()
		mac, name, ok := strings.Cut(strings.TrimPrefix(f[len(f)-1], "mac/"), "=")
		if ok && len(f) == 2 && strings.HasPrefix(f[1], "mac/") {
			r.w.named = append(r.w.named, option{name, strings.ToLower(mac), []position{at}})
		}
	case "iface":
		r.end()
		r.stanza(f, at)
	case "mapping", "no-auto-down", "no-scripts", "template":
		r.end()
	default:
		r.option(f[0], f[1:], at)
	}
}

// end is that of a stanza.
func (r *ifupdownReader) end() {
	r.keep()
	r.i, r.lo = nil, false
}

// keep takes the address that was waiting for its netmask.
func (r *ifupdownReader) keep() {
	if r.address.key != "" && r.i != nil {
		r.i.options = append(r.i.options, r.address)
	}
	r.address = option{}
}

func (r *ifupdownReader) stanza(f []string, at position) {
	if len(f) != 4 {
		r.w.refuseLine(at, "It is no interface with its family and method.")
		return
	}
	if r.lo = f[3] == "loopback"; r.lo {
		r.w.drop("Every system has its loopback.", at)
		return
	}
	r.i = r.w.described(f[1], at)
	r.i.say("name", f[1], at)
	switch f[2] + " " + f[3] {
	case "inet static", "inet manual", "inet6 manual":
	case "inet dhcp":
		r.i.say("dhcp4", "yes", at)
	case "inet6 auto":
		r.i.say("ra", "yes", at)
	case "inet6 dhcp":
		r.i.say("dhcp6", "yes", at)
	case "inet6 static":
		if r.i.first("ra").key == "" {
			r.i.say("ra", "no", at)
		}
	default:
		r.w.refuseLine(at, "The target has no such way to an address.")
	}
}

func (r *ifupdownReader) option(key string, values []string, at position) {
	key = strings.ReplaceAll(key, "_", "-")
	value := strings.Join(values, " ")
	switch {
	case r.lo:
		r.w.drop("Every system has its loopback.", at)
	case r.i == nil || len(values) == 0:
		r.w.refuseLine(at, "It belongs to no stanza that is understood.")
	case key == "address":
		r.keep()
		r.address = option{"address", value, []position{at}}
	case key == "netmask" && r.address.key != "":
		if mask := maskLength(value); mask != "" {
			value = mask
		}
		r.address.value += "/" + strings.TrimPrefix(value, "/")
		r.address.at = append(r.address.at, at)
	case strings.HasPrefix(key, "vlan-") && r.i.first(convert.WordsOf("ifupdown")[key].Now).value == value:
		r.i.say("name", r.i.name, at)
	case convert.WordsOf("ifupdown")[key].Now != "":
		r.i.say(convert.WordsOf("ifupdown")[key].Now, value, at)
	case convert.WordsOf("ifupdown-needless")[key].Why != "":
		r.w.drop(convert.WordsOf("ifupdown-needless")[key].Why, at)
	case slices.Contains([]string{"up", "post-up", "pre-up", "down", "pre-down", "post-down"}, key):
		r.command(key, value, at)
	default:
		r.more(key, values, at)
	}
}

// more takes the options of other packages.
func (r *ifupdownReader) more(key string, values []string, at position) {
	bond, isBond := strings.CutPrefix(key, "bond-")
	value := strings.Join(values, " ")
	switch {
	case key == "hwaddress":
		r.i.say("set-mac", strings.ToLower(values[len(values)-1]), at)
	case key == "dns-nameservers", key == "dns-nameserver":
		for _, server := range values {
			r.i.say("dns", server, at)
		}
	case key == "dns-search", key == "dns-domain":
		for _, domain := range values {
			r.i.say("search", domain, at)
		}
	case key == "accept-ra", key == "autoconf":
		for n, o := range r.i.options {
			if o.key == "ra" && value != "0" {
				r.i.options[n].value = "yes"
			}
		}
		r.i.say("name", r.i.name, at)
	case key == "bridge-ports", bond == "slaves" && isBond:
		r.composed(key, values, at)
	case key == "bond-master":
		r.i.say("master", value, at)
	case isBond:
		r.i.kind = "bond"
		r.i.say("bond", bond+" "+bondValue(strings.ReplaceAll(bond, "-", "_"), value), at)
	default:
		r.bridge(key, value, at)
	}
}

// composed takes the parts of a bond or bridge.
func (r *ifupdownReader) composed(key string, values []string, at position) {
	r.i.kind, _, _ = strings.Cut(key, "-")
	r.i.say("name", r.i.name, at)
	for _, name := range values {
		if name != "none" {
			r.w.parts = append(r.w.parts, part{name, r.i.name, at})
		}
	}
}

// bridge takes the settings of a bridge.
func (r *ifupdownReader) bridge(key, value string, at position) {
	for option, name := range convert.WordsOf("bridge-utils") {
		if strings.ReplaceAll(name.Now, "_", "-") != key {
			continue
		}
		if option == "stp" {
			value = onOff(value)
		}
		r.i.say("bridge", option+" "+value, at)
	}
}

// command takes the commands of a stanza that add a route or a rule, and those
// that take it away again.
func (r *ifupdownReader) command(key, command string, at position) {
	command = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(command), "|| true"))
	f := strings.Fields(command)
	if len(f) > 0 {
		f[0] = path.Base(f[0])
	}
	if len(f) > 2 && f[0] == "route" {
		f = ofRoute(f)
	}
	f = slices.DeleteFunc(f, func(word string) bool { return word == "-6" || word == "-4" })
	if len(f) < 4 || f[0] != "ip" || f[1] != "route" && f[1] != "rule" {
		r.w.refuseLine(at, "The target runs no command for an interface.")
		return
	}
	words := f[3:]
	for n, word := range words {
		if word == "$IFACE" {
			words[n] = r.i.name
		}
	}
	up := strings.HasSuffix(key, "up")
	switch {
	case up && (f[2] == "add" || f[2] == "replace"):
		r.i.say(f[1], withoutDevice(words, r.i.name), at)
	case !up && (f[2] == "del" || f[2] == "delete"):
		r.w.drop("The target takes it away by itself.", at)
	default:
		r.w.refuseLine(at, "The target runs no command for an interface.")
	}
}

// ofRoute is a command of net-tools' route(8) in the words of ip; nil where it has more
// than a target, a gateway, a metric and a device.
func ofRoute(f []string) []string {
	length := ""
	target, rest := f[2], f[3:]
	if slices.Contains([]string{"-host", "-net"}, target) && len(rest) > 0 {
		target, rest = rest[0], rest[1:]
	}
	var options []string
	for len(rest) > 0 {
		name, value := rest[0], ""
		if len(rest) > 1 {
			value = rest[1]
		}
		switch now := map[string]string{"gw": "via", "metric": "metric", "dev": "dev", "netmask": "-"}[name]; {
		case now == "-" && maskLength(value) != "":
			length = "/" + maskLength(value)
		case now != "" && now != "-" && value != "":
			options = append(options, now, value)
		case len(rest) == 1: // the device may stand alone
			options = append(options, "dev", name)
		default:
			return nil
		}
		rest = rest[min(2, len(rest)):]
	}
	return slices.Concat([]string{"ip", "route", f[1], target + length}, options)
}

// automate says of interfaces which come up at boot, and by which address they
// are known: ifupdown says so apart from them.
func (w *wiring) automate() {
	for _, i := range w.ifaces {
		if !strings.HasPrefix(i.file, "/etc/network/") {
			continue
		}
		at := slices.IndexFunc(w.automatic, func(o option) bool { return o.value == i.name })
		if at >= 0 {
			i.say("auto", "yes", w.automatic[at].at...)
		} else if i.first("master").key == "" {
			i.say("auto", "no", i.first("name").at...)
		}
		for _, o := range w.named {
			if o.key == i.name {
				i.say("mac", o.value, o.at...)
			}
		}
	}
	for _, o := range w.automatic {
		if o.value == "lo" || w.interfaceNamed(o.value) != nil {
			w.drop(form, o.at...)
		}
	}
}
