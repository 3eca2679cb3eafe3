package redact

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc/backend/lazyregexp"
)

// A stranger is a word that is in no dictionary, or one that people name
// machines after, in a line whose other words are known: it is a name.

// bare is a word of a text with what may stand around it: quotes, brackets and
// the points of a sentence; and 's.
var bare = lazyregexp.New(`^(["'«„“‚([{*` + "`" + `]*)([\pL\pN][\pL\pN-]*[\pL\pN])((?:'s|’s)?["'»“”‘)\]}*,.;:?!` + "`" + `]*)$`)

// inLine is a word of a line where it stands.
type inLine struct {
	start, end int
	text       string // "" where something else stands: a path, a number, a placeholder
}

// strangers replaces the strangers of a line, and remembers them.
func strangers(line string, known map[string]string) string {
	words := wordsOf(line)
	in := tongueOf(words)
	prose := isProse(words, in)
	machines := in.foreign || in.german || topic.MatchString(line)
	if manages.MatchString(line) {
		return line
	}
	if found := given(line, in, known); found != line {
		return found // the rest is seen to the next time, with what they stand beside
	}
	var out strings.Builder
	last := 0
	for i, w := range words {
		kind := ""
		if isNumbered(w.text) || machines && (prose || i > 0 && places[strings.ToLower(words[i-1].text)]) {
			kind = strange(words, i, line, in)
		}
		if kind == "" && (in.german && isSmallNoun(w.text) || isBeside(words, i, line)) {
			kind = host
		}
		if kind != "" && !(i == 0 && strings.HasPrefix(line[w.end:], ":")) && !processBefore.MatchString(line[:w.start]) { // a program before what it says
			out.WriteString(line[last:w.start])
			out.WriteString(put(kind))
			last = w.end
			if isGiven(w.text) || rare()[w.text] || !isKnown(strings.ToLower(w.text)) {
				learn(known, w.text, kind)
			}
		}
	}
	return out.String() + line[last:]
}

// small is a word in small letters that is no part of another, of a path or an address.
var small = lazyregexp.New(`(?:^|[^\pL\pN_/.@-])([a-z]{4,})`)

// given replaces, wherever they stand, the words that nothing but a name is: of 336,000
// lines of packages' documentation one in 500 has one. Many a word of another language is
// a name in English: there they have to stand where names do.
func given(line string, in tongue, known map[string]string) string {
	var out strings.Builder
	last := 0
	elsewhere := in.foreign || in.german
	for _, at := range small.FindAllStringSubmatchIndex(line, -1) {
		w := line[at[2]:at[3]]
		if rest, _ := utf8.DecodeRuneInString(line[at[3]:]); !names()[w] || at[2] == 0 && rest == ':' || versionBehind.MatchString(line[at[3]:]) || !elsewhere && determiners[lastWord(line[:at[2]])] || unicode.IsLetter(rest) || unicode.IsDigit(rest) || strings.ContainsRune("_/.@(=-", rest) && !sentenceEnds.MatchString(line[at[3]:]) ||
			isWord(w) || isAccount(w) || german[w] || abroad[w] || elsewhere && (!placed(lastWord(line[:at[2]])) && !abroadPlaces[lastWord(line[:at[2]])] || declined.MatchString(w) || foreignWords()[w]) || packageLike.MatchString(w) || inPlaceholder(line, at[2], at[3]) {
			continue
		}
		out.WriteString(line[last:at[2]])
		out.WriteString(put(host))
		last = at[3]
		learn(known, w, host)
	}
	return out.String() + line[last:]
}

// sentenceEnds: a point that ends a sentence.
var sentenceEnds = lazyregexp.New(`^\.+(?:[\s"')]|$)`)

// wordsOf splits a line at its spaces.
func wordsOf(line string) (words []inLine) {
	for at := 0; at < len(line); {
		n := strings.IndexAny(line[at:], " \t")
		if n < 0 {
			n = len(line) - at
		}
		if n > 0 {
			w := inLine{start: at, end: at + n}
			if m := bare.FindAllStringSubmatchIndex(line[at:at+n], 1); m != nil {
				w = inLine{at + m[0][4], at + m[0][5], line[at+m[0][4] : at+m[0][5]]}
			}
			words = append(words, w)
		}
		at += n + 1
	}
	return words
}

// isProse says that most words of a line are known: in a list of packages, a word
// that no dictionary has says nothing.
func isProse(words []inLine, in tongue) bool {
	all, listed := 0, 0
	for _, w := range words {
		if !plainWord.MatchString(w.text) {
			continue
		}
		lower := strings.ToLower(w.text)
		switch {
		case isKnown(lower) || in.foreign && foreignWords()[lower]:
			all, listed = all+1, listed+1
		case !in.german || lower == w.text: // German nouns, which are many, have capitals
			all++
		}
	}
	return listed >= 3 && listed*10 >= all*6
}

