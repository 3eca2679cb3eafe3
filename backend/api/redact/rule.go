package redact

import (
	"strings"
	"sync"
	"unicode"

	"svc/backend/lazyregexp"
)

// rule finds names by where they stand. The groups of its pattern are called
// after the kinds of what they hold; hosts and users hold several, with spaces,
// commas or "and" between.
type rule struct {
	// needs are pieces of text, in lower case, one of which is in every line that the rule finds something in.
	needs []string
	// weak says that another word may stand there too: words of the trade stay.
	weak bool
	// sure says that nothing else stands there: a name is one that is a word or a program's too.
	sure bool
	// prose says that so may names of packages, architectures and file systems.
	prose bool
	// faint says that any word may: only what no dictionary has is a name, and what people name machines after.
	faint bool
	// command says that the pattern begins with a command, which is none after "the".
	command bool
	// row says that the rule is one of the table, of so many programs that a word of the
	// trade in small letters is none, but for what machines are for.
	row bool
	at  *lazyregexp.Regexp
}

func (r rule) apply(s string, known map[string]string) string {
	var out strings.Builder
	last := 0
	kinds := r.at.SubexpNames()
	tongue := sync.OnceValue(func() tongue { return tongueOf(wordsOf(s)) })
	for _, at := range r.at.FindAllStringSubmatchIndex(s, -1) {
		if r.command && determiners[lastWord(s[:at[0]])] {
			continue
		}
		for i := 1; i < len(kinds); i++ {
			start, end := at[2*i], at[2*i+1]
			if start < last || start < 0 || inPlaceholder(s, start, end) || r.weak && (isForeign(s[start:end], tongue) || isKin(s, s[start:end])) || r.prose && versionBehind.MatchString(s[end:]) || contracted.MatchString(s[end:]) || isKey(s, start, end) || kinds[i] == id && commitBefore.MatchString(s[:start]) {
				continue
			}
			out.WriteString(s[last:start])
			if one, ok := strings.CutSuffix(kinds[i], "s"); ok {
				out.WriteString(r.replaceEach(one, s[start:end], known, tongue))
			} else {
				out.WriteString(r.replace(kinds[i], s[start:end], known))
			}
			last = end
		}
	}
	out.WriteString(s[last:])
	return out.String()
}

// commitBefore: what Git calls a version of its files is nobody's id.
var commitBefore = lazyregexp.New(`(?:^|\s)commit $`)

// isKey says that a word is the next key of a line of settings, of which the one before is
// empty: logname= uid=0.
func isKey(s string, start, end int) bool {
	return end < len(s) && s[end] == '=' && start > 1 && s[start-1] == ' ' && (s[start-2] == '=' || keyName.MatchString(s[start:end]))
}

// keyName: ruser, rhost.
var keyName = lazyregexp.New(`^[a-z_]{0,8}(?:user|host|name|uid|addr|port)$`)

// isKin says that a word of a message is of the program that says it: slurmdbd in one of slurmctld.
func isKin(line, w string) bool {
	same := 0
	for same < len(line) && same < len(w) && line[same] == w[same] && line[same] >= 'a' && line[same] <= 'z' {
		same++
	}
	return same > 4 && speaks.MatchString(line) && plainLower.MatchString(w)
}

// speaks: a program at the start of a line.
var speaks = lazyregexp.New(`^[a-z][\w/-]*(?:\[[0-9]+\])?: `)

// isForeign says that a word of a German line is an adjective or a pronoun of it; or what
// "die VM" does there, as "startet" is.
func isForeign(w string, in func() tongue) bool {
	return german[w] || in().german && (germanWords()[w] && !isGiven(w) || acted.MatchString(w) && !isGiven(w) && !compound.MatchString(w))
}

// replaceEach gives what stands in place of a list of names.
func (r rule) replaceEach(kind, list string, known map[string]string, in func() tongue) string {
	return oneOf.ReplaceAllStringFunc(list, func(w string) string {
		if w[0] == '[' || r.weak && isForeign(w, in) {
			return w
		}
		return r.replace(kind, w, known)
	})
}

// replace gives what stands in place of a group of a pattern.
func (r rule) replace(kind, text string, known map[string]string) string {
	switch kind {
	case url:
		core := strings.TrimRight(text, ".,;:!?)}*|")
		return put(url) + text[len(core):]
	case host:
		if r.isHost(text) {
			learn(known, text, host)
			return put(host)
		}
		return text
	case "mixed", "random":
		if kind == "mixed" && !isMixed(text) || kind == "random" && !isRandom(text) {
			return text
		}
		return put(hidden)
	case "disguised":
		if kindOf(text) != "" || strings.ContainsRune(text, ':') || !isDisguised(text) {
			return text
		}
		return put(hidden)
	case "odd":
		if lower := strings.ToLower(strings.Trim(text, ".,;:()")); isKnown(lower) || kindOf(text) != "" || strings.Trim(lower, "0123456789.:/-") == "" || settled.MatchString(lower) {
			return text
		}
		return put(hidden)
	case "known":
		learn(known, text, user)
		return text
	case user:
		if isAccount(text) || (r.weak || r.faint) && (isWord(text) || sentenceWord.MatchString(text) && isKnown(strings.ToLower(text))) || r.faint && isMadeOfWords(text) || !hasLetters(text) || strings.ContainsRune(text, '.') && isAddress(text) {
			return text
		}
		learn(known, text, user)
		return put(user)
	}
	if kind == id && strings.Trim(text, "0f:-.F") == "" { // of no device and of all
		return text
	}
	return put(kind)
}

