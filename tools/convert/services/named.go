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

// namedIncludes are files of the rpm family's own package.
var namedIncludes = lazyregexp.New(`^include\s+"(/etc/named\.(rfc1912\.zones|root\.key)|/etc/crypto-policies/.*)"\s*;`)

// namedDefaults is the file of Debian's package that has its own zones.
var namedDefaults = lazyregexp.New(`^include\s+"/etc/bind/named\.conf\.(default-zones|root-hints)"\s*;`)

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
	why := convert.WordsOf("named-gone")[strings.ToLower(statement)].Why
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
			p.Substitute(i, convert.RewordingsOf("named-suse"))
		}
	}
}
