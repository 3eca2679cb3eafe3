package redact

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"svc/backend/tsv"
)

// dictionaryGZ are the words of English, of manual pages and in names of
// packages; gen.go makes it.
//
//go:embed dictionary.txt.gz
var dictionaryGZ []byte

var dictionary = sync.OnceValue(func() map[string]bool { return unpacked(dictionaryGZ) })

// namesGZ are proper names in small letters, animals and plants; gen.go makes it.
//
//go:embed names.txt.gz
var namesGZ []byte

var names = sync.OnceValue(func() map[string]bool { return unpacked(namesGZ) })

// rareGZ are words for what can be seen or touched, which texts of this trade do not
// have; gen.go makes it.
//
//go:embed rare.txt.gz
var rareGZ []byte

var rare = sync.OnceValue(func() map[string]bool { return unpacked(rareGZ) })

// abroadGZ are words of other languages; gen.go makes it.
//
//go:embed abroad.txt.gz
var abroadGZ []byte

var (
	foreignWords = sync.OnceValue(func() map[string]bool {
		all := maps.Clone(abroad)
		for w := range unpacked(abroadGZ) {
			all[strings.TrimSuffix(w, "*")] = true
		}
		return all
	})
	germanWords = sync.OnceValue(func() map[string]bool {
		all := maps.Clone(german)
		for w := range unpacked(abroadGZ) {
			if w, ok := strings.CutSuffix(w, "*"); ok {
				all[w] = true
			}
		}
		return all
	})
)

// unpacked are the words of a list that is part of the program.
func unpacked(list []byte) map[string]bool {
	z, err := gzip.NewReader(bytes.NewReader(list))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	all := make(map[string]bool, 1<<16)
	for w := range strings.Lines(string(text)) {
		all[w[:len(w)-1]] = true
	}
	return all
}

// themesTXT are what people name machines after, a theme a line.
//
//go:embed themes.tsv
var themesTXT string

var themes = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for row := range tsv.Rows(themesTXT, 2) {
		for name := range strings.FieldsSeq(row[1]) {
			all[name] = true
		}
	}
	return all
})

// isGiven says that a word in small letters is one that people name machines after: of
// a theme, or a name that is no word of texts.
func isGiven(w string) bool { return themes()[w] || names()[w] }

// longest is the length of the longest word that is looked up.
const longest = 24

// isKnown finds a word in lower case in the dictionary, with or without its
// endings, of which a word may have two: used, users.
func isKnown(w string) bool { return len(w) < 3 || len(w) <= longest && isDerived(w, 2) }

// isMadeOfWords says that each part of a word is known: speech-dispatcher is an account of
// a package, and svc-backup one that people made.
func isMadeOfWords(w string) bool {
	parts := strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return r == '-' || r == '_' })
	return len(parts) > 0 && parts[0] != "svc" && !slices.ContainsFunc(parts, func(p string) bool { return !isKnown(p) })
}

// prefixes of words: an auto-relabel of what is known is known.
var prefixes = []string{"auto", "non", "multi", "pre", "re", "un"}

func isDerived(w string, endingsLeft int) bool {
	if dictionary()[w] || isListed(w) || isAccount(w) {
		return true
	}
	for _, e := range endings {
		stem, ok := strings.CutSuffix(w, e.ending)
		if !ok || len(stem) < 3 || endingsLeft == 0 {
			continue
		}
		doubled := len(stem) > 3 && stem[len(stem)-1] == stem[len(stem)-2]
		if isDerived(stem+e.stem, endingsLeft-1) || doubled && isDerived(stem[:len(stem)-1], endingsLeft-1) {
			return true
		}
	}
	for _, p := range prefixes {
		if stem, ok := strings.CutPrefix(w, p); ok && len(stem) > 3 && endingsLeft > 0 && isDerived(stem, endingsLeft-1) {
			return true
		}
	}
	return false
}

var abroad = set("je de sans par mon votre peut mais vous il on der die das den dem des ein eine ist nicht ich wir mit auf für von nach wird wurde haben habe hat kann auch noch aber oder und seit beim zum zur im le la les du des une un est pas plus sur avec pour dans je nous que qui vers et ne se ce cette el los las que por con para una está")

// german are the words of German that are no nouns and end in no way of their own: its
// particles, and verbs that change within.
var german = set("der die das den dem des ein eine einen einem einer und oder aber ist sind war nicht kein keine keinen keinem keiner ich wir ihr sie man es er mir mich uns mit auf aus von vom zum zur zu im am beim seit für nach nur noch auch schon wie was wer wo wann warum wenn weil obwohl obgleich sobald solange sodass dass ob als bis dann denn doch hier dort sehr mehr kaum bisher vorher nachher daher dabei damit davon dazu darauf daran durch ohne gegen über unter zwischen neben vor hinter während wegen trotz " +
	"wird wurde werden haben habe hat hatte kann kannst können muss musste müssen soll sollte will wollte darf mag läuft lief liegt lag kam kommt gibt gab ging geht steht stand blieb bleibt fehlt ließ lässt hieß heißt nahm nimmt fand sah schrieb warf brach gern sonst sogar so selbst etwa ganz gar je nie oft ja nein bitte danke alles nichts etwas jemand niemand beide drei vier fünf sechs sieben acht neun zehn elf zwölf neu alt leer voll schnell kaputt gleich sofort gestern heute morgen abends nachts morgens mittags jetzt wieder danach zuvor außen innen oben unten links rechts vorn online offline per statt samt bzw usw etc ggf habe")
