//go:build ignore

// Gen makes four lists, of a word a line, sorted. The first is dictionary.txt.gz: the
// words that texts of this trade are written in, without what their ending makes of
// another. Of three sources:
//
//   - SCOWL up to size 60, American and British (Debian's package scowl; free to copy with NOTICE.scowl)
//   - words of three manual pages or more, of those installed in sections 1, 5, 7 and 8
//   - parts of the names of three packages or more, of those on standard input: apt-cache pkgnames, and the lists of the index;
//     and what stands before the number at the end of a name, with its hyphen
//   - names of packages that are one word, and of no list below
//
// The second is names.txt.gz: what is the name of a machine in small letters, since else
// it is written with a capital, or is no word of this trade:
//
//   - proper names of SCOWL, but for those that are words too
//   - what WordNet has first of all as an animal or a plant, and as no verb and no
//     adjective (Debian's package wordnet-base; free to copy with NOTICE.wordnet)
//
// without what a package is called, and what three manual pages or packages have.
//
// The third is rare.txt.gz: words for what can be seen or touched, which texts of this
// trade do not have. Where a machine's name stands, one of them is a name:
//
//   - what WordNet has first of all as an animal, an artifact, food, a thing of nature,
//     a phenomenon, a person, a plant, a place or a substance, and as no adjective
//
// The fourth is abroad.txt.gz: words of other languages that two manual pages in one of
// them have, and that are no words of the first list. An asterisk says that a word is German.
// With them are those that programs' messages in German (.mo below DIR/usr/share/locale/de) have
// twice in small letters, and oftener so than with a capital: they are no nouns.
//
// It is run as
//
//	(apt-cache pkgnames; cut -f1,2 ../../index/data/rpm_lists.tsv) | go run gen.go DIR
//
// where DIR is the folder that the packages scowl, wordnet-base and manpages-* (cs, da, de,
// es, fi, fr, hu, it, nb, nl, pl, pt-br, ro, sv) were unpacked into.
package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	roff  = regexp.MustCompile(`\\f.|\\\(..|\\[-&]`)
	words = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)
	plain = regexp.MustCompile(`^[a-z]+$`)
	lower = regexp.MustCompile(`^[a-z]{2,20}$|^[a-z]{2,12}[0-9]{1,4}[a-z]{0,4}$`)
	// oneWord is the name of a package that is one, and no library's.
	oneWord = regexp.MustCompile(`^(?:[a-km-z]|l[a-hj-z]|li[ac-z])[a-z]{3,17}$`)
	inSmall = regexp.MustCompile(`(?:^|[\s„»(])([a-zäöüß]{4,24})(?:$|[\s“«,.;:!?)])`)
	// amongSmall is a word with a capital that begins no sentence.
	amongSmall = regexp.MustCompile(`[a-zäöüß,] ([A-ZÄÖÜ][a-zäöüß]{3,23})`)
	// numbered are names of packages that end in a number.
	numbered = regexp.MustCompile(`^([a-z][a-z0-9.+-]*-)[0-9][0-9.]*$`)
)

