package redact

import (
	"slices"
	"strings"
	"sync"

	"svc/backend/lazyregexp"
)

// A chosen name is one that people made up for a machine or an account: no
// vocabulary has it, and it has a form that words of texts have not. How far the form
// says so decides where it has to stand.

// form is how far a word's form says that people chose it as a name.
type form int

const (
	noName   form = iota
	namesake      // a word that people name machines and each other after, too: where nothing but a name stands
	unheard       // no vocabulary has it: where hardly anything else stands
	likely        // cn12, db-proj, lchen: where a machine or an account stands
	unlike        // cn0147, sw-halle4, noor.haddad: wherever words stand
)

var (
	// ofOne is an account of a person: an initial or a given name, and a surname.
	ofOne = lazyregexp.New(`^([a-z]|[a-z]{3,})[._]([a-z]|[a-z]{3,}(?:-[a-z]{3,})?)[0-9]{0,2}$`)
	// initialed: lchen, jsmith7.
	initialed = lazyregexp.New(`^[a-z]([a-z]{4,})[0-9]{0,2}$`)
	// trailed: vogtm.
	trailed = lazyregexp.New(`^([a-z]{4,})[a-z]$`)
	// personal: ab4471.
	personal = lazyregexp.New(`^(?:[a-z]{2,3}[0-9]{3,6}|[a-qs-z][0-9]{4,6})$`)
	// padded: cn0147, ceph-st08.
	padded = lazyregexp.New(`^(?i)[a-z]{2,}(?:-[a-z0-9]*[a-z])*?-?0[0-9]{1,3}[a-z]?$`)
	// counted: janus2, gpu3.
	counted = lazyregexp.New(`^(?i)([a-z]{2,})(?:[0-9]{1,3}|0[0-9]{2,4})$`)
	// hyphened: sw-halle4, gpu-l40-07, nfs-proj.
	hyphened = lazyregexp.New(`^(?i)[a-z][a-z0-9]*(?:-[a-z0-9]+){1,4}$`)
	// lettered: zx41kol, ab12xyz.
	lettered = lazyregexp.New(`^[a-z]{1,4}[0-9]{1,4}[a-z]{1,6}[0-9]{0,2}$`)

	underscored = lazyregexp.New(`^[a-z][a-z0-9]*(?:_[a-z0-9]+){1,3}$`)
)

// charges are parts of accounts that say what they are for.
var charges = set("svc srv adm admin usr ro rw app bot deploy batch sync repl job")

// machineRoles are parts of names that say what a machine is for.
var machineRoles = lazyregexp.New(`^(?:` + roles + `|sw|ws|pc|ups|wlc|rpi|pi|bmc|ipmi|ilo|idrac|pg|lb|ap|nfs|ceph|osd|mon|gpu|cn|head|login|wrk|cp|mgr|mgmt|ctl|rt|bkp|bak|nb|lt|prn|cam|plc|sps|tor|dc|ad|ca|hv|vh|vs|term|kafka|redis|mongo|es|elk|graf|prom|vault|consul|jenkins|build|ci|git|jump|nat|dhcp|ntp|pxe|sip|voip|scan|cad|db|my|ora|mssql|rabbit|zk|hdp|spark)$`)

// formOf judges the form of a word, and what it names.
func formOf(w string) (form, string) {
	lower := strings.ToLower(w)
	if len(w) < 3 || longNumber.MatchString(w) || len(w) > longestName || isAccount(w) || isOrdinary(w) || releaseLike.MatchString(w) || packageLike.MatchString(w) && !nodeOf.MatchString(w) || deviceLike.MatchString(w) || hexNumber.MatchString(w) || numberedTicket.MatchString(w) || cipherSuite.MatchString(w) || levels[lower] || advisory.MatchString(w) {
		return noName, ""
	}
	how, kind := formOfParts(w, lower)
	if how == noName && joined.MatchString(w) && !dictionary()[lower] && !isListed(lower) && (!isMadeOfWords(lower) || partNumbered.MatchString(lower)) && !serialOf.MatchString(w) {
		return namesake, host
	}
	return how, kind
}

// longNumber: of a process, a task or a time.
var longNumber = lazyregexp.New(`[0-9]{8}`)

// partNumbered: spine-b2.
var partNumbered = lazyregexp.New(`-[a-z][0-9]$`)

