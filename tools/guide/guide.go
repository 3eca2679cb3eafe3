// Package guide is the handbook of svc, as passages, and finds the passage that
// answers a question. Where none surely does, it says so: a wrong answer costs
// more than a question that a person answers.
package guide

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"svc/backend/lazyregexp"
)

//go:embed guide.md
var text string

// questions are what people asked, a line each, with the passages that answer it right,
// the best first.
//
//go:embed asked.tsv
var questions string

// Text is the whole guide, in Markdown.
func Text() string { return comment.ReplaceAllString(text, "") }

// Passage is a section of the guide, or an entry of its lists.
type Passage struct {
	ID    string // seats; ssh.root-login; DATA_MIGRATION
	Title string
	Text  string
	also  string // other words that people ask with
}

var (
	comment = lazyregexp.New(`<!--[^>]*-->\n?`)
	also    = lazyregexp.New(`<!-- (.*) -->`)
	section = lazyregexp.New(`(?m)^## ([a-z-]+): (.*)\n\n((?:[^#\n].*\n|\n)*)`)
	entry   = lazyregexp.New("(?m)^- `([^`]+)`: (.*)$")
)

// Passages are all passages, in the guide's order.
func Passages() []Passage { return loaded().passages }

// Topics are the names of the guide's sections: what a question about one of them is
// answered by, whatever its words are.
func Topics() (topics []string) {
	for _, p := range Passages() {
		if p.Title != p.ID {
			topics = append(topics, p.ID)
		}
	}
	return topics
}

// guide is the parsed text and what searching needs of it.
type guide struct {
	passages []Passage
	terms    []map[string]float64 // of each passage: a word's weight
	asked    []asking
	rarity   map[string]float64 // of a word, over passages and questions
	unknown  float64            // rarity of a word that is in none
}

// asking is a question that was asked before.
type asking struct {
	words   []string
	answers []int // passages, the best first
}

var loaded = sync.OnceValue(parse)

func parse() *guide {
	g := &guide{rarity: map[string]float64{}}
	for _, m := range section.FindAllStringSubmatch(text, -1) {
		p := Passage{ID: m[1], Title: m[2], Text: strings.TrimSpace(comment.ReplaceAllString(m[3], ""))}
		if a := also.FindStringSubmatch(m[3]); a != nil {
			p.also = a[1]
		}
		g.passages = append(g.passages, p)
	}
	for _, m := range entry.FindAllStringSubmatch(text, -1) {
		g.passages = append(g.passages, Passage{ID: m[1], Title: m[1], Text: m[2]})
	}
	for _, p := range g.passages {
		terms := map[string]float64{}
		add(terms, p.Title+" "+p.ID, 3)
		add(terms, p.also, 2)
		add(terms, p.Text, 1)
		g.terms = append(g.terms, terms)
	}
	g.learn(questions)
	g.weigh()
	return g
}

// learn takes in questions with their answers.
func (g *guide) learn(questions string) {
	for line := range strings.Lines(questions) {
		question, answers, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		a := asking{words: words(question)}
		for _, id := range strings.Fields(answers) {
			if i := slices.IndexFunc(g.passages, func(p Passage) bool { return p.ID == id }); i >= 0 {
				a.answers = append(a.answers, i)
			}
		}
		g.asked = append(g.asked, a)
	}
}

// weigh finds how rare each word is.
func (g *guide) weigh() {
	count, all := map[string]float64{}, float64(len(g.passages)+len(g.asked))
	for _, terms := range g.terms {
		for t := range terms {
			count[t]++
		}
	}
	for _, a := range g.asked {
		for _, w := range a.words {
			count[w]++
		}
	}
	for t, n := range count {
		g.rarity[t] = math.Log(1 + all/n)
	}
	g.unknown = math.Log(1 + all)
}

// add gives the words of a text at least this weight.
func add(terms map[string]float64, text string, weight float64) {
	for _, w := range words(text) {
		terms[w] = max(terms[w], weight)
	}
}

