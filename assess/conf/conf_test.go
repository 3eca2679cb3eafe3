package conf

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestINI(t *testing.T) {
	is := is.New(t)
	got := slices.Collect(INI("first = 1\r\n# a comment\n; another\n\n [IPv4]\nmethod=a=b\nbare\n"))
	is.Equal(got, []Line{
		{N: 1, Key: "first ", Value: "1", Set: true},
		{N: 5, Section: "IPv4", Heading: true},
		{N: 6, Section: "IPv4", Key: "method", Value: "a=b", Set: true},
		{N: 7, Section: "IPv4", Key: "bare"},
	})
}

func TestAssignments(t *testing.T) {
	is := is.New(t)
	got := slices.Collect(Assignments("#X=1\nDEVICE=\"eth0\" # first\n. ./other\n[X]=2\n"))
	is.Equal(got, []Line{
		{N: 2, Key: "DEVICE", Value: `"eth0" # first`, Set: true},
		{N: 3, Key: ". ./other"},
		{N: 4, Key: "[X]", Value: "2", Set: true},
	})
}

func TestWords(t *testing.T) {
	is := is.New(t)
	lines := map[int]string{}
	for n, words := range Words("# none\nauto  lo eth0\n\n\tmtu\t9000") {
		lines[n] = strings.Join(words, " ")
	}
	is.Equal(lines, map[int]string{2: "auto lo eth0", 4: "mtu 9000"})
}

// FuzzLines: a line that is told is one of the text, and says something.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"[a]\nb=c", "[", "=", "A='b'\n", "\r\n;\n#", "iface eth0 inet static\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		for _, read := range []func(string) func(func(Line) bool){
			func(s string) func(func(Line) bool) { return INI(s) },
			func(s string) func(func(Line) bool) { return Assignments(s) },
		} {
			for l := range read(text) {
				if strings.TrimSpace(lines[l.N-1]) == "" || !strings.Contains(lines[l.N-1], l.Key) || !strings.Contains(lines[l.N-1], l.Value) {
					t.Fatalf("line %d of %q is not %+v", l.N, text, l)
				}
			}
		}
		for n, words := range Words(text) {
			if len(words) == 0 || !strings.Contains(lines[n-1], words[0]) {
				t.Fatalf("line %d of %q is not %q", n, text, words)
			}
		}
	})
}