var (
	plainWord = lazyregexp.New(`^\pL{2,}$`)
	// manages: a line about packages, whose names no dictionary has.
	manages = lazyregexp.New(`(?i)\b(?:pakete?n?|entpacken|einrichten|vorbereitung) |\b(?:apt|apt-get|dnf|yum|zypper|dpkg|rpm|pip3?|npm|gem|cargo|snap|flatpak|modprobe|insmod|import)\b|\b(?:packages?|modules?|plugins?|drivers?|extensions?|libraries|library|codecs?|depends|kernel option|unpacking|setting up|selecting)\b`)
	// topic: a line about machines or what is done with them. Elsewhere a word that no
	// dictionary has is one of a program.
	topic = lazyregexp.New(`(?i)\b(?:hosts?|servers?|machines?|vms?|nodes?|box(?:es)?|clusters?|(?:re)?boot(?:s|ed|ing)?|mov(?:es?|ed|ing)|migrat\w+|upgrad\w+|install(?:s|ed|ing)?|assess\w*|ssh|ping|log(?:ged|s|ging)? ?in|logins?|backups?|restor\w+|svc|debian|rocky|alma(?:linux)?|centos|rhel|ubuntu|disks?|network|clone[ds]?|snapshots?|images?|kernel|plan(?:ned)?|report|rehears\w+|attest\w*|reach\w*|connect\w*|retir\w+|renam\w+|replac\w+|cut ?over|cron|dns|dhcp|cname|ptr|mount(?:s|ed|ing)?|alerts?|racks?|firewall|cpus?|ram|sudo)\b|\[(?:host|ip)\]`)
	// tells: a line that names a machine, and not where a log does.
	tells = lazyregexp.New(`^\S*\[host\](?:[^:]* [^:]|$)|^\pL[^:]* \[host\]|: .*\[host\]`)

	letterRun = lazyregexp.New(`[a-z]{3,}`)

	// about are words after which something of the software's stands, and not a machine.
	about = strings.Fields("the a an name import service command option function variable file directory setting parameter directive unit program binary user group account field column table database schema key flag process daemon engine format codec method protocol using with via in version release package install installed installing use used enable enabled build compile")
	// determiners are words after which a thing stands: a name has none.
	determiners = set("a an the this that these those no any some each every all both its our my your his her their one two another other such which what new")
	// thing are words that say of the word before that it is no machine.
	thing = strings.Fields("package module service unit daemon library plugin driver command option function variable file directory setting parameter directive program binary protocol format syntax")
)

// strange is the kind of a word if it is a stranger, or "".
func strange(words []inLine, i int, line string, in tongue) string {
	w := words[i]
	next := byte(' ')
	if w.end < len(line) {
		next = line[w.end]
	}
	if !candidate.MatchString(w.text) && !capitals.MatchString(w.text) || len(w.text) < 3 || next == '=' || next == '(' || hexNumber.MatchString(w.text) ||
		releaseLike.MatchString(w.text) || packageLike.MatchString(w.text) || deviceLike.MatchString(w.text) {
		return ""
	}
	before, after := "", ""
	if i > 0 {
		before = cmp.Or(strings.ToLower(words[i-1].text), strings.ToLower(line[words[i-1].start:words[i-1].end]))
	}
	if i+1 < len(words) {
		after = strings.ToLower(words[i+1].text)
	}
	if numberedTicket.MatchString(w.text) || versionBehind.MatchString(line[w.end:]) || i > 1 && before == "of" && slices.Contains(about, strings.ToLower(words[i-2].text)) {
		return ""
	}
	theme, unknown := parts(strings.ToLower(w.text))
	given := themes()[w.text] || rare()[w.text] || names()[w.text] && !(in.german && declined.MatchString(w.text))
	switch {
	case isNumbered(w.text):
		return host
	case slices.Contains(thing, after), i+1 < len(words) && startsDigit.MatchString(line[words[i+1].start:words[i+1].end]) && after != "":
		return ""
	case in.foreign && foreignWords()[w.text], !in.foreign && determiners[before], isAccount(w.text):
		return ""
	case (theme || given || hasNumber.MatchString(w.text) && !isKnown(strings.TrimRight(strings.ToLower(w.text), "-0123456789"))) && !(i == 0 && next == ':') && (placed(before) || acts(after)):
		return host
	case given && alongside[before]:
		return host
	case unknown && !in.foreign && !firmPlaces[before] && !doesAlone[after] && !tells.MatchString(line):
		return ""
	case unknown && candidate.MatchString(w.text) && !isQuoted(line, w) && !(i == 0 && next == ':') && !hasSoftware(w.text) && !slices.Contains(about, before) && (!in.foreign || isForeignName(words, i, before, in)):
		return host
	}
	return ""
}

