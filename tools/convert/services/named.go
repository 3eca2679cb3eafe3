// Package services converts servers that have no room of their own.
package services

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// namedHomes are where the families keep what named.conf names. Debian's
// AppArmor lets named write in /var/cache/bind and /var/lib/bind alone.
var namedHomes = convert.HomesOf("bind")

// namedSUSE are what SUSE's package calls otherwise, below the folder of named.
var namedSUSE = []convert.Rewording{
	{Line: lazyregexp.New(`\bfile\s+"named\.ca"`), Now: `file "root.hint"`, Why: "SUSE's package has it by another name."},
	{Line: lazyregexp.New(`\bfile\s+"slaves/`), Now: `file "slave/`, Why: "SUSE's package has the folder by another name."},
	{Line: lazyregexp.New(`\bfile\s+"dynamic/`), Now: `file "dyn/`, Why: "SUSE's package has the folder by another name."},
	{Line: lazyregexp.New(`"data/`), Now: `"log/`, Why: "SUSE's package has the folder by another name."},
}

// namedIncludes are files of the rpm family's own package.
var namedIncludes = lazyregexp.New(`^include\s+"(/etc/named\.(rfc1912\.zones|root\.key)|/etc/crypto-policies/.*)"\s*;`)

// namedDefaults is the file of Debian's package that has its own zones.
var namedDefaults = lazyregexp.New(`^include\s+"/etc/bind/named\.conf\.(default-zones|root-hints)"\s*;`)

// namedGone are statements that BIND 9.20 has no more.
var namedGone = map[string]string{
	"dnssec-enable": "BIND 9.16 always has DNSSEC.", "dnssec-lookaside": "The registry of look-aside keys is closed.", "bindkeys-file": "BIND has the keys of the root built in.",
	"additional-from-auth": "BIND 9.18 has it no more.", "additional-from-cache": "BIND 9.18 has it no more.", "cleaning-interval": "BIND 9.18 has it no more.",
	"fetch-glue": "BIND 9.18 has it no more.", "has-old-clients": "BIND 9.18 has it no more.", "host-statistics": "BIND 9.18 has it no more.", "multiple-cnames": "BIND 9.18 has it no more.",
	"maintain-ixfr-base": "BIND 9.18 has it no more.", "max-ixfr-log-size": "BIND 9.18 has it no more.", "treat-cr-as-space": "BIND 9.18 has it no more.", "rfc2308-type1": "BIND 9.18 has it no more.",
	"use-id-pool": "BIND 9.18 has it no more.", "deallocate-on-exit": "BIND 9.18 has it no more.", "fake-iquery": "BIND 9.18 has it no more.", "queryport-pool-ports": "BIND 9.18 has it no more.",
	"queryport-pool-updateinterval": "BIND 9.18 has it no more.", "use-queryport-pool": "BIND 9.18 has it no more.", "random-device": "BIND 9.18 takes the system's.", "lwres": "BIND 9.12 has it no more.",
	"dnssec-update-mode": "BIND 9.20 has dnssec-policy in its place.", "auto-dnssec": "BIND 9.20 has dnssec-policy in its place.", "dnssec-dnskey-kskonly": "BIND 9.20 has it no more.",
	"dnssec-secure-to-insecure": "BIND 9.20 has it no more.", "dialup": "BIND 9.20 has it no more.", "heartbeat-interval": "BIND 9.20 has it no more.", "glue-cache": "BIND 9.20 has it no more.",
	"reserved-sockets": "BIND 9.20 has it no more.", "tkey-dhkey": "BIND 9.20 has it no more.", "use-v4-udp-ports": "BIND 9.20 takes the system's ports.", "use-v6-udp-ports": "BIND 9.20 takes the system's ports.",
	"avoid-v4-udp-ports": "BIND 9.20 takes the system's ports.", "avoid-v6-udp-ports": "BIND 9.20 takes the system's ports.", "dscp": "BIND 9.20 has it no more.",
}

// namedSince is the version of BIND that a reason names.
var namedSince = lazyregexp.New(`^BIND (9\.[0-9]+) `)

