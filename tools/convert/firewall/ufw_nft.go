package firewall

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// nftPlaces are where the unit of nftables loads its rules from: that of the rpm
// families, and that of nftables itself.
const (
	nftPlace     = "/etc/sysconfig/nftables.conf"
	nftPlaceSUSE = "/etc/nftables/rules/main.nft"
)

// nftUnit loads the rules at boot. SLES and Leap have nftables without a unit; later
// nftables brings one by this name, which reads the same file.
const nftUnit = `[Unit]
Description=Rules of nftables
Documentation=man:nft(8)
Wants=network-pre.target
Before=network-pre.target
Conflicts=firewalld.service
ConditionPathExists=` + nftPlaceSUSE + `

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/nft -f ` + nftPlaceSUSE + `
ExecReload=/usr/sbin/nft -f ` + nftPlaceSUSE + `
ExecStop=/usr/sbin/nft flush ruleset

[Install]
WantedBy=multi-user.target
`

// UFWToNftables says in nftables what people told ufw, for families that have no ufw:
// the rules that ufw notes of each command, below those that it begins with.
func UFWToNftables(in convert.Input) (r convert.Result) {
	if !slices.ContainsFunc(in.Files, func(f convert.File) bool {
		return path.Base(f.Path) == "ufw.conf" && strings.Contains("\n"+f.Text, "\nENABLED=yes")
	}) {
		for _, f := range in.Files {
			r.Leave(f, "", "ufw was off, so that no rules are written.")
		}
		return r
	}
	place := nftPlace
	if convert.ToSUSE(in) {
		place = nftPlaceSUSE
	}
	w := ufwWriter{result: &r, place: place, policies: map[string]string{"INPUT": "drop", "OUTPUT": "accept", "FORWARD": "drop"}, chains: map[string][]string{}}
	from := ""
	for _, f := range in.Files {
		switch {
		case f.Path == "/etc/ufw/user.rules" || f.Path == "/etc/ufw/user6.rules":
			w.rules(f)
			from = cmp.Or(from, f.Path)
		case strings.HasSuffix(f.Path, ".rules"):
			r.Refuse(f.Path, convert.Refusal{Why: "It has rules beside those that ufw notes: say them in " + place + "."})
		case f.Path == "/etc/default/ufw":
			w.defaults(f)
		case f.Path == "/etc/ufw/sysctl.conf":
			r.Refuse(f.Path, convert.Refusal{Why: "ufw sets these of the kernel: say them in /etc/sysctl.d."})
		case strings.HasSuffix(f.Path, ".init"):
			r.Leave(f, "", "ufw runs it where it is executable: see whether it was.")
		default:
			r.Leave(f, "", "It is ufw's own: the rules are in "+place+".")
		}
	}
	switch {
	case from == "":
	case len(r.Refusals) > 0:
		r.Refuse(from, convert.Refusal{Why: "Another part of ufw is left to a person, and without it the rules would open or close other ports."})
	default:
		r.Files = []convert.File{{Path: convert.Waiting + place, Text: w.text(), From: from, Mode: "0600"}}
		r.Packages = []string{"nftables"}
		takeOver := convert.Change{Why: "At the take-over firewalld makes room: systemctl disable --now firewalld; systemctl enable --now nftables."}
		if place == nftPlaceSUSE {
			r.Files = append(r.Files, convert.File{Path: convert.Waiting + "/etc/systemd/system/nftables.service", Text: nftUnit, From: from, Mode: "0644"})
			unit := convert.Change{Why: "SUSE's nftables has no unit that loads rules at boot: this one comes along."}
			r.Changes[from] = append([]convert.Change{unit, takeOver}, r.Changes[from]...)
			break
		}
		r.Note(from, takeOver)
	}
	return r
}

// ufwWriter collects rules of nftables by their chain.
type ufwWriter struct {
	result   *convert.Result
	place    string
	policies map[string]string
	chains   map[string][]string
}

// ufwPolicy is a line of /etc/default/ufw with a policy.
var ufwPolicy = lazyregexp.New(`^DEFAULT_(INPUT|OUTPUT|FORWARD)_POLICY="?(ACCEPT|DROP|REJECT)"?$`)