// Thresholds of a sure answer: with them, of the questions that were asked before, each
// looked for among the others, fewer than one in fifty is answered wrong.
const (
	sureScore  = 0.6  // of the best passage
	sureMargin = 0.85 // by which it is ahead of the second
	sureCover  = 0.5  // of the question, by rarity, that it and what was asked of it hold
	asBefore   = 0.95 // how alike a question is to one that was asked before, to be that one
)

// How much counts what.
const (
	secondLike  = 0.3 // the second question of a passage that is like the one asked
	otherAnswer = 0.9 // a passage that answers a question too, but is not its best answer
	entryPart   = 0.8 // an entry of a list, which is about one thing alone
	strange     = 0.6 // a word that the guide does not know
)

// maxQuestion bounds what of a question is looked at, in bytes.
const maxQuestion = 4 << 10

// Answer is the passage that surely answers the question.
func Answer(question string) (Passage, bool) { return loaded().answer(question, nobody) }

// nobody is that no question that was asked before is left out.
const nobody = -1

// answer is Answer, without what was asked at a place of the list.
func (g *guide) answer(question string, without int) (Passage, bool) {
	question = question[:min(len(question), maxQuestion)]
	if p, ok := g.named(question); ok {
		return p, true
	}
	if !asksHere(question) {
		return Passage{}, false
	}
	near := g.rank(words(question), without)
	if len(near) == 0 {
		return Passage{}, false
	}
	if alike := slices.MaxFunc(near, func(a, b ranked) int { return cmp.Compare(a.like, b.like) }); alike.like >= asBefore {
		return g.passages[alike.passage], true
	}
	best, margin := near[0], near[0].score
	if len(near) > 1 {
		margin -= near[1].score
	}
	sure := best.score >= sureScore && margin >= sureMargin && best.cover >= sureCover
	return g.passages[best.passage], sure
}

// Nearest are the passages that are nearest to what a question asks, the best first:
// none of them surely answers it.
func Nearest(question string, n int) []Passage { return loaded().nearest(question, n, nobody) }

func (g *guide) nearest(question string, n, without int) (nearest []Passage) {
	ranked := g.rank(words(question[:min(len(question), maxQuestion)]), without)
	for _, r := range ranked[:min(n, len(ranked))] {
		nearest = append(nearest, g.passages[r.passage])
	}
	return nearest
}

// ranked is how near a passage is to a question.
type ranked struct {
	passage int
	like    float64 // how alike the question is to the best of those that it answers
	score   float64
	cover   float64 // of the question that it, and those that it answers, hold
}

