package assess

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"svc/assess/conf"
)

// Start is the first lines of a file, or nothing where it can't be read.
func (m *Machine) Start(name string) []byte {
	b, _ := m.Head(name, 512)
	return b
}

// InParallel calls do for every item, on several goroutines, for as long as ctx
// lasts.
func InParallel[T any](ctx context.Context, items []T, do func(T)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(items) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(items[i])
			}
		})
	}
	all.Wait()
}

// NumberedLines are a text's lines without space around them, from 1 on.
func NumberedLines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if !yield(n, strings.TrimSpace(line)) {
				return
			}
		}
	}
}

// ParseAssignments reads NAME=value lines as a shell would, without expanding
// anything.
func ParseAssignments(text string) map[string]string {
	m := map[string]string{}
	for line := range conf.Assignments(text) {
		if line.Set {
			m[strings.TrimSpace(line.Key)] = Unquote(line.Value)
		}
	}
	return m
}

// Unquote takes a pair of quotes off.
func Unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.NewReplacer(`\"`, `"`, `\$`, `$`, `\\`, `\`).Replace(s[1 : len(s)-1])
	}
	return s
}

func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// CompareNatural orders names so that numbers in them count as numbers.
func CompareNatural(a, b string) int {
	for a != "" && b != "" {
		na, nb := Digits(a), Digits(b)
		if na == 0 || nb == 0 {
			if a[0] != b[0] {
				return int(a[0]) - int(b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

// Digits counts the digits that s begins with.
func Digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// MaxHeader bounds what is read of a script: its header stands at its top.
const MaxHeader = 8 << 10

// leftovers are the ends of names that package managers and editors leave.
var leftovers = []string{"~", ".bak", ".orig", ".old", ".swp", ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".dpkg-bak", ".dpkg-tmp", ".ucf-dist", ".ucf-old", ".rpmsave", ".rpmnew", ".rpmorig"}

func Leftover(name string) bool {
	return slices.ContainsFunc(leftovers, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Head reads the first bytes of a file.
func (m *Machine) Head(name string, n int64) ([]byte, error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// SplitStatements cuts a line after each ; and { and }.
func SplitStatements(line string) (statements []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		i := strings.IndexAny(line, ";{}")
		if i < 0 {
			return append(statements, line)
		}
		if s := strings.TrimSpace(line[:i]); line[i] == '}' && s != "" {
			statements = append(statements, s)
		}
		switch line[i] {
		case ';':
			statements = append(statements, strings.TrimSpace(line[:i]))
		case '{':
			statements = append(statements, line[:i+1])
		case '}':
			statements = append(statements, "}")
		}
		line = line[i+1:]
	}
	return statements
}

// workers is how many files are read at once.
const workers = 4