// endings are those that redact undoes.
var endings = [][2]string{{"s", ""}, {"es", ""}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"}, {"ly", ""}, {"d", ""}, {"ies", "y"}}

func main() {
	all := map[string]bool{}
	for _, w := range scowl("words", "10 20 35 40 50 55 60") {
		all[w] = lower.MatchString(w)
	}
	given := map[string]bool{}
	for _, w := range slices.Concat(scowl("proper-names", every), scowl("upper", every), nouns(living, true)) {
		w = strings.TrimSuffix(w, "'s")
		if lower := strings.ToLower(w); len(w) > 3 && plain.MatchString(lower) && (lower == w || !all[lower] && !derived(all, lower)) {
			given[lower] = true
		}
	}
	rare := map[string]bool{}
	for _, w := range nouns(tangible, false) {
		rare[w] = len(w) > 3 && plain.MatchString(w)
	}
	trade := map[string]bool{}
	often(trade, pages())
	names, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	list := strings.Fields(strings.ToLower(string(names)))
	slices.Sort(list)
	list = slices.Compact(list)
	often(trade, list)
	for w := range trade {
		all[w] = true
		delete(given, w)
	}
	for _, name := range list {
		if oneWord.MatchString(name) && !given[name] && !rare[name] {
			all[name] = true
		}
		delete(given, name)
		if m := numbered.FindStringSubmatch(name); m != nil {
			all[m[1]] = true
		}
	}
	for w, ok := range rare {
		if !ok || given[w] || trade[w] || derived(trade, w) || slices.Contains(list, w) {
			delete(rare, w)
		}
	}
	if err := os.WriteFile("rare.txt.gz", zipped(slices.Sorted(maps.Keys(rare))), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("dictionary.txt.gz", packed(all), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("abroad.txt.gz", zipped(abroad(all)), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("names.txt.gz", zipped(slices.Sorted(maps.Keys(given))), 0o644); err != nil {
		log.Fatal(err)
	}
}

// every size of SCOWL.
const every = "10 20 35 40 50 55 60 70 80 95"

// scowl are the words of a kind, of lists up to a size.
func scowl(kind, sizes string) (all []string) {
	for _, list := range []string{"english", "american", "british", "british_z"} {
		for _, size := range strings.Fields(sizes) {
			text, err := os.ReadFile(filepath.Join(os.Args[1], "usr/share/dict/scowl", list+"-"+kind+"."+size))
			if err != nil && !os.IsNotExist(err) {
				log.Fatal(err)
			}
			all = append(all, strings.Fields(string(text))...)
		}
	}
	return all
}

// The lexicographer's files of WordNet that a noun's first sense may be in: animals and
// plants, and with them artifacts, food, things of nature, phenomena, people, places and substances.
var (
	living   = []string{"05", "20"}
	tangible = []string{"05", "06", "13", "15", "17", "18", "19", "20", "27"}
)

// nouns are the words that WordNet has first of all in one of the files, and as no
// adjective, and where alone is set as no verb either.
func nouns(files []string, alone bool) (all []string) {
	index := func(name string) map[string][]string {
		words := map[string][]string{}
		for line := range strings.Lines(wordnet(name)) {
			if fields := strings.Fields(line); len(fields) > 4 && !strings.HasPrefix(line, " ") {
				words[fields[0]] = fields
			}
		}
		return words
	}
	of := map[string]string{} // the lexicographer's file of a synset, by its number
	for line := range strings.Lines(wordnet("data.noun")) {
		if fields := strings.Fields(line); len(fields) > 2 {
			of[fields[0]] = fields[1]
		}
	}
	verbs, adjectives := index("index.verb"), index("index.adj")
	for w, fields := range index("index.noun") {
		senses, _ := strconv.Atoi(fields[2])
		if first := of[fields[len(fields)-senses]]; slices.Contains(files, first) && (!alone || verbs[w] == nil) && adjectives[w] == nil {
			all = append(all, w)
		}
	}
	return all
}

func wordnet(name string) string {
	text, err := os.ReadFile(filepath.Join(os.Args[1], "usr/share/wordnet", name))
	if err != nil {
		log.Fatal(err)
	}
	return string(text)
}

// pages are the texts of manual pages.
func pages() []string { return pagesBelow("/usr/share/man/man[1578]/*.gz") }

func pagesBelow(pattern string) (texts []string) {
	files, _ := filepath.Glob(pattern) // the patterns are sound
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			continue // a link to nothing
		}
		if z, err := gzip.NewReader(f); err == nil {
			text, _ := io.ReadAll(io.LimitReader(z, 400_000)) // what is broken has fewer words
			texts = append(texts, roff.ReplaceAllString(string(text), " "))
		}
		f.Close()
	}
	return texts
}

var letters = regexp.MustCompile(`\pL+`)

// abroad are words of other languages than that of the words that are given.
func abroad(english map[string]bool) []string {
	folders, _ := filepath.Glob(filepath.Join(os.Args[1], "usr/share/man/??")) // the pattern is sound
	brazil, _ := filepath.Glob(filepath.Join(os.Args[1], "usr/share/man/pt_BR"))
	marks := map[string]string{} // what stands behind each word
	for _, folder := range slices.Concat(brazil, folders) {
		count := map[string]int{}
		for _, text := range pagesBelow(folder + "/man*/*.gz") {
			seen := map[string]bool{}
			for _, w := range letters.FindAllString(text, -1) {
				if !seen[w] && w == strings.ToLower(w) && len(w) > 1 && len(w) <= 24 {
					seen[w] = true
					count[w]++
				}
			}
		}
		for w, n := range count {
			if n > 1 && !english[w] && !derived(english, w) {
				marks[w] += map[string]string{"de": "*"}[filepath.Base(folder)]
			}
		}
	}
	for _, w := range ofMessages() {
		if !english[w] && !derived(english, w) && !strings.HasSuffix(marks[w], "*") {
			marks[w] += "*"
		}
	}
	list := []string{}
	for w, mark := range marks {
		list = append(list, w+mark)
	}
	slices.Sort(list)
	return list
}

// ofMessages are words of programs' messages in German that are no nouns.
func ofMessages() (all []string) {
	files, _ := filepath.Glob(filepath.Join(os.Args[1], "usr/share/locale/de/LC_MESSAGES/*.mo")) // the pattern is sound
	small, capital := map[string]int{}, map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		for message := range strings.SplitSeq(string(text), "\x00") {
			for _, m := range inSmall.FindAllStringSubmatch(message, -1) {
				small[m[1]]++
			}
			for _, m := range amongSmall.FindAllStringSubmatch(message, -1) {
				capital[strings.ToLower(m[1])]++
			}
		}
	}
	for w, n := range small {
		if n > 1 && n > capital[w] {
			all = append(all, w)
		}
	}
	return all
}

// often adds the words that three texts or more have.
func often(all map[string]bool, texts []string) {
	count := map[string]int{}
	for _, text := range texts {
		seen := map[string]bool{}
		for _, w := range words.FindAllString(text, -1) {
			if lower.MatchString(w) && !seen[w] {
				seen[w] = true
				if count[w]++; count[w] > 2 {
					all[w] = true
				}
			}
		}
	}
}

func packed(all map[string]bool) []byte {
	list := []string{}
	for w, ok := range all {
		if ok && !derived(all, w) {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return zipped(list)
}

func zipped(list []string) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	io.WriteString(z, strings.Join(list, "\n")+"\n")
	z.Close()
	return out.Bytes()
}

func derived(all map[string]bool, w string) bool {
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(w, e[0]); ok && len(stem) > 2 && (all[stem+e[1]] || len(stem) > 3 && stem[len(stem)-1] == stem[len(stem)-2] && all[stem[:len(stem)-1]]) {
			return true
		}
	}
	return false
}
