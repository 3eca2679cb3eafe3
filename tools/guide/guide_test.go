package guide

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// measure is how a set of questions was answered.
type measure struct {
	known, right, wrong int // questions that the guide answers; surely right; surely wrong
	near                int // those whose answer is surely given, or among the three nearest
	unknowable, filed   int
}

func (m *measure) add(t *testing.T, question string, want []string, without int) {
	got, sure := loaded().answer(question, without)
	right := sure && slices.Contains(want, got.ID)
	if want[0] == "-" {
		m.unknowable++
		m.filed += count(!sure)
		return
	}
	m.known++
	m.right += count(right)
	m.wrong += count(sure && !right)
	m.near += count(right || !sure && slices.ContainsFunc(loaded().nearest(question, 3, without), func(p Passage) bool { return slices.Contains(want, p.ID) }))
	if sure && !right {
		t.Logf("%q: %s, not %v", question, got.ID, want)
	}
}

// each goes through the lines of a file of questions.
func each(t *testing.T, text string, do func(line int, question string, want []string)) {
	t.Helper()
	line := 0
	for l := range strings.Lines(text) {
		question, want, ok := strings.Cut(strings.TrimSpace(l), "\t")
		if !ok {
			continue
		}
		for _, id := range strings.Fields(want) {
			if id != "-" && !has(id) {
				t.Errorf("%q: there is no passage %s", question, id)
			}
		}
		do(line, question, strings.Fields(want))
		line++
	}
}

// TestQuestions holds what is answered of questions that were asked before; of the same,
// each as if it had not been; of those that nothing was tuned on; and of some that no
// guide can know. In percent.
func TestQuestions(t *testing.T) {
	file := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		is.New(t).NoErr(err)
		return string(b)
	}
	for name, c := range map[string]struct {
		text               string
		without            bool
		right, wrong, near int
		filed              int
	}{
		"asked before":  {text: questions, right: 95, wrong: 1, near: 95},
		"each left out": {text: questions, without: true, right: 32, wrong: 2, near: 88},
		"held out":      {text: file("heldout.tsv"), right: 25, wrong: 1, near: 85},
		"unknowable":    {text: file("unknowable.tsv"), filed: 95},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var m measure
			each(t, c.text, func(line int, question string, want []string) {
				if !c.without {
					line = nobody
				}
				m.add(t, question, want, line)
			})
			t.Logf("of %d: %.1f %% surely right, %.1f %% surely wrong, %.1f %% right or among the nearest; %d of %d unknowable filed", m.known,
				percent(m.right, m.known), percent(m.wrong, m.known), percent(m.near, m.known), m.filed, m.unknowable)
			is.True(m.right*100 >= c.right*m.known && m.near*100 >= c.near*m.known)
			is.True(m.wrong*100 <= c.wrong*m.known)
			is.True(m.filed*100 >= c.filed*m.unknowable)
		})
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestPassages(t *testing.T) {
	is := is.New(t)
	seen := map[string]bool{}
	for _, p := range Passages() {
		is.True(!seen[p.ID]) // one passage of a name
		seen[p.ID] = true
		is.True(p.Title != "" && len(p.Text) > 20 && len(p.Text) < 1000)
	}
	for _, id := range []string{"billing", "seats", "confirm", "exit-codes", "ssh.root-login", "DATA_MIGRATION"} {
		is.True(seen[id])
	}
	is.True(!strings.Contains(Text(), "<!--"))
}

// TestTopics asks by the name of each topic alone.
func TestTopics(t *testing.T) {
	is := is.New(t)
	is.True(len(Topics()) > 50)
	for _, topic := range Topics() {
		p, sure := Answer(topic)
		is.True(sure)
		is.Equal(p.ID, topic)
	}
}

