package network

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"svc/tools/convert"
)

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
		ok = convert.Number(o.value)
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
		ok = isPlain(key) && isPlain(value) && (convert.Number(value) || !convert.Lists("network-numbers", key))
	}
	if !ok || strings.ContainsAny(o.value, "\r\n") {
		w.refuseLine(o.at[0], "It is no "+o.key+".")
	}
}

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

// maskLength is how many bits a mask has, or nothing where it is none.
func maskLength(mask string) string {
	ones, bits := net.IPMask(net.ParseIP(mask).To4()).Size()
	if bits == 0 { // none, or one with gaps
		return ""
	}
	return strconv.Itoa(ones)
}

// withoutDevice leaves out of a route that it is its interface's.
func withoutDevice(words []string, name string) string {
	if n := slices.Index(words, "dev"); n >= 0 && n+1 < len(words) && words[n+1] == name {
		words = slices.Delete(slices.Clone(words), n, n+2)
	}
	return strings.Join(words, " ")
}

func onOff(value string) string {
	if slices.Contains([]string{"yes", "on", "true", "1"}, strings.ToLower(value)) {
		return "yes"
	}
	return "no"
}

// bondModes are the numbers of the bonding driver's modes, and those of its
// other settings that have names.
var bondModes = map[string][]string{
	"mode":             strings.Fields("balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb"),
	"xmit_hash_policy": strings.Fields("layer2 layer3+4 layer2+3 encap2+3 encap3+4 vlan+srcmac"),
	"lacp_rate":        strings.Fields("slow fast"),
}

// bondValue is a value of the bonding driver by its name.
func bondValue(key, value string) string {
	n, err := strconv.Atoi(value)
	if names := bondModes[key]; err == nil && n >= 0 && n < len(names) {
		return names[n]
	}
	return value
}

// table is the number of a table of routes that has a name everywhere; values
// of other words are as they are.
func (w *wiring) table(o option, word, value string) string {
	if word != "table" || value == "" {
		return value
	}
	if n := map[string]string{"main": "254", "local": "255", "default": "253"}[value]; n != "" {
		return n
	}
	if !convert.Number(value) {
		w.refuseLine(o.at[0], "It names a table of routes: say its number.")
	}
	return value
}