// hasSoftware: docker-postfixrelay.
func hasSoftware(w string) bool {
	return strings.ContainsRune(w, '-') && slices.ContainsFunc(strings.Split(w, "-"), isOrdinary)
}

// isQuoted says that a word stands in quotes, as values and names in programs do.
func isQuoted(line string, w inLine) bool {
	return w.start > 0 && w.end < len(line) && line[w.start-1] == line[w.end] && strings.IndexByte("'\"`", line[w.end]) >= 0
}

// isStrange says that a word is written as machines are called, and is one that no
// dictionary has or that people name machines after.
func isStrange(w string) bool {
	lower := strings.ToLower(w)
	theme, unknown := parts(lower)
	return (candidate.MatchString(w) || capitals.MatchString(w)) && !numberedTicket.MatchString(w) && (theme || unknown || isGiven(lower) || rare()[lower] || hasNumber.MatchString(w)) ||
		themes()[lower]
}

var hasNumber = lazyregexp.New(`[a-z]{3}-?[0-9]{1,3}$|^[A-Z]{3,}[0-9]+$`)

// isNumbered takes kube-infra-2 and s3gw-2: a number behind several parts, or
// behind what is no word; and no package is called so.
func isNumbered(w string) bool {
	m := numbered.FindStringSubmatch(w)
	if m == nil || dictionary()[m[1]] || releaseLike.MatchString(w) || packageLike.MatchString(w) || deviceLike.MatchString(w) {
		return false
	}
	stem := strings.TrimSuffix(m[1], "-")
	if threads.MatchString(stem) {
		return false
	}
	if deviceLike.MatchString(strings.ReplaceAll(lastTwo(w), "-", "")) {
		return false // scram-sha-256
	}
	return strings.Contains(stem, "-") && stem == strings.ToLower(stem) || !isKnown(strings.ToLower(stem))
}

// threads: http-apr-8080-exec-3.
var threads = lazyregexp.New(`(?i)(?:^|-)(?:exec|threads?|pool|timer|task|startstop)$`)

// lastTwo are the last two parts of a word: sha-256 of scram-sha-256.
func lastTwo(w string) string {
	return w[strings.LastIndexByte(w[:strings.LastIndexByte(w, '-')], '-')+1:]
}

// tongue is the language of a line: another than English, and of these German, whose
// nouns have capitals.
type tongue struct{ foreign, german bool }

func tongueOf(words []inLine) tongue {
	return tongue{distinct(words, foreignWords()) > 1, distinct(words, germanWords()) > 2}
}

// distinct counts the words of a line that are in a list.
func distinct(words []inLine, list map[string]bool) int {
	seen := map[string]bool{}
	for _, w := range words {
		if lower := strings.ToLower(w.text); list[lower] {
			seen[lower] = true
		}
	}
	return len(seen)
}

// isForeignName says that a word which is none of English is none of the other language
// either, where a name stands: with no article. In German an adjective may stand there
// before its noun, but not in small letters where a sentence begins.
func isForeignName(words []inLine, i int, before string, in tongue) bool {
	w := words[i].text
	if compound.MatchString(w) && placed(before) {
		return true
	}
	first := before == "" && i == 0
	if in.german && !isGiven(w) && inflected.MatchString(w) {
		return false
	}
	if foreignWords()[w] || len(w) < 4 || !first && !abroadPlaces[before] && (!places[before] || articles[before]) {
		return false
	}
	describes := in.german && (i+1 < len(words) && startsCapital.MatchString(words[i+1].text) && declined.MatchString(w) || adverb.MatchString(w))
	return first || !describes
}

var (
	// articles of one language are places of another.
	articles      = set("de den der die das la")
	startsCapital = lazyregexp.New(`^\p{Lu}`)
	adverb        = lazyregexp.New(`(?:t|lich|ig|weise|los|bar)$`)
)

// abroadPlaces are words of other languages after which a name has no article.
var abroadPlaces = set("sur chez depuis vers avec pour dans entre migré di su da con verso desde hacia sobre para a en na do z od w op van naar aan på fra til av från till om em no pelo bei an für mit seit haben habe hat ist sei sind war waren wird dass ob wenn weil man migrer migrar migrare migrato déplacé déplacer mover movido spostato spostare verplaatst flyttade flyttet przenieśliśmy heißt")

