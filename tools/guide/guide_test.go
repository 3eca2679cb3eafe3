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

// TestQuestions asks what people ask: most that the guide knows must be answered by a
// right passage, and nearly all that it can't know by none.
func TestQuestions(t *testing.T) {
	for name, most := range map[string]struct{ known, right, wrong int }{ // the last two in percent
		"questions.tsv": {60, 90, 5},
		"natural.tsv":   {120, 95, 1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			known, right, wrong, unknowable, filed := asked(t, filepath.Join("testdata", name))
			t.Logf("%d of %d right, %d wrong; %d of %d unknowable filed", right, known, wrong, filed, unknowable)
			is.True(known >= most.known && right*100 >= known*most.right)
			is.True(wrong*100 <= known*most.wrong)
			is.True(filed*100 >= unknowable*95)
		})
	}
}

// asked asks the questions of a file.
func asked(t *testing.T, file string) (known, right, wrong, unknowable, filed int) {
	b, err := os.ReadFile(file)
	is.New(t).NoErr(err)
	for line := range strings.Lines(string(b)) {
		question, want, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		got, sure := Answer(question)
		id := "-"
		if sure {
			id = got.ID
		}
		isRight := slices.Contains(strings.Fields(want), id)
		if !isRight {
			t.Logf("%q: %s, not %s", question, id, want)
		}
		if want == "-" {
			unknowable++
			filed += count(isRight)
			continue
		}
		known++
		right += count(isRight)
		wrong += count(sure && !isRight)
	}
	return known, right, wrong, unknowable, filed
}

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

// TestEveryFindingIsExplained reads the keys of findings out of the program's
// source.
func TestEveryFindingIsExplained(t *testing.T) {
	is := is.New(t)
	keys := findingKeys(t, "../../assess", "../migration")
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
