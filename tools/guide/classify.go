package guide

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"svc/backend/sliced"
	"svc/backend/tsv"
)

// example is a text that belongs to passages, the best first.
type example struct {
	text     string
	passages []int
}

// classifier says which passage a text is about: naive Bayes, multinomial, over the
// features of the texts that it has learned, each weighed by how rare it is.
type classifier struct {
	senses   map[string][]string
	features map[uint64]int32 // by kind and hash: their place in the lists below
	rarity   []float64
	rarest   float64   // rarity of what is in none of the texts
	held     [][]share // of each feature: which passages have it
	total    []float64 // of each passage: the weight of all its features
}

// share is how much of a feature the texts of a passage have.
type share struct {
	passage int32
	weight  float32
}

// kind is what a feature is of: features of two kinds are never alike.
type kind byte

const (
	word  kind = iota
	pair       // two words that follow each other, as rare as the less rare of them
	sense      // what several words mean alike
	part       // letters of a word: other forms of it, and slips of the finger
	first      // the word that a text begins with
)

// counts is how much a feature counts, by its kind. This, what follows, and the
// thresholds of guide.go were chosen by questions that were not learned.
var counts = [...]float64{word: 1, pair: 1.5, sense: 1.2, part: 0.5, first: 0.7}

const (
	partLen = 4
	unseen  = 0.5  // what a word counts that no text has
	smooth  = 0.05 // what each passage has of each feature
	sharp   = 2.0  // how much is made of differences between passages
	best    = 0.7  // the part of an example that its best passage gets, where it has several
)

// learn makes a classifier of texts. It knows so many passages.
func learn(examples []example, passages int, senses map[string][]string) *classifier {
	c := &classifier{senses: senses, features: make(map[uint64]int32, 1<<15), total: make([]float64, passages)}
	has := make([][]found, len(examples))
	for i, e := range examples {
		has[i], _ = c.find(e.text, func(id uint64) int32 {
			c.features[id] = int32(len(c.rarity))
			c.rarity = append(c.rarity, 0)
			return c.features[id]
		})
		for _, f := range has[i] {
			c.rarity[f.feature]++
		}
	}
	all := float64(len(examples))
	for i, n := range c.rarity {
		c.rarity[i] = math.Log(1 + all/n)
	}
	c.rarest = math.Log(1 + all)
	c.held = make([][]share, len(c.rarity))
	for i, e := range examples {
		for _, f := range c.weigh(has[i], 0) {
			for n, p := range e.passages {
				c.add(f.feature, p, f.weight*portion(n, len(e.passages)))
			}
		}
	}
	return c
}

// portion is the part of an example that its nth passage gets.
func portion(n, of int) float64 {
	switch {
	case of == 1:
		return 1
	case n == 0:
		return best
	}
	return (1 - best) / float64(of-1)
}

func (c *classifier) add(feature int32, passage int, weight float64) {
	c.total[passage] += weight
	held := c.held[feature]
	for i := range held {
		if held[i].passage == int32(passage) {
			held[i].weight += float32(weight)
			return
		}
	}
	c.held[feature] = append(held, share{int32(passage), float32(weight)})
}

// found is a feature in a text.
type found struct {
	feature int32
	kind    kind
	words   [2]int32 // of a pair
	weight  float64
}

// none is the place of a feature that is not known.
const none = -1

// find gives the features of a text that are known, each once, and how many of its words
// are not. What is not known may be made known.
func (c *classifier) find(text string, unknown func(id uint64) int32) (all []found, strange int) {
	add := func(f found, id uint64) int32 {
		place, known := c.features[id]
		if !known {
			place = unknown(id)
		}
		if f.feature = place; place != none {
			all = append(all, f)
		}
		return place
	}
	before, last := int32(none), ""
	for _, w := range tokens(text) {
		root := stem(w)
		this := add(found{kind: word}, hash(word, root))
		if this == none {
			strange++
		}
		if before != none && this != none {
			add(found{kind: pair, words: [2]int32{before, this}}, hash(pair, last, root))
		}
		for _, s := range c.senses[root] {
			add(found{kind: sense}, hash(sense, s))
		}
		letters := "^" + w + "$"
		for i := 0; i+partLen <= len(letters); i++ {
			add(found{kind: part}, hash(part, letters[i:i+partLen]))
		}
		if last == "" {
			add(found{kind: first}, hash(first, root))
		}
		before, last = this, root
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.feature, b.feature) })
	return slices.CompactFunc(all, func(a, b found) bool { return a.feature == b.feature }), strange
}

// hash is FNV-1a of a feature's kind and words.
func hash(k kind, words ...string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := (uint64(offset) ^ uint64(k)) * prime
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * prime
		}
		h *= prime
	}
	return h
}

// weigh gives features their weights, by how rare they are, as a vector of length 1. Words
// that are not known make it shorter.
func (c *classifier) weigh(all []found, strange int) []found {
	square := float64(strange) * unseen * c.rarest * c.rarest
	for i, f := range all {
		rarity := c.rarity[f.feature]
		if f.kind == pair {
			rarity = min(c.rarity[f.words[0]], c.rarity[f.words[1]])
		}
		all[i].weight = counts[f.kind] * rarity
		square += all[i].weight * all[i].weight
	}
	for i := range all {
		all[i].weight /= math.Sqrt(square)
	}
	return all
}

// guess is how likely a text is about a passage.
type guess struct {
	passage int
	chance  float64
}

// guesses are the passages, the likeliest first.
func (c *classifier) guesses(text string) []guess {
	score, sum, most := make([]float64, len(c.total)), 0.0, math.Inf(-1)
	all, strange := c.find(text, func(uint64) int32 { return none })
	for _, f := range c.weigh(all, strange) {
		sum += f.weight
		for _, s := range c.held[f.feature] {
			score[s.passage] += f.weight * math.Log1p(float64(s.weight)/smooth)
		}
	}
	guesses := make([]guess, len(score))
	for p := range score {
		score[p] -= sum * math.Log(c.total[p]+smooth*float64(len(c.held)))
		most = max(most, score[p])
	}
	whole := 0.0
	for p := range score {
		guesses[p] = guess{p, math.Exp(sharp * (score[p] - most))}
		whole += guesses[p].chance
	}
	for p := range guesses {
		guesses[p].chance /= whole
	}
	slices.SortStableFunc(guesses, func(a, b guess) int { return cmp.Compare(b.chance, a.chance) })
	return guesses
}

// tokens are the words of a text in their order, without those that every text has.
func tokens(text string) []string {
	return sliced.Filter(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}), func(w string) bool { return !stop[w] })
}

// stem takes a word's ending off.
func stem(w string) string {
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "s", "ly"} {
		if root, ok := strings.CutSuffix(w, ending); ok && len(root) >= 3 {
			w = root
			break
		}
	}
	return strings.TrimRight(w, "e")
}

// stop are words that say nothing of what is asked.
var stop = sliced.Set(strings.Fields(`a an the and or of to in on at is are was were be been it its this that these those i my me we our us you your he she they them their
	do does did done for from by as so just please svc hi hello thank ok am s t m re ve d ll will would could should shall may might can`))

// sensesOf reads lines of a sense and the words that have it.
func sensesOf(text string) map[string][]string {
	senses := map[string][]string{}
	for row := range tsv.Rows(text, 2) {
		for w := range strings.FieldsSeq(row[1]) {
			if root := stem(w); !slices.Contains(senses[root], row[0]) {
				senses[root] = append(senses[root], row[0])
			}
		}
	}
	return senses
}