// joined: MONITOR_FR, PACS-ARCH2_LNX.
var joined = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+$|^[A-Za-z]{2,}[0-9]+$`)

func formOfParts(w, lower string) (form, string) {
	switch {
	case strings.Contains(w, "."):
		return personForm(w), user
	case strings.Contains(w, "_"):
		return chargeForm(w), user
	case isListed(lower), serialOf.MatchString(w):
		return noName, ""
	case dictionary()[lower]:
		return namesakeOf(w), host
	case lettered.MatchString(w):
		if isUnheard(w) {
			return unheard, user
		}
		return noName, ""
	case w != lower && w != strings.ToUpper(w):
		return noName, ""
	case hyphened.MatchString(w):
		return min(partedForm(lower), highest(w, lower)), host
	case counted.MatchString(w):
		stem := strings.TrimRight(lower, "0123456789")
		if isUnheard(stem) && (len(stem) > 3 || padded.MatchString(w)) || padded.MatchString(w) && len(w)-len(stem) > 2 && !isListed(stem) {
			return highest(w, lower), host
		}
		return min(likely, highest(w, lower)), host
	case personal.MatchString(w):
		return likely, user
	case !plainLower.MatchString(w):
		if shouted.MatchString(w) && isUnheard(lower) {
			return unheard, host
		}
		return noName, ""
	case isKnown(w):
		return namesakeOf(w), host
	}
	if foreignWords()[w] {
		return noName, ""
	}
	if m := initialed.FindStringSubmatch(w); m != nil && names()[m[1]] && !isKnown(m[1]) {
		return unlike, user
	}
	if m := initialed.FindStringSubmatch(w); m != nil && names()[m[1]] {
		return likely, user
	}
	if m := trailed.FindStringSubmatch(w); m != nil && names()[m[1]] {
		return likely, user
	}
	return unheard, user
}

// namesakeOf judges a known word: people name machines after some.
func namesakeOf(w string) form {
	if plainLower.MatchString(w) && (themes()[w] || names()[w] || rare()[w]) {
		return namesake
	}
	return noName
}

// serialOf: CVE-2026-1234.
var serialOf = lazyregexp.New(`^[A-Z]+(?:-[0-9]+)+$`)

// highest bounds the form of names in capitals, which constants and variables have too: a
// number behind a part that no vocabulary has makes them likely.
func highest(w, lower string) form {
	last := lower[strings.LastIndexByte(lower, '-')+1:]
	stem := strings.TrimRight(last, "0123456789")
	switch {
	case w == lower:
	case stem != last && len(stem) > 1 && (isUnheard(stem) && len(stem) > 3 || strings.Contains(w, "-")):
		return likely
	default:
		return unheard
	}
	return unlike
}

// isUnheard says that no vocabulary has a word in small letters.
func isUnheard(w string) bool { return !isKnown(w) && !foreignWords()[w] }

// shouted: ANTIMON.
var shouted = lazyregexp.New(`^\p{Lu}{4,}$`)

// nodeOf: node-lena, and a package of Node.
var nodeOf = lazyregexp.New(`^node-[a-z0-9]+$`)

// longestName bounds what is looked up.
const longestName = 40

// personForm judges vera.miller.
func personForm(w string) form {
	m := ofOne.FindStringSubmatch(w)
	switch {
	case m == nil || slices.Contains(fileEndings, m[2]) || strings.Contains(w, "_"):
		return noName
	case len(m[2]) == 1:
		return min(likely, namesakeOf(m[1])*likely)
	case len(m[1]) == 1 && !isKnown(m[2]), names()[m[1]] && !isKnown(m[2]):
		return unlike
	case !isKnown(m[2]) && names()[m[2]]:
		return unlike
	case names()[m[1]] && names()[m[2]]:
		return likely
	case names()[m[1]] || len(m[1]) == 1:
		return namesake
	}
	return noName
}

// chargeForm judges svc_backup and orders_rw.
func chargeForm(w string) form {
	if m := ofOne.FindStringSubmatch(w); m != nil && (names()[m[1]] || len(m[1]) == 1) && !isKnown(m[2]) {
		return likely
	}
	if !underscored.MatchString(w) {
		return noName
	}
	parts := strings.Split(w, "_")
	charge := slices.ContainsFunc(parts, func(p string) bool { return charges[p] })
	strange := slices.ContainsFunc(parts, func(p string) bool { return len(p) > 3 && !isKnown(strings.TrimRight(p, "0123456789")) })
	switch {
	case parts[0] == "svc" && !strange:
		return namesake // svc_migrate is a tool of this service's
	case charge && strange:
		return likely
	case charge || strange:
		return unheard
	}
	return namesake
}

// partedForm judges names of several parts.
func partedForm(w string) form {
	parts := strings.Split(w, "-")
	role, number, strange, letter, other, software := false, false, false, false, false, false
	for i, p := range parts {
		stem := strings.TrimRight(p, "0123456789")
		numbered := stem != p
		if deviceLike.MatchString(p) {
			return noName
		}
		software = software || isOrdinary(p) && !machineRoles.MatchString(p)
		role = role || machineRoles.MatchString(stem)
		number = number || numbered && i > 0
		strange = strange || len(stem) > 2 && isUnheard(stem) || len(stem) > 3 && (isGiven(stem) || rare()[stem]) && !isListed(stem)
		other = other || !machineRoles.MatchString(stem) && stem != "" && !isListed(stem)
		letter = letter || i > 0 && len(p) == 1 && stem != ""
	}
	if ofPod.MatchString(w) || software && !(number && parts[len(parts)-1] != strings.Trim(parts[len(parts)-1], "0123456789")) {
		return noName
	}
	switch {
	case role && (number || strange && letter), strange && number:
		return unlike
	case describing.MatchString(w):
		return noName
	case strange, role && (letter || other), padded.MatchString(w):
		return likely
	}
	return noName
}

// describing: stonith-enabled, komma-unterteilt.
var describing = lazyregexp.New(`(?:ed|able|ing|bar|iert|teilte?|like|only|based|specific|queue|through)$`)

// longestSpeaker bounds the programs that speak at the start of a line.
const longestSpeaker = 200

// wordAt is a word of a line, with what joins its parts.
var wordAt = lazyregexp.New(`[\pL\pN_](?:[\pL\pN_.-]*[\pL\pN_])?`)

// chosen replaces the names that people chose.
func chosen(line string, known map[string]string) string {
	if !strings.ContainsAny(line, " \t:=") {
		return line
	}
	in := lineAround(line)
	var out strings.Builder
	last := 0
	for _, at := range wordAt.FindAllStringIndex(line, -1) {
		w := line[at[0]:at[1]]
		if inPlaceholder(line, at[0], at[1]) {
			continue
		}
		need := in.needed(at[0], at[1])
		if need > unlike {
			continue
		}
		how, kind := formOf(w)
		if how == unlike && in.tongue().german && plainLower.MatchString(w) {
			how = likely
		}
		if how < need || how == noName || how < unlike && versionBehind.MatchString(line[at[1]:]) {
			continue
		}
		out.WriteString(line[last:at[0]])
		out.WriteString(put(kind))
		last = at[1]
		if how >= likely {
			learn(known, w, kind)
		}
	}
	return out.String() + line[last:]
}

// around is what a line is as a whole.
type around struct {
	line     string
	packages bool // a line about packages
	found    bool // a name or a secret was found in it
	table    bool // a row of a table
	tongue   func() tongue
}

func lineAround(line string) around {
	return around{line, manages.MatchString(line), entity.MatchString(line), len(column.FindAllStringIndex(strings.TrimSpace(line), 3)) > 1, sync.OnceValue(func() tongue { return tongueOf(wordsOf(line)) })}
}

var entity = lazyregexp.New(`\[(?:host|user|secret|ip|id)\]`)

const nothing = unlike + 1

// needed is how far the form of a word must say that it is a name, where it stands.
func (in around) needed(start, end int) form {
	before, after := in.line[:start], in.line[end:]
	left, right := byte(' '), byte(' ')
	if start > 0 {
		left = before[start-1]
	}
	if end < len(in.line) {
		right = after[0]
	}
	if strings.IndexByte("/\\$%@-.&~^#+{_", left) >= 0 || strings.IndexByte("/\\(=@$%_-+", right) >= 0 && !strings.HasPrefix(after, `\"`) && !(right == '(' && (exported.MatchString(after) || numberIn.MatchString(after))) || versionBehind.MatchString(after) && !strings.Contains(in.line[start:end], "-") || strings.HasPrefix(after, "::") || epochBehind.MatchString(after) || strings.HasPrefix(after, "->") || right == '[' && left == ' ' || right == '.' && len(after) > 1 && strings.IndexByte(" .", after[1]) < 0 {
		return nothing
	}
	near := before[max(0, len(before)-80):]
	switch {
	case inDevice[lastWord(near)], right == ')' && processBefore.MatchString(near), strings.TrimSpace(before) == "" && switched.MatchString(after):
		return nothing
	case setting.MatchString(near) && (!strings.HasSuffix(strings.TrimRight(near, " "), ":") || endsValue.MatchString(after)), optioned.MatchString(near), bracketed.MatchString(near) && right == ']', in.found && (nameKey.MatchString(near) || cellBehind.MatchString(after)):
		return namesake
	case in.found && spots[lastWord(near)], secretBehind.MatchString(after) && !keyLike.MatchString(in.line[start:end]), listBefore.MatchString(near) && (right == ',' || strings.TrimSpace(after) == ""):
		return unheard
	case strings.TrimSpace(before) == "" && promptBehind.MatchString(after):
		return likely
	case in.packages, right == ':' && len(before) < longestSpeaker && programBefore.MatchString(before) && !levelBefore.MatchString(near):
		return nothing
	case in.found || spots[lastWord(near)] || in.table || levelBefore.MatchString(near) || right == ':' && strings.HasPrefix(after, ": ") || strings.HasPrefix(after, " : "),
		left == ',' && right != ' ' || right == ',' && !strings.HasPrefix(after, ", ") || left == ';' || right == ';' && left != ' ',
		strings.IndexByte("'\"", left) >= 0 && left == right:
		return likely
	}
	return unlike
}