// rank gives the passages that have something of a question, the best first: by the
// questions that they answered before, and by their own words. A question may be left out.
func (g *guide) rank(asked []string, without int) (all []ranked) {
	if len(asked) == 0 {
		return nil
	}
	like, second, held := make([]float64, len(g.passages)), make([]float64, len(g.passages)), map[int]map[string]bool{}
	for i, before := range g.asked {
		if i == without {
			continue
		}
		alike := g.alike(asked, before.words)
		for n, p := range before.answers {
			if n > 0 {
				alike *= otherAnswer
			} else {
				hold(held, p, before.words)
			}
			second[p] = max(second[p], min(alike, like[p]))
			like[p] = max(like[p], alike)
		}
	}
	for i, p := range g.passages {
		own := g.own(i, asked)
		if p.Title == p.ID {
			own *= entryPart
		}
		if score := like[i] + secondLike*second[i] + own; score > 0 {
			all = append(all, ranked{i, like[i], score, g.cover(i, asked, held[i])})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return all
}

// hold adds words to those of a passage.
func hold(held map[int]map[string]bool, passage int, words []string) {
	if held[passage] == nil {
		held[passage] = map[string]bool{}
	}
	for _, w := range words {
		held[passage][w] = true
	}
}

// weight is a word's rarity; of one that is not known, this part of the rarest.
func (g *guide) weight(w string, unknown float64) float64 {
	if rarity, known := g.rarity[w]; known {
		return rarity
	}
	return unknown * g.unknown
}

func (g *guide) sum(words []string) (sum float64) {
	for _, w := range words {
		sum += g.weight(w, strange)
	}
	return sum
}

// alike says how much two questions have in common, from 0 to 1.
func (g *guide) alike(a, b []string) float64 {
	common := 0.0
	for _, w := range a {
		if slices.Contains(b, w) {
			common += g.weight(w, strange)
		}
	}
	if common == 0 {
		return 0
	}
	return common / math.Sqrt(g.sum(a)*g.sum(b))
}

// own says how much of a question stands in a passage, by place and rarity.
func (g *guide) own(passage int, asked []string) float64 {
	held := 0.0
	for _, w := range asked {
		if place := g.terms[passage][w]; place > 0 {
			held += g.weight(w, strange) * (1 + place) / 2
		}
	}
	return held / g.sum(asked)
}

// cover says how much of a question a passage and the questions that it answers hold.
// A word that the guide does not know counts as the rarest.
func (g *guide) cover(passage int, asked []string, held map[string]bool) float64 {
	some, all := 0.0, 0.0
	for _, w := range asked {
		weight := g.weight(w, 1)
		all += weight
		if held[w] || g.terms[passage][w] > 0 {
			some += weight
		}
	}
	return some / all
}

// name is what looks like a key of a finding, or a code.
var name = lazyregexp.New(`[a-z]+(?:\.[a-z0-9-]+)+|[A-Z]{2,}(?:_[A-Z0-9]+)+|\b[A-Z]{5,}\b`)

// meaning are questions that ask what a name means.
var meaning = lazyregexp.New(`(?i)\b(?:what|why|mean|means|explain|about|do|fix|handle|how)\b`)

// named finds the passage of a key or code that stands in the question. Codes
// of the service are in the titles of sections.
func (g *guide) named(question string) (Passage, bool) {
	alone := strings.Trim(question, " \t\n?.")
	if p, ok := g.find(alone); ok && (name.FindString(alone) == alone || p.ID == alone) {
		return p, true
	}
	if !meaning.MatchString(question) {
		return Passage{}, false
	}
	for _, n := range name.FindAllString(question, -1) {
		if p, ok := g.find(n); ok {
			return p, true
		}
	}
	return Passage{}, false
}

// Find is the passage of a topic, of a finding's key or of a caveat's code. A key
// that no entry has alone is that of its caveat, or of its family.
func Find(id string) (Passage, bool) { return loaded().find(id) }

func (g *guide) find(id string) (Passage, bool) {
	caveat, isPackage := strings.CutPrefix(id, "package.")
	caveat = strings.ToUpper(strings.ReplaceAll(caveat, "-", "_"))
	for _, is := range []func(Passage) bool{
		func(p Passage) bool { return p.ID == id },
		func(p Passage) bool { return isPackage && p.ID == caveat },
		func(p Passage) bool { return slices.Contains(strings.Fields(p.Title), id) },
		func(p Passage) bool {
			family, isFamily := strings.CutSuffix(p.ID, "*")
			return isFamily && strings.HasPrefix(id, family)
		},
	} {
		if i := slices.IndexFunc(g.passages, is); i >= 0 {
			return g.passages[i], true
		}
	}
	return Passage{}, false
}

// elsewhere are questions that no handbook answers: about one event or person,
// about what will be, and about opinions.
var elsewhere = lazyregexp.New(`(?i)\b(?:yesterday|today|tomorrow|last (?:week|night|month|monday|tuesday|wednesday|thursday|friday)|this morning|roadmap|will (?:you|svc|there|it)|going to|are you planning|` +
	`when (?:is|will|does the next)|my (?:colleague|boss|customer|manager)|who (?:is|are|wrote|made|at)|should i (?:choose|buy|prefer)|better than|compared? (?:to|with)|versus|vs\.? [^c]|recommend)\b`)

func asksHere(question string) bool { return !elsewhere.MatchString(question) }

// words are the stems of a text's words, without those that every text has.
func words(text string) []string {
	all := []string{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		w = stem(w)
		if !stop[w] && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// stem takes endings off and gives one of several words for a thing.
func stem(w string) string {
	if same, ok := synonyms[w]; ok {
		return same
	}
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "s", "ly"} {
		if root, ok := strings.CutSuffix(w, ending); ok && len(root) >= 3 {
			w = root
			break
		}
	}
	w = strings.TrimSuffix(w, "e")
	if same, ok := synonyms[w]; ok {
		return same
	}
	return w
}

// synonyms are words for one thing, by word or stem.
var synonyms = map[string]string{
	"server": "machine", "servers": "machine", "host": "machine", "hosts": "machine", "box": "machine", "boxes": "machine", "guest": "machine", "laptop": "machine", "old": "source", "inspected": "source",
	"buy": "bill", "bought": "bill", "money": "bill", "invoice": "bill", "invoic": "bill", "billed": "bill", "billabl": "bill", "charged": "bill",
	"bastion": "jump", "gateway": "jump", "credential": "password", "credentials": "password",
	"holes": "cve", "hole": "cve", "exposure": "cve", "exposur": "cve",
	"powered": "run", "power": "crash", "electricity": "crash", "killed": "crash", "reboot": "crash",
	"offline": "offline", "air": "offline", "airgapped": "offline", "isolated": "offline", "internet": "offline",
	"batch": "wave", "batches": "wave", "group": "wave", "wav": "wave",
	"evidence": "attestation", "evidenc": "attestation", "proof": "attestation", "attest": "attestation", "auditor": "attestation",
	"rehears": "trial", "try": "trial", "tri": "trial", "test": "trial",
	"minut": "duration", "hour": "duration", "minutes": "duration", "hours": "duration", "fast": "duration", "quick": "duration",
	"execut": "run", "executed": "run", "apply": "run", "appli": "run", "applied": "run",
	"approv": "confirm", "approval": "confirm", "agree": "confirm", "consent": "confirm",
	"come": "carri", "travel": "carri", "carry": "carri", "transfer": "carri", "transferr": "carri", "copi": "copy", "along": "carri",
	"edit": "change", "edited": "change", "modif": "change", "modifi": "change", "chang": "change",
	"previou": "back", "return": "back",
	"licence": "seat", "license": "seat", "licens": "seat", "licenc": "seat", "licensed": "seat", "seats": "seat",
	"vm": "machine", "vms": "machine", "machin": "machine", "instanc": "machine", "instances": "machine", "computer": "machine", "comput": "machine",
	"charg": "bill", "pay": "bill", "paid": "bill", "cost": "bill", "pric": "bill", "price": "bill", "billing": "bill", "expensiv": "bill", "fee": "bill", "fees": "bill",
	"folder": "directory", "dir": "directory", "directori": "directory",
	"rollback": "undo", "revert": "undo", "databas": "database", "db": "database", "dbs": "database",
	"vulnerabilit": "cve", "vulnerability": "cve", "vulnerabl": "cve", "cves": "cve", "passwd": "password",
	"gone": "strip", "vanish": "strip", "disappear": "strip", "outage": "downtime", "interrupt": "downtime", "redact": "strip", "anonymiz": "strip", "anonymis": "strip", "remov": "strip", "mov": "migrat", "move": "migrat", "migrate": "migrat",
	"apikey": "token", "sign": "signature", "signatur": "signature", "signed": "signature",
	"broken": "corrupt", "damag": "corrupt", "begin": "start", "limits": "limit", "truncat": "cut", "shorten": "cut",
	"distribution": "release", "distro": "release", "distribut": "release", "releas": "release", "fold": "directory",
}

// stop are words that say nothing of what is asked; stems.
var stop = stopWords(`a an the and or of to in on at is are was were be been it its this that these those i my me we our you your he she they them their
	do does did done can could may might must shall should will would have has had not no what when where which who why how if then than as by for from with without into
	there here any some all each every other another so such just only also too very much more most am get got give given let make made want need use used using mean work
	happen svc tool please per if call default between difference several tell me know about say show one after before while during out up down over again way thing something anything really actually
	ok hi hello thank explain possible able ever still yet even own same kind sort s t m re ve d ll`)

func stopWords(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w], set[stem(w)] = true, true
	}
	return set
}
