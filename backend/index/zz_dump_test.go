package index

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestZZDump(t *testing.T) {
	if os.Getenv("ZZ_IN") == "" {
		t.Skip()
	}
	ix := embeddedIndex(t)
	in, _ := os.Open(os.Getenv("ZZ_IN"))
	src, dst := os.Getenv("ZZ_SRC"), os.Getenv("ZZ_DST")
	out, _ := os.Create(os.Getenv("ZZ_OUT"))
	defer out.Close()
	h, err := ix.hops(src, dst)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(in)
	s.Buffer(nil, 1<<20)
	seen := map[string]bool{}
	for s.Scan() {
		name, _, _ := strings.Cut(s.Text(), "\t")
		if strings.HasPrefix(name, "#") || name == "" || seen[name] {
			continue
		}
		seen[name] = true
		r, m, c, err := ix.resolve(h.source, name)
		if err != nil {
			t.Fatal(err)
		}
		if m == "none" {
			fmt.Fprintf(out, "%s\t-\tnone\t\t\n", name)
			continue
		}
		p, err := h.course(r.Canonical)
		if err != nil {
			t.Fatal(err)
		}
		a, err := h.present(r.Canonical, p)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, k := range a.Packages {
			names = append(names, k.Name)
		}
		fmt.Fprintf(out, "%s\t%s\t%s %.2f\t%s\t%s\t%s\t%.2f\n", name, r.Canonical, m, c, strings.Join(p.methods, ","), a.Relation, strings.Join(names, " "), a.Confidence)
	}
}
