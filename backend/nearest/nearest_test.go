package nearest

import (
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

func TestTypo(t *testing.T) {
	commands := []string{"assess", "migrate", "verify", "drift", "data", "db", "mcp", "auth", "ask", "vms"}
	for name, want := range map[string]string{
		"asess": "assess", "migrat": "migrate", "MIGRATE": "migrate", "verfiy": "verify", "drfit": "drift", "vm": "vms", "dta": "data",
		"frobnicate": "", "": "", "x": "",
	} {
		meant, ok := Typo(name, commands)
		if ok != (want != "") || ok && meant != want {
			t.Errorf("%q may mean %q, %v; not %q", name, meant, ok, want)
		}
	}
	_, ok := Typo("assess", nil)
	is.New(t).True(!ok)
}

func TestMeant(t *testing.T) {
	flags := []string{"root", "ssh", "target", "out", "preflight", "hosts", "include_secrets", "source_archives", "target_archives", "confirm"}
	for name, want := range map[string]string{
		"rot": "root", "path": "root", "host": "ssh", "to": "target", "dry_run": "preflight", "dry-run": "preflight", "secrets": "include_secrets", "include": "include_secrets", "OUTPUT": "out",
		"archives": "", "colour": "", "": "",
	} {
		meant, ok := Meant(name, flags)
		if ok != (want != "") || meant != want {
			t.Errorf("%q means %q, not %q", name, meant, want)
		}
	}
	if meant, ok := Meant("scan", []string{"assess", "cve-scan"}); !ok || meant != "cve-scan" {
		t.Errorf("scan means %q", meant)
	}
}

func TestDistance(t *testing.T) {
	word := rapid.StringMatching(`[a-d]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)) {
			t.Fatalf("distance of %q and %q is %d", a, b, d)
		}
	})
}
