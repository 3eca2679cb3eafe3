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

// guide is the parsed text and what searching needs of it.
type guide struct {
	passages []Passage
	terms    []map[string]float64 // of each passage: a word's weight
	rarity   map[string]float64   // of each word, in all passages
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
	count := map[string]float64{}
	for _, p := range g.passages {
		terms := map[string]float64{}
		add(terms, p.Title+" "+p.ID, 3)
		add(terms, p.also, 2)
		add(terms, p.Text, 1)
		for t := range terms {
			count[t]++
		}
		g.terms = append(g.terms, terms)
	}
	for t, n := range count {
		g.rarity[t] = math.Log(1 + float64(len(g.passages))/n)
	}
	return g
}

// add gives the words of a text at least this weight.
func add(terms map[string]float64, text string, weight float64) {
	for _, w := range words(text) {
		terms[w] = max(terms[w], weight)
	}
}

// Thresholds of a sure answer, tuned on the questions of the test.
const (
	sureCover  = 0.72 // of what a question asks, by rarity, that a passage must hold
	entryCover = 0.9  // the same of an entry of a list, which is about one thing alone
	sureWeight = 4.2  // of what it holds, by rarity and place
)

// maxQuestion bounds what of a question is looked at, in bytes.
const maxQuestion = 4 << 10

// Answer is the passage that surely answers the question.
func Answer(question string) (Passage, bool) {
	g := loaded()
	question = question[:min(len(question), maxQuestion)]
	if p, ok := g.named(question); ok {
		return p, true
	}
	asked := words(question)
	if len(asked) == 0 || !asksHere(question) {
		return Passage{}, false
	}
	best, bestScore, bestCover, tied := 0, 0.0, 0.0, false
	for i := range g.passages {
		score, cover := g.score(i, asked)
		tied = tied && score <= bestScore || score == bestScore
		if score > bestScore {
			best, bestScore, bestCover = i, score, cover
		}
	}
	p := g.passages[best]
	enough := sureCover
	if p.Title == p.ID {
		enough = entryCover
	}
	return p, !tied && bestCover >= enough && bestScore >= sureWeight
}

// Nearest are the passages that hold most of what a question asks, the best first:
// none of them surely answers it.
func Nearest(question string, n int) []Passage {
	g, asked := loaded(), words(question[:min(len(question), maxQuestion)])
	if len(asked) == 0 {
		return nil
	}
	type scored struct {
		Passage
		score float64
	}
	var all []scored
	for i, p := range g.passages {
		if score, _ := g.score(i, asked); score > 0 {
			all = append(all, scored{p, score})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var nearest []Passage
	for _, s := range all[:min(n, len(all))] {
		nearest = append(nearest, s.Passage)
	}
	return nearest
}

// score says how much of the question a passage holds: weighted by place, and
// as a share. A word that the guide does not know counts as the rarest.
func (g *guide) score(i int, asked []string) (score, cover float64) {
	unknown := math.Log(1 + float64(len(g.passages)))
	held, all := 0.0, 0.0
	for _, w := range asked {
		rarity, known := g.rarity[w]
		if !known {
			rarity = unknown
		}
		all += rarity
		if weight := g.terms[i][w]; weight > 0 {
			held += rarity
			score += rarity * (1 + weight) / 2
		}
	}
	return score, held / all
}

// name is what looks like a key of a finding, or a code.
var name = lazyregexp.New(`[a-z]+(?:\.[a-z0-9-]+)+|[A-Z]{2,}(?:_[A-Z0-9]+)+|\b[A-Z]{5,}\b`)

// meaning are questions that ask what a name means.
var meaning = lazyregexp.New(`(?i)\b(?:what|why|mean|means|explain|about|do|fix|handle|how)\b`)

// named finds the passage of a key or code that stands in the question. Codes
// of the service are in the titles of sections.
func (g *guide) named(question string) (Passage, bool) {
	alone := strings.Trim(question, " \t\n?.")
	if p, ok := g.find(alone); ok && name.FindString(alone) == alone {
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
	"licence": "seat", "license": "seat", "licens": "seat", "licenc": "seat", "licensed": "seat", "seats": "seat",
	"vm": "machine", "vms": "machine", "machin": "machine", "instanc": "machine", "instances": "machine", "computer": "machine", "comput": "machine",
	"charg": "bill", "pay": "bill", "paid": "bill", "cost": "bill", "pric": "bill", "price": "bill", "billing": "bill", "expensiv": "bill", "fee": "bill", "fees": "bill",
	"folder": "directory", "dir": "directory", "directori": "directory",
	"rollback": "undo", "revert": "undo", "databas": "database", "db": "database", "dbs": "database",
	"vulnerabilit": "cve", "vulnerability": "cve", "vulnerabl": "cve", "cves": "cve", "passwd": "password",
	"redact": "strip", "anonymiz": "strip", "anonymis": "strip", "remov": "strip", "mov": "migrat", "move": "migrat", "migrate": "migrat",
	"apikey": "token", "sign": "signature", "signatur": "signature", "signed": "signature",
	"broken": "corrupt", "damag": "corrupt", "begin": "start", "limits": "limit", "truncat": "cut", "shorten": "cut",
	"distribution": "release", "distro": "release", "distribut": "release", "releas": "release", "fold": "directory",
}

// stop are words that say nothing of what is asked; stems.
var stop = stopWords(`a an the and or of to in on at is are was were be been it its this that these those i my me we our you your he she they them their
	do does did done can could may might must shall should will would have has had not no what when where which who why how if then than as by for from with without into
	there here any some all each every other another so such just only also too very much more most am get got give given let make made want need use used using mean work
	happen svc tool please per if call default between difference several tell me know about say show one after before while during out up down over again way thing something anything really actually
	ok hi hello thank explain possible able ever still yet even own same kind sort try s t m re ve d ll`)

func stopWords(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w], set[stem(w)] = true, true
	}
	return set
}