func (w *ufwWriter) defaults(f convert.File) {
	p := convert.Open(f, "#")
	ufwSettings(p)
	for _, line := range p.Lines {
		if m := ufwPolicy.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			w.policies[m[1]] = strings.ToLower(m[2])
		}
	}
	if len(p.Refused) > 0 {
		w.result.Refuse(f.Path, p.Refused...)
	}
	w.result.Leave(f, "", "Its policies are those of the chains in "+w.place+".")
}

// rules takes the notes that ufw makes of its commands. A rule without one is
// nobody's command.
func (w *ufwWriter) rules(f convert.File) {
	noted := false
	for i, line := range convert.Open(f, "#").Lines {
		line = strings.TrimSpace(line)
		tuple, isTuple := strings.CutPrefix(line, "### tuple ### ")
		switch {
		case isTuple:
			chain, rule, why := ufwRule(strings.Fields(tuple), f.Path == "/etc/ufw/user6.rules")
			if noted = true; why != "" {
				w.result.Refuse(f.Path, convert.Refusal{Line: i + 1, Text: line, Why: why})
				continue
			}
			w.chains[chain] = append(w.chains[chain], rule)
			why = "nftables says it so."
			if strings.Contains(rule, "@often") {
				why = "nftables turns away who comes more than twelve times a minute, where ufw does who comes six times in thirty seconds."
			}
			w.result.Note(f.Path, convert.Change{Line: i + 1, Was: line, Now: rule, Why: why})
		case line == "":
			noted = false
		case !noted && (strings.HasPrefix(line, "-A ufw-user-input ") || strings.HasPrefix(line, "-A ufw-user-output ") || strings.HasPrefix(line, "-A ufw-user-forward ")):
			w.result.Refuse(f.Path, convert.Refusal{Line: i + 1, Text: line, Why: "ufw has no note of the command that made it."})
		case line != "":
			w.result.Note(f.Path, convert.Change{Line: i + 1, Was: line, Now: "", Why: "It follows from a note of ufw's, or is the same on every machine."})
		}
	}
}