// isSmallNoun says that a word of a German line is neither a verb, an adjective nor a
// particle, by its ending, and no word of the trade: without a capital, it is a name.
func isSmallNoun(w string) bool {
	return candidate.MatchString(w) && len(w) > 3 && !germanWords()[w] && !packageLike.MatchString(w) && !deviceLike.MatchString(w) && !releaseLike.MatchString(w) &&
		(themes()[w] || !inflected.MatchString(w) && (isGiven(w) || !isKnown(w)))
}

// inflected: as German verbs, adjectives and adverbs end.
var inflected = lazyregexp.New(`(?:t|te|en|er|es|em|e|rn|ln|ig|lich|isch|bar|sam|los|nd|al|iv|ell|är|aus|auf|ab|an|ein|mal|falls|um|her|hin|zu|bei|wegs|seits)$`)

// declined: as adjectives and verbs do that are names in English: lange.
var declined = lazyregexp.New(`(?:e|en|em|es|er|rn)$`)

// isBeside says that a word and a machine that was found are named together: in a list,
// by "and", or one after the other.
func isBeside(words []inLine, i int, line string) bool {
	w := words[i]
	if !candidate.MatchString(w.text) || len(w.text) < 3 || isWord(w.text) || isOrdinary(w.text) || isAccount(w.text) || releaseLike.MatchString(w.text) || packageLike.MatchString(w.text) || deviceLike.MatchString(w.text) {
		return false
	}
	before, after := line[:w.start], line[w.end:]
	listed := before == "" || placed(lastWord(before)) || strings.HasSuffix(before, ": ") || strings.HasSuffix(before, ", ")
	ends := after == "" || strings.ContainsRune(".,;:)", rune(after[0])) || acts(strings.ToLower(lastWord(firstWord(after))))
	return ends && besideBefore.MatchString(before[max(0, len(before)-longestLink):]) || listed && besideAfter.MatchString(after)
}

// longestLink is more than a machine's placeholder and what links it to another have.
const longestLink = 24

var (
	besideBefore = lazyregexp.New(`\[host\](?:, ?|,? (?:and|or|und|oder|et|ou|y|e|i|og|och|en|sowie|&) | ?(?:→|->|=>) ?| / )$`)
	besideAfter  = lazyregexp.New(`^(?:, ?|,? (?:and|or|und|oder|et|ou|y|e|i|og|och|en|sowie|&) | ?(?:→|->|=>) ?| / )\[host\]`)
)

func firstWord(s string) string { w, _, _ := strings.Cut(strings.TrimPrefix(s, " "), " "); return w }

func lastWord(s string) string {
	s = strings.TrimRight(s, " \t")
	return strings.ToLower(strings.TrimLeft(s[strings.LastIndexAny(s, " \t")+1:], "(„\"'"))
}

// parts says whether a word, or a part of it, is one that people name machines
// after, and whether one is in no dictionary.
func parts(w string) (theme, unknown bool) {
	for _, part := range letterRun.FindAllString(w, -1) {
		theme = theme || themes()[part]
		unknown = unknown || len(part) > 3 && !isKnown(part)
	}
	return theme, unknown
}

var (
	places = set("on from to of between and or behind into onto against than both at towards toward for via by called named host server machine vm box node while whereas but that if when is was not retire touch reboot restart move moved migrate copy upgrade drain rebooted restarted upgraded copied drained cloned pinged replaced renamed patched rebuilt login log ssh ping old new ask tell see check only except without vs versus like unlike near through over until after before because since once auf von nach vom zum und oder aus dass bitte ob wie zwischen als de vers sur et entre depuis que")
	doing  = set("uses used left joined joins is was isn't wasn't has had hasn't runs ran run still still, went lost gets got keeps kept boots booted hangs hung crashed crashes fails failed needs needed should must can can't cannot will won't would does doesn't did didn't has answers answered came comes reports reported says said shows showed sees forwards holds mounts serves stopped stops starts started went and or but to at only also now ist hat war läuft fehlt nicht noch erst und est")
)

// Of these, those beside which a word that no dictionary has is a machine: others stand
// beside names of programs as often.
var (
	firmPlaces = set("on from to of between onto into against behind than toward towards for by called named host server machine vm box node retire touch reboot restart move moved migrate copy upgrade drain rebooted restarted upgraded migrated copied drained cloned pinged replaced renamed patched rebuilt ssh ping ask tell")
	doesAlone  = set("boots booted hangs hung crashed crashes answers answered joined joins left lost went came gets got reports reported says said sees holds serves isn't wasn't")
)

// alongside are words after which a name stands, and most other words do.
var alongside = set("with about for mit über für avec pour con para read reads plan planned assess assessed verify verified")

func placed(before string) bool { return before == "" || places[before] }

func acts(after string) bool { return doing[after] }