// rootKeys is validation by keys that a file of the rpm families has.
var rootKeys = lazyregexp.New(`^dnssec-validation\s+yes\s*;$`)

// namedRefused are statements whose meaning has another form that a person has
// to choose.
var namedRefused = lazyregexp.New(`^(auto-dnssec|lwres|filter-aaaa(-on-v[46])?|delegation-only|root-delegation-only|trusted-keys|managed-keys)(\s|$)`)

// Named carries named.conf and what it includes over to Debian's folder, in one
// piece: Debian's split into options, local and default zones is but habit.
func Named(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "//")
		inComment := false
		for i := range p.Lines {
			line := strings.TrimSpace(p.Lines[i])
			if strings.HasPrefix(line, "/*") {
				inComment = true
			}
			if !inComment && !p.Idle(i) && !strings.HasPrefix(line, "#") {
				namedLine(p, i, line, in)
			}
			if strings.Contains(line, "*/") {
				inComment = false
			}
		}
		r.Close(p, namedHomes.Between(in).Move(f.Path))
	}
	if convert.FromDebian(in) {
		namedWhole(&r, in)
	}
	return r
}

// namedWhole gives the target the file that includes the others, where the
// source had it as its package makes it.
func namedWhole(r *convert.Result, in convert.Input) {
	text, from := "", ""
	for _, f := range r.Files {
		switch f.Path {
		case "/etc/named.conf":
			return
		case "/etc/named/named.conf.options", "/etc/named/named.conf.local", "/etc/named.d/named.conf.options", "/etc/named.d/named.conf.local":
			text, from = text+"include \""+f.Path+"\";\n", f.From
		}
	}
	if from != "" {
		r.Files = append(r.Files, convert.File{Path: "/etc/named.conf", From: from, Text: "// What Debian's named.conf includes.\n" + sortedLines(text) + ownZones(in) + "\n"})
	}
}

// ownZones is the line that includes the zones of the rpm families' package, which
// SUSE's has not.
func ownZones(in convert.Input) string {
	if convert.ToSUSE(in) {
		return `# include "/etc/named.rfc1912.zones";`
	}
	return `include "/etc/named.rfc1912.zones";`
}

// sortedLines has options before zones.
func sortedLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(b, a) })
	return strings.Join(lines, "")
}

func namedLine(p *convert.Page, i int, line string, in convert.Input) {
	statement, _, _ := strings.Cut(strings.NewReplacer(";", " ", "\t", " ", "{", " ").Replace(line), " ")
	why := namedGone[strings.ToLower(statement)]
	if m := namedSince.FindStringSubmatch(why); m != nil && !convert.HasSince("bind", m[1], in.Target) {
		why = ""
	}
	now := namedHomes.Between(in).Move(line)
	switch {
	case convert.ToRPM(in) && namedDefaults.MatchString(line):
		p.Replace(i, ownZones(in), convert.Elsewhere(in))
	case convert.ToSUSE(in) && namedIncludes.MatchString(now):
		p.Replace(i, "# "+line, "It is a file of the rpm families' package.")
	case convert.ToSUSE(in) && rootKeys.MatchString(line):
		p.Replace(i, "dnssec-validation auto;", "BIND has the keys of the root built in.")
	case convert.ToRPM(in) && (namedIncludes.MatchString(line) || rootKeys.MatchString(line) || why == "" && namedRefused.MatchString(line)):
		p.Replace(i, now, convert.Elsewhere(in))
	case namedIncludes.MatchString(line):
		p.Drop(i, "It is a file of the rpm families: BIND has these zones and keys built in.")
	case namedRefused.MatchString(line):
		p.Refuse(i, "BIND 9.20 has another form of this, which has to be chosen.")
	case rootKeys.MatchString(line):
		p.Replace(i, "dnssec-validation auto;", "BIND has the keys of the root built in.")
	case why != "" && strings.Count(line, ";") == 1 && !strings.Contains(line, "{"):
		p.Drop(i, why)
	case why != "":
		p.Refuse(i, why)
	default:
		p.Replace(i, now, convert.Elsewhere(in))
		if convert.ToSUSE(in) {
			p.Substitute(i, namedSUSE)
		}
	}
}