// oneOf is a name of a list, or what an earlier reading has left of one.
var oneOf = lazyregexp.New(`\[\w+\]|` + name)

// isMixed says that a word is made up as passwords are: capitals, small letters
// and digits, or these and a sign that no name has; and no version or name.
func isMixed(w string) bool {
	w = strings.TrimRight(w, ".:?")
	if len(w) < 6 {
		return false
	}
	small, capital, digit, sign := strings.ContainsFunc(w, unicode.IsLower), strings.ContainsFunc(w, unicode.IsUpper), strings.ContainsFunc(w, unicode.IsDigit), strings.ContainsAny(w, "!#$%&*+^~")
	return (small && capital && digit || (small || capital) && digit && sign || small && digit && turns(w) > 4) &&
		kindOf(w) == "" && !standard.MatchString(w) && !versioned.MatchString(w) && !strings.Contains(w, "/") && !releaseLike.MatchString(w) && !packageLike.MatchString(w)
}

// isDisguised says that a word is a password wherever it stands: one that digits and signs
// disguise, as in pl3ase-Change, or one whose letters and digits take turns.
func isDisguised(w string) bool {
	w = strings.TrimRight(w, ".")
	if !strings.ContainsFunc(w, unicode.IsLower) || !strings.ContainsFunc(w, unicode.IsUpper) {
		return false
	}
	return strings.ContainsAny(w, "!#$%&*+.~^_-") && digitWithin.MatchString(w) && !versioned.MatchString(w) && !packageLike.MatchString(w) ||
		!strings.ContainsAny(w, ".+_-") && len(w) < 20 && turns(w)*2 >= len(w) && isRandom(w)
}

// digitWithin: a digit among the letters of a word that it is read as one of.
var digitWithin = lazyregexp.New(`(?:^|[^A-Za-z0-9])[A-Za-z]?[a-z]*[A-Za-z][0134578][a-z]{2,}`)

// isRandom says that a long word is nobody's: capitals, small letters and digits
// take turns, as only in tokens.
func isRandom(w string) bool {
	for _, part := range letters.FindAllString(w, -1) {
		if isKnown(strings.ToLower(part)) {
			return false
		}
	}
	return strings.ContainsFunc(w, unicode.IsLower) && strings.ContainsFunc(w, unicode.IsUpper) && strings.ContainsFunc(w, unicode.IsDigit) && turns(w)*4 >= len(w)
}

// letters of a word as long as only words are.
var letters = lazyregexp.New(`[A-Za-z][a-z]{3,}`)

// turns counts where letters and digits follow each other in a word, or a
// capital a small letter.
func turns(w string) (n int) {
	class := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'A' && c <= 'Z':
			return 2
		}
		return 3
	}
	for i := 1; i < len(w); i++ {
		if class(w[i]) != class(w[i-1]) {
			n++
		}
	}
	return n
}

// isHost judges a name that stands where a host may. What has dots or a form of
// its own is judged by its form, and release-like words are none.
func (r rule) isHost(w string) bool {
	if levels[strings.ToLower(w)] {
		return false
	}
	if r.sure {
		return hasLetters(w) && !isAddress(w) && !everyMachine[strings.ToLower(w)]
	}
	if isGrammar(strings.ToLower(w)) {
		return false
	}
	if sentenceWord.MatchString(w) && !isGiven(strings.ToLower(w)) && isKnown(strings.ToLower(w)) {
		return false
	}
	if isOrdinary(w) || !hasLetters(w) || isAddress(w) || releaseLike.MatchString(w) || advisory.MatchString(w) || r.prose && (packageLike.MatchString(w) || len(w) < 6 && acronym.MatchString(w)) || deviceLike.MatchString(w) {
		return false
	}
	if !r.weak && !r.faint {
		return !r.row || !isWord(w) || strings.Contains(w, "-") || machineRoles.MatchString(strings.ToLower(w)) || w != strings.ToLower(w) || isGiven(w)
	}
	if r.faint && !isStrange(w) {
		return false
	}
	if camelCase.MatchString(w) || typeNumber.MatchString(w) && isKnown(strings.ToLower(strings.TrimRight(w, "0123456789"))) {
		return false
	}
	word := isWord(w) && (r.prose || !strings.Contains(w, "-"))
	return !word && kindOf(w) == "" && !startsDigit.MatchString(w) && !isAccount(w) && (isLabel(w) && !strings.Contains(w, "_") || fqdn.MatchString(w) && !javaClass.MatchString(w))
}

// isGrammar says that a word in small letters is one of the trade that tells what is done, or
// of what kind a thing is: "host closed", "node configuration", "peer certificate".
func isGrammar(w string) bool {
	return grammar[w] || ofSetting.MatchString(w) || (doneOrBeing.MatchString(w) && isListed(w))
}

var grammar = set("ip remote local origin found time host name names user root certificate key state states data value status type list info id ids not available mode side card cards board count pool group groups set address addresses port ports process processes room rack software version config settings label labels service services load space entry entries record records table class role roles rule rules alias part level members path error errors message messages response request requests timeout event events health job jobs task tasks image images memory disk disks network interface controller hardware firmware kernel system reboot restart failure failures update updates upgrade check checks")

// list is of names with commas or "and" between.
const list = name + `(?:(?:, ?|,? and |,? or |,? und |,? oder | sowie |["'], ?["']|:[0-9]+,)` + name + `)*`