// TestEveryFindingIsExplained reads the keys of findings out of the program's
// source.
func TestEveryFindingIsExplained(t *testing.T) {
	is := is.New(t)
	keys := findingKeys(t, "../../assess/judge", "../migration")
	is.True(len(keys) > 70)
	for _, key := range keys {
		if strings.HasSuffix(key, ".") {
			key += "*"
		}
		if !has(key) {
			t.Errorf("the guide does not explain %s", key)
		}
	}
}

var looksLikeKey = regexp.MustCompile(`^[a-z]+\.(?:[a-z0-9-]+\.?)*$`)

// findingKeys are the texts of the form of a key that stand in a Finding, or in
// a table of the files where findings are made.
func findingKeys(t *testing.T, dirs ...string) (keys []string) {
	t.Helper()
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		is.New(t).NoErr(err)
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			is.New(t).NoErr(err)
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					return n.Names[0].Name != "everywhere" // the names of sources
				case *ast.KeyValueExpr:
					if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Key" {
						keys = append(keys, literals(n.Value)...)
					}
				case *ast.CompositeLit:
					if base := filepath.Base(name); base == "findings.go" || base == "concerns.go" {
						for _, e := range n.Elts {
							keys = append(keys, literals(e)...)
						}
					}
				}
				return true
			})
		}
	}
	return keys
}

// families are the first words of keys: a text such as php.ini is none.
var families = strings.Fields(`identity release target packages package origins configuration ssh database mounts network firewall services
	software containers kernel boot security accounts certificates cron web runtimes assessment`)

func literals(e ast.Expr) (keys []string) {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		e = sum.X
	}
	if l, ok := e.(*ast.BasicLit); ok {
		s, err := strconv.Unquote(l.Value)
		family, _, _ := strings.Cut(s, ".")
		if err == nil && looksLikeKey.MatchString(s) && slices.Contains(families, family) {
			keys = append(keys, s)
		}
	}
	return keys
}

// TestEveryCaveatIsExplained reads the codes out of the index's source and its
// curated rows.
func TestEveryCaveatIsExplained(t *testing.T) {
	is := is.New(t)
	code := regexp.MustCompile(`Caveat[A-Za-z]+ += "([A-Z_]+)"`)
	codes := map[string]bool{}
	files, err := filepath.Glob("../../backend/index/*.go")
	is.NoErr(err)
	for _, name := range files {
		b, err := os.ReadFile(name)
		is.NoErr(err)
		for _, m := range code.FindAllStringSubmatch(string(b), -1) {
			codes[m[1]] = true
		}
	}
	b, err := os.ReadFile("../../backend/index/data/caveats.tsv")
	is.NoErr(err)
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(line, "\t"); !strings.HasPrefix(line, "#") && len(f) > 4 {
			codes[f[3]] = true
		}
	}
	is.True(len(codes) > 15)
	for c := range codes {
		if !has(c) {
			t.Errorf("the guide does not explain %s", c)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("What does DATA_MIGRATION mean?")
	f.Add("\xff ssh.root-login?")
	f.Fuzz(func(t *testing.T, question string) {
		if p, sure := Answer(question); sure && p.ID == "" {
			t.Fatal("a sure answer without a passage")
		}
	})
}

func has(id string) bool {
	return slices.ContainsFunc(Passages(), func(p Passage) bool { return p.ID == id })
}

func TestKeysLeadToTheirPassage(t *testing.T) {
	is := is.New(t)
	for key, want := range map[string]string{
		"package.weak-keys": "WEAK_KEYS", "package.nothing-known": "package.*", "database.mariadb": "database.*", "database.data-version": "database.data-version",
		"ssh.root-login": "ssh.root-login", "SEAT_QUOTA": "seat-quota", "billing": "billing",
	} {
		p, ok := Find(key)
		is.True(ok)
		is.Equal(p.ID, want)
	}
	for _, question := range []string{"package.weak-keys", "What does package.weak-keys mean?"} {
		p, ok := Answer(question)
		is.True(ok)
		is.Equal(p.ID, "WEAK_KEYS")
	}
	_, ok := Find("nothing.of-the-kind")
	is.True(!ok)
}