var (
	// programBefore: nothing but programs that speak, one for the other, stands before.
	programBefore = lazyregexp.New(`^(?:[\w./()-]+(?:\[[0-9]+\])?: )*$`)
	levelBefore   = lazyregexp.New(`(?i)\b(?:error|warning|notice|info|fatal|critical|crit|alert): $`)
	promptBehind  = lazyregexp.New(`^(?:\(config[^)]*\))?[#>] ?[a-z]|^:[~/]\S*[#$>]`)
	nameKey       = lazyregexp.New(`(?i)(?:^|[ ,({])(?:name|alias|binddn|cn|set_id|auth_id)["']? ?[=:] ?["']?$`)
	listBefore    = lazyregexp.New(`(?:,|[0-9x*!]:)$`)
	numberIn      = lazyregexp.New(`^\([0-9]+\)`)
	// processBefore: process 2217 (unattended-upgr).
	processBefore = lazyregexp.New(`[0-9] \($`)
	// switched: the value of a setting of which the name begins the line.
	switched     = lazyregexp.New(`^: (?:yes|no|true|false|on|off)$`)
	epochBehind  = lazyregexp.New(`^:[0-9]{1,3}\.[0-9]`)
	secretBehind = lazyregexp.New(`^[ :/%,]\[secret\]`)
	keyLike      = lazyregexp.New(`(?i)pass|secret|key|commun|token|pw|auth|cred|psk|pin|kenn|md5|sha`)
	endsValue    = lazyregexp.New(`^["']?\s*(?:$|[,;}\])])`)
	inDevice     = set("interface interfaces device devices slot thread signal code type version revision")
	cellBehind   = lazyregexp.New(`^ +\|`)
	exported     = lazyregexp.New(`^\((?:r[ow]|sync)\b`)
	bracketed    = lazyregexp.New(`(?i)(?:of|for|by|user|client|to|from|on|ok:|incorrect.*:|host|node) ?\[$`)
	setting      = lazyregexp.New(`(?i)(?:^|[^a-z])[\w.>-]*(?:user|login|account|owner|uid|member|acct|logname|host|client|server|node|peer|master|primary|replica|standby|broker|relay|principal|(?:dev|device|computer|machine|system|sys|vm|instance|guest|workstation|asset|cluster)(?: |_|-)?name)(?:[ _-]?(?:name|id))?["'\]]* ?(?:=>?|:=|:[ "'])[ \["']*$|(?i:^\s*(?:user|owner|account|login|node|host|server|client)(?:[ _-]?(?:name|id))?)\s{2,}$`)
	// optioned: -H, -U and --ciuser, and what follows them.
	optioned = lazyregexp.New(`(?:\s-[HUulw]|\s--?[\w-]*(?:user|login|account|owner|host|server|node|peer)(?:-?name)?)[ =]["']?$`)
	spots    = set("on to from of for by via at with into onto between and node server host client peer member owner login account user machine vm box called named as auf von nach für bei mit zwischen und aus")
)

// column divides the lines of a table.
var column = lazyregexp.New(` {2,}|\t+`)