// ufwRule is one note: action, protocol, port and address of the destination,
// port and address of the source, maybe the applications of both, and the
// direction with its interfaces.
func ufwRule(f []string, six bool) (chain, rule, why string) {
	if n := len(f) - 1; n > 0 && strings.HasPrefix(f[n], "comment=") {
		f = f[:n]
	}
	if len(f) == 9 {
		f = append(slices.Clone(f[:6]), f[8]) // applications stand for the ports that are there too
	}
	if len(f) != 7 {
		return "", "", "It is no note that ufw makes."
	}
	action, routed := strings.CutPrefix(f[0], "route:")
	action, log, _ := strings.Cut(action, "_")
	verdict := convert.WordsOf("ufw-verdicts")[action].Now
	if verdict == "" || log != "" && log != "log" && log != "log-all" {
		return "", "", "ufw has no such action."
	}
	direction, parts, ok := ufwDirection(f[6], routed)
	if !ok {
		return "", "", "It is no direction."
	}
	parts = append([]string{map[bool]string{false: "meta nfproto ipv4", true: "meta nfproto ipv6"}[six]}, parts...)
	for _, end := range []struct{ word, port, address string }{{"s", f[4], f[5]}, {"d", f[2], f[3]}} {
		address, ok1 := ufwAddress(end.word+"addr", end.address)
		port, ok2 := ufwPorts(f[1], end.word+"port", end.port)
		if !ok1 || !ok2 {
			return "", "", "It has an address, protocol or port that is not understood."
		}
		parts = append(parts, address, port)
	}
	if f[1] != "any" && f[2] == "any" && f[4] == "any" {
		parts = append(parts, "meta l4proto "+f[1])
	}
	if action == "limit" {
		family := map[bool]string{false: "ip", true: "ip6"}[six]
		verdict = "ct state new add @often" + map[bool]string{false: "4", true: "6"}[six] + " { " + family + " saddr limit rate over 12/minute burst 5 packets } reject"
		accept := strings.Join(append(slices.Clone(parts), "accept"), " ")
		return direction, squeeze(strings.Join(append(parts, verdict), " ")) + "\n" + squeeze(accept), ""
	}
	if log != "" {
		parts = append(parts, `log prefix "[UFW `+strings.ToUpper(action)+`] "`)
	}
	return direction, squeeze(strings.Join(append(parts, verdict), " ")), ""
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// ufwDirection is the chain of a direction such as in_eth0, and what its
// interfaces match.
func ufwDirection(word string, routed bool) (chain string, parts []string, ok bool) {
	chain = map[bool]string{true: "forward"}[routed]
	for side := range strings.SplitSeq(word, "!") {
		way, name, named := strings.Cut(side, "_")
		if way != "in" && way != "out" || named && !ufwInterface.MatchString(name) {
			return "", nil, false
		}
		if named {
			parts = append(parts, map[string]string{"in": "iifname", "out": "oifname"}[way]+` "`+name+`"`)
		}
		if !routed {
			chain = map[string]string{"in": "input", "out": "output"}[way]
		}
	}
	return chain, parts, true
}

// ufwInterface is the name of an interface.
var ufwInterface = lazyregexp.New(`^[a-zA-Z0-9._@-]{1,15}$`)

// ufwAddress matches an address or net; that of everywhere needs no words.
func ufwAddress(word, address string) (string, bool) {
	if address == "any" || address == "0.0.0.0/0" || address == "::/0" {
		return "", true
	}
	a, err := netip.ParseAddr(address)
	if prefix, err2 := netip.ParsePrefix(address); err2 == nil {
		a, err = prefix.Addr(), nil
	}
	if err != nil || a.Zone() != "" {
		return "", false
	}
	if a.Is4() {
		return "ip " + word + " " + address, true
	}
	return "ip6 " + word + " " + address, true
}

// ufwPort is a port or a range of them.
var ufwPort = lazyregexp.New(`^[0-9]{1,5}(:[0-9]{1,5})?$`)

// ufwPorts matches the ports of a protocol.
func ufwPorts(protocol, word, ports string) (string, bool) {
	if !convert.Lists("ufw-protocols", protocol) {
		return "", false
	}
	if ports == "any" {
		return "", true
	}
	list := strings.Split(ports, ",")
	for i, p := range list {
		if !ufwPort.MatchString(p) {
			return "", false
		}
		list[i] = strings.ReplaceAll(p, ":", "-")
	}
	match := " " + word + " { " + strings.Join(list, ", ") + " }"
	switch protocol {
	case "tcp", "udp":
		return protocol + match, true
	case "any":
		return "meta l4proto { tcp, udp } th" + match, true
	}
	return "", false
}

// ufwFirst are the rules that ufw's own files begin each chain with.
var ufwFirst = map[string][]string{
	"input": {
		`iifname "lo" accept`, "ct state established,related accept", "ct state invalid drop",
		"icmp type { destination-unreachable, time-exceeded, parameter-problem, echo-request } accept", "meta l4proto ipv6-icmp accept",
		"udp sport 67 udp dport 68 accept", "ip6 saddr fe80::/10 udp sport 547 udp dport 546 accept",
		"ip daddr 224.0.0.251 udp dport 5353 accept", "ip6 daddr ff02::fb udp dport 5353 accept", "ip daddr 239.255.255.250 udp dport 1900 accept", "ip6 daddr ff02::f udp dport 1900 accept",
	},
	"forward": {"ct state established,related accept", "icmp type { destination-unreachable, time-exceeded, parameter-problem, echo-request } accept"},
	"output":  {`oifname "lo" accept`, "ct state established,related accept"},
}

// text is the ruleset.
func (w *ufwWriter) text() string {
	var b strings.Builder
	b.WriteString("# What ufw's rules say, in nftables.\nflush ruleset\n\ntable inet filter {\n")
	for _, set := range []string{"often4 {\n\t\ttype ipv4_addr", "often6 {\n\t\ttype ipv6_addr"} {
		b.WriteString("\tset " + set + "\n\t\tflags dynamic\n\t\ttimeout 30s\n\t}\n")
	}
	for _, chain := range []string{"input", "forward", "output"} {
		policy := w.policies[strings.ToUpper(chain)]
		last := ""
		if policy == "reject" { // no policy of a chain
			policy, last = "drop", "\t\treject\n"
		}
		b.WriteString("\tchain " + chain + " {\n\t\ttype filter hook " + chain + " priority filter; policy " + policy + ";\n")
		for _, rule := range slices.Concat(ufwFirst[chain], w.chains[chain]) {
			b.WriteString("\t\t" + strings.ReplaceAll(rule, "\n", "\n\t\t") + "\n")
		}
		b.WriteString(last + "\t}\n")
	}
	b.WriteString("}\n")
	return b.String()
}
