// Package guide is the handbook of svc, as passages, and finds the passage that
// answers a question. Where none surely does, it says so: a wrong answer costs
// more than a question that a person answers.
package guide

import (
	"compress/gzip"
	_ "embed"
	"io"
	"slices"
	"strings"
	"sync"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

//go:embed guide.md
var text string

// packedQuestions are what people ask (asked.txt), a line each, below the names of the
// passages that answer it right, the best first. A dash is what no guide knows.
//
//go:embed asked.txt.gz
var packedQuestions string

func unpackedQuestions() []byte {
	r, err := gzip.NewReader(strings.NewReader(packedQuestions))
	if err != nil {
		panic(err) // a test holds that it can be read
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return text
}

// meanings are senses, a line each, with the words that have it.
//
//go:embed senses.tsv
var meanings string

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
func Topics() []string {
	return sliced.FilterMap(Passages(), func(p Passage) (string, bool) { return p.ID, p.Title != p.ID })
}

// guide is the parsed text and what searching needs of it.
type guide struct {
	passages []Passage
	about    *classifier    // its last passage is none: what the guide does not know
	asked    map[string]int // the words of a question that was asked before: its best passage
}

var loaded = sync.OnceValue(func() *guide {
	g := parse()
	g.learn(g.questions())
	return g
})

func parse() *guide {
	g := &guide{}
	for _, m := range section.FindAllStringSubmatch(text, -1) {
		p := Passage{ID: m[1], Title: m[2], Text: strings.TrimSpace(comment.ReplaceAllString(m[3], ""))}
		if a := also.FindStringSubmatch(m[3]); a != nil {
			p.also = a[1]
		}
		g.passages = append(g.passages, p)
	}
	g.passages = append(g.passages, sliced.Map(entry.FindAllStringSubmatch(text, -1), func(m []string) Passage { return Passage{ID: m[1], Title: m[1], Text: m[2]} })...)
	return g
}

// questions are those that were asked before.
func (g *guide) questions() (all []example) {
	place := map[string]int{"-": len(g.passages)}
	for i, p := range g.passages {
		place[p.ID] = i
	}
	var passages []int
	for line := range strings.Lines(string(unpackedQuestions())) {
		line = strings.TrimSpace(line)
		if names, ok := strings.CutPrefix(line, "# "); ok {
			passages = nil
			passages = append(passages, sliced.Map(strings.Fields(names), func(id string) int { return place[id] })...)
		} else if line != "" {
			all = append(all, example{line, passages})
		}
	}
	return all
}

// learn takes in the questions, and what the passages themselves say.
func (g *guide) learn(questions []example) {
	g.asked = map[string]int{}
	for _, q := range questions {
		g.asked[strings.Join(tokens(q.text), " ")] = q.passages[0]
	}
	examples := slices.Clone(questions)
	for i, p := range g.passages {
		for _, text := range []string{p.ID + " " + p.Title, p.also, p.Text} {
			if text != "" {
				examples = append(examples, example{text, []int{i}})
			}
		}
	}
	g.about = learn(examples, len(g.passages)+1, sensesOf(meanings))
}

// Thresholds of a sure answer, by the chance that it is right: of questions that the
// guide has not seen, about one in a hundred is then answered wrong.
const (
	sureOne = 0.998 // of one passage
	sureTwo = 0.95  // of two that are given together
	mostTwo = 1500  // bytes of both
)

// maxQuestion bounds what of a question is looked at, in bytes.
const maxQuestion = 4 << 10

// Answer is the passage that surely answers the question, or the two of which one does;
// none where that is not sure.
func Answer(question string) []Passage { return loaded().answer(question) }

func (g *guide) answer(question string) []Passage {
	question = question[:min(len(question), maxQuestion)]
	if p, ok := g.named(question); ok {
		return []Passage{p}
	}
	if p, ok := g.asked[strings.Join(tokens(question), " ")]; ok {
		return g.chosen(guess{passage: p})
	}
	if elsewhere.MatchString(question) {
		return nil
	}
	near := g.about.guesses(question)
	first, second := near[0], near[1]
	switch {
	case first.chance >= sureOne:
		return g.chosen(first)
	case first.chance+second.chance >= sureTwo:
		if two := g.chosen(first, second); len(two) == 2 && len(two[0].Text)+len(two[1].Text) <= mostTwo {
			return two
		}
	}
	return nil
}

// chosen are the passages of guesses, without what is none.
func (g *guide) chosen(guesses ...guess) (chosen []Passage) {
	for _, c := range guesses {
		if c.passage < len(g.passages) {
			chosen = append(chosen, g.passages[c.passage])
		}
	}
	return chosen
}

// Nearest are the passages that a question is likeliest about, the likeliest first: none
// of them surely answers it.
func Nearest(question string, n int) []Passage { return loaded().nearest(question, n) }

func (g *guide) nearest(question string, n int) []Passage {
	near := g.chosen(g.about.guesses(question[:min(len(question), maxQuestion)])...)
	return near[:min(n, len(near))]
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
		if p, ok := sliced.Find(g.passages, is); ok {
			return p, true
		}
	}
	return Passage{}, false
}

// elsewhere are questions that no handbook answers, whatever they are about: of one event
// or person, of what will be, and of opinions.
var elsewhere = lazyregexp.New(`(?i)\b(?:yesterday|last (?:night|monday|tuesday|wednesday|thursday|friday)|roadmap|when (?:will|is the next|does the next)|are you planning|` +
	`will (?:be|ever be) supported|next release|who (?:wrote|made|founded)|should i (?:choose|prefer)|better than|recommend|my (?:colleague|boss)'s)\b`)
