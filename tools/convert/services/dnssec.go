package services

import (
	"encoding/base64"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

var (
	zoneHead     = lazyregexp.New(`^\s*zone\s+"([^"]+)"`)
	viewHead     = lazyregexp.New(`(?m)^\s*view\s`)
	autoDNSSEC   = lazyregexp.New(`\bauto-dnssec\s+(maintain|allow)\s*;`)
	inlineSigned = lazyregexp.New(`\binline-signing\s`)
	dynamic      = lazyregexp.New(`\b(allow-update|update-policy)\s`)
	keyDirectory = lazyregexp.New(`(?m)^(?:\s*[^#/\s][^#\n]*?[\s{;])?\s*key-directory\s+"([^"]+)"\s*;`)
	directory    = lazyregexp.New(`(?m)^(?:\s*[^#/\s][^#\n]*?[\s{;])?\s*directory\s+"([^"]+)"\s*;`)
	publicKey    = lazyregexp.New(`(?m)\sDNSKEY\s+(256|257)\s+3\s+([0-9]+)\s+(.+)$`)
	retired      = lazyregexp.New(`(?m)^;\s*(Inactive|Delete|Revoke):`)
)

// signings are the algorithms of BIND 9.20 that keys may have, by their numbers (IANA: DNS
// security algorithm numbers). RSA's has a size behind it in a policy.
var signings = map[string]string{"8": "rsasha256", "10": "rsasha512", "13": "ecdsap256sha256", "14": "ecdsap384sha384", "15": "ed25519", "16": "ed448"}

// DNSSECPolicy gives zones that auto-dnssec signs, which BIND 9.20 has no more, a policy that
// their keys fit, so that the same keys go on (kb.isc.org: migrating to dnssec-policy). A zone
// whose keys say no policy surely stays as it is, and a person's.
func DNSSECPolicy(in convert.Input) (r convert.Result) {
	whole := ""
	for _, f := range in.Files {
		whole += f.Text + "\n"
	}
	known := map[string]bool{}
	views := viewHead.MatchString(whole)
	var pages []*convert.Page
	policies := ""
	for _, f := range in.Files {
		p := convert.Open(f, "//")
		pages = append(pages, p)
		for i := 0; in.Folder != nil && i < len(p.Lines); i++ {
			last := zoneEnd(p.Lines, i)
			if m := zoneHead.FindStringSubmatch(p.Lines[i]); m != nil {
				policies += keepKeys(p, i, last, zone{m[1], whole, known, in, !views})
				i = last
			}
		}
	}
	aboveViews(pages, policies)
	for i, p := range pages {
		r.Close(p, in.Files[i].Path)
	}
	return r
}

// aboveViews puts policies before the first view, for none stands in one.
func aboveViews(pages []*convert.Page, policies string) {
	for _, p := range pages {
		for i, line := range p.Lines {
			if policies != "" && !p.Idle(i) && viewHead.MatchString(line) {
				p.Replace(i, policies+strings.TrimSpace(line), keptWhy)
				return
			}
		}
	}
}

// zone is one that may be signed, in a configuration that has policies already.
type zone struct {
	name, whole string
	known       map[string]bool
	in          convert.Input
	here        bool // its policy may stand before it
}

// zoneEnd is the line in which the braces that a line opens are closed.
func zoneEnd(lines []string, i int) int {
	depth := 0
	for last := i; last < len(lines); last++ {
		text, _, _ := strings.Cut(lines[last], "//")
		depth += strings.Count(text, "{") - strings.Count(text, "}")
		if depth <= 0 && strings.ContainsAny(text, "{};") {
			return last
		}
	}
	return len(lines) - 1
}

const keptWhy = "BIND 9.20 has dnssec-policy in the place of auto-dnssec: this one fits the zone's keys, which stay. Where the zone has NSEC3, write nsec3param into the policy."

// keepKeys puts a policy in the place of a zone's auto-dnssec; a policy that is new and may not
// stand before the zone is given back.
func keepKeys(p *convert.Page, first, last int, z zone) string {
	at := -1
	for i := first; i <= last; i++ {
		if !p.Idle(i) && !strings.HasPrefix(strings.TrimSpace(p.Lines[i]), "#") && autoDNSSEC.MatchString(p.Lines[i]) {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	text := strings.Join(p.Lines[first:last+1], "\n")
	name, keys := keysPolicy(z.in.Folder(z.folder(text), ".key"), z.name)
	if name == "" {
		return ""
	}
	now := `dnssec-policy "` + name + `";`
	if dynamic.MatchString(text) && !inlineSigned.MatchString(text) {
		now += " inline-signing no;" // the policy's own default is yes; others may not say no
	}
	line := autoDNSSEC.ReplaceAllString(strings.TrimSpace(p.Lines[at]), now)
	policy := ""
	if !z.known[name] {
		z.known[name] = true
		policy = `dnssec-policy "` + name + `" { keys { ` + keys + " }; max-zone-ttl 31536000; };\n"
	}
	switch {
	case !z.here:
		p.Replace(at, line, keptWhy)
		return policy
	case at == first:
		p.Replace(at, policy+line, keptWhy)
	default:
		p.Replace(at, line, keptWhy)
		p.Replace(first, policy+strings.TrimSpace(p.Lines[first]), keptWhy)
	}
	return ""
}

// folder is where a zone's keys are, by what it says itself and what holds for all.
func (z zone) folder(text string) string {
	home := "/var/cache/bind"
	if m := directory.FindStringSubmatch(z.whole); m != nil {
		home = m[1]
	}
	for _, text := range []string{text, z.whole} {
		if m := keyDirectory.FindStringSubmatch(text); m != nil {
			if path.IsAbs(m[1]) {
				return m[1]
			}
			return path.Join(home, m[1])
		}
	}
	return home
}

// keysPolicy is the policy that a zone's keys fit, with its name: one key of each kind. It is
// empty where there are others, as while a person rolls them.
func keysPolicy(files []convert.File, zone string) (name, keys string) {
	kinds := map[string]string{} // algorithms by flags
	for _, f := range files {
		if !strings.HasPrefix(path.Base(f.Path), "K"+strings.ToLower(strings.TrimSuffix(zone, "."))+".+") {
			continue
		}
		m := publicKey.FindStringSubmatch(f.Text)
		if m == nil || retired.MatchString(f.Text) || kinds[m[1]] != "" || signings[m[2]] == "" {
			return "", ""
		}
		kinds[m[1]] = signings[m[2]]
		if strings.HasPrefix(signings[m[2]], "rsa") {
			size := keySize(m[3])
			if size <= 0 {
				return "", ""
			}
			kinds[m[1]] += " " + strconv.Itoa(size)
		}
	}
	both, sign := kinds["257"], kinds["256"]
	switch {
	case both == "" || sign != "" && strings.Fields(sign)[0] != strings.Fields(both)[0]:
		return "", ""
	case sign == "":
		name, keys = "kept-csk-"+both, "csk lifetime unlimited algorithm "+both+";"
	default:
		name, keys = "kept-"+both+"-"+sign, "ksk lifetime unlimited algorithm "+both+"; zsk lifetime unlimited algorithm "+sign+";"
	}
	return strings.Join(slices.Compact(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' })), "-"), keys
}

// keySize is the size of RSA's modulus (RFC 3110), 0 where the text is no such key.
func keySize(text string) int {
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || len(b) < 4 {
		return 0
	}
	exponent := 1 + int(b[0])
	if b[0] == 0 {
		exponent = 3 + int(b[1])<<8 + int(b[2])
	}
	return (len(b) - exponent) * 8
}
