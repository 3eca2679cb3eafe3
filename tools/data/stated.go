package data

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// A machine makes its logs and caches anew, and they stay behind; but programs keep
// there what a person's configuration has them keep. What such a text names by path,
// and no place has, is a place of its own, unless it is a log or passes.

// passed are all of them, with those of the package managers.
var passed = sync.OnceValue(func() []string {
	all := slices.Clone(listOf("passing"))
	for _, program := range managers() {
		all = append(all, "/var/lib/"+program, "/var/cache/"+program)
	}
	return all
})

// remade are folders in which a folder that holds data may stand.
var remade = []string{"/var/log/", "/var/cache/", "/var/tmp/", "/var/db/", "/var/games/"}

// Bounds of what is read for what texts name: of a text and of a file's beginning, in
// bytes; of texts; of files that are named.
const (
	maxText   = 256 << 10
	maxStart  = 16 << 10
	maxTexts  = 5000
	maxStated = 500
)

// inVar are paths in a text.
var inVar = lazyregexp.New(`/var/[A-Za-z0-9_.@+~-]+(?:/[A-Za-z0-9_.@+~-]+)*`)

// beside is what databases in files keep beside the one that is named.
var beside = []string{"", "-wal", "-shm", "-journal", ".db", ".dir", ".pag", ".mdb", ".lmdb", ".dat", ".idx", ".sqlite", ".sqlite3"}

// stated are the files, and folders of data, that carried texts name where else
// nothing is carried.
func stated(a *assess.Assessment, fsys host.FS, known []candidate) (all []candidate) {
	s := &statements{fs: fsys, known: known, seen: map[string]bool{}}
	texts := carried(a)
	host.Expect(fsys, host.Files, slices.Collect(func(yield func(string) bool) {
		for _, t := range texts {
			if !yield(t.name) {
				return
			}
		}
	}))
	for _, t := range texts {
		b, err := host.ReadFile(fsys, t.name, maxText)
		if err == nil && bytes.Contains(b, []byte("/var/")) && bytes.IndexByte(b, 0) < 0 {
			s.read(t, string(b))
		}
	}
	return s.found
}

// carriedText is a file that people wrote, without a leading slash, and the program that it
// is of.
type carriedText struct{ name, program string }

// carried are the texts that go over: configuration, crontabs, people's own programs.
func carried(a *assess.Assessment) (all []carriedText) {
	for _, f := range a.Configuration {
		if f.State != assess.ConfigMissing && f.Link == "" && !f.Machine && f.Size <= maxText {
			all = append(all, carriedText{f.Path, f.Package})
		}
	}
	all = append(all, sliced.Map(a.Cron, func(j assess.CronJob) carriedText { return carriedText{j.Evidence.Path, ""} })...)
	for _, p := range a.Programs {
		if p.Package == "" && p.Link == "" && p.Size <= maxText {
			all = append(all, carriedText{p.Path, ""})
		}
	}
	slices.SortStableFunc(all, func(x, y carriedText) int { return strings.Compare(x.name, y.name) })
	all = slices.CompactFunc(all, func(x, y carriedText) bool { return x.name == y.name })
	for i := range all {
		if all[i].program == "" {
			all[i].program = programOf(all[i].name)
		}
		all[i].name = strings.TrimPrefix(all[i].name, "/")
	}
	return all[:min(len(all), maxTexts)]
}

// programOf is what a text is of: the folder of /etc that it stands in, or its own name
// where that folder is for all.
func programOf(name string) string {
	dir, own, _ := strings.Cut(strings.TrimPrefix(name, "/etc/"), "/")
	if own == "" || dir == name || strings.HasPrefix(name, "/etc/cron") || slices.Contains([]string{"systemd", "default", "sysconfig", "init.d", "xinetd.d", "supervisor", "profile.d"}, dir) {
		return strings.TrimSuffix(path.Base(name), path.Ext(name))
	}
	return strings.TrimSuffix(dir, ".d")
}

// statements are what texts name.
type statements struct {
	fs      host.FS
	known   []candidate // all others
	seen    map[string]bool
	rotated []string // patterns of what logrotate rotates; nil until it is asked
	found   []candidate
}

// read takes what a text names.
func (s *statements) read(t carriedText, all string) {
	if strings.HasPrefix(t.name, "etc/logrotate") {
		return // what it names are logs
	}
	for line := range strings.Lines(all) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.ContainsRune("#;", rune(trimmed[0])) || strings.HasPrefix(trimmed, "//") {
			continue
		}
		for _, at := range inVar.FindAllStringIndex(line, -1) {
			if at[0] > 0 && (line[at[0]-1] == '/' || isWord(rune(line[at[0]-1]))) { // the end of a longer path
				continue
			}
			if name := path.Clean(line[at[0]:at[1]]); strings.HasPrefix(name, "/var/") && len(s.seen) < maxStated*10 {
				s.name(t, line[:at[0]], name, line[at[1]:])
			}
		}
	}
}

func isWord(c rune) bool { return c == '.' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// name makes a place of what a line names between its head and its tail.
func (s *statements) name(t carriedText, head, name, tail string) {
	words, others := saidBy(head), ofOthers.FindString(tail)
	key := strings.Join(append([]string{name, others}, words...), " ")
	if s.seen[key] || len(s.found) >= maxStated {
		return
	}
	s.seen[key] = true
	if written.MatchString(head) || others == "" && slices.ContainsFunc(words, passes) || s.has(name) || slices.ContainsFunc(passed(), func(p string) bool { return below(name, p) }) {
		return
	}
	c := candidate{kind: Service, what: t.program, evidence: "/" + t.name}
	info, err := s.fs.Stat(name[1:])
	if err == nil && info.IsDir() {
		if (others != "" || slices.ContainsFunc(words, holds)) && slices.ContainsFunc(remade, func(p string) bool { return strings.HasPrefix(name, p) }) {
			c.path = name
			s.found = append(s.found, c)
		}
		return
	}
	c.path = path.Dir(name)
	for _, more := range beside {
		if s.isState(name + more) {
			c.names = append(c.names, path.Base(name)+more)
		}
	}
	if c.names != nil {
		s.add(c)
	}
}

// add joins the files of a folder: there is one place of them.
func (s *statements) add(c candidate) {
	for _, all := range [][]candidate{s.known, s.found} {
		i := slices.IndexFunc(all, func(k candidate) bool { return k.path == c.path && k.names != nil })
		if i < 0 {
			continue
		}
		all[i].names = slices.Clone(all[i].names)
		for _, name := range c.names {
			if !slices.Contains(all[i].names, name) {
				all[i].names = append(all[i].names, name)
			}
		}
		return
	}
	s.found = append(s.found, c)
}

// has reports whether another place has a path, and moves it.
func (s *statements) has(name string) bool {
	return slices.ContainsFunc(s.known, func(c candidate) bool {
		switch {
		case c.kind == Logs:
			return false
		case c.names != nil:
			return path.Dir(name) == c.path && slices.Contains(c.names, path.Base(name))
		}
		return below(name, c.path)
	})
}

// isState reports whether a file holds what nothing makes anew, rather than a log.
func (s *statements) isState(name string) bool {
	info, err := s.fs.Stat(name[1:])
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || slices.ContainsFunc(wordsOf(path.Base(name)), passes) || s.isRotated(name) {
		return false
	}
	f, err := s.fs.Open(name[1:])
	if err != nil {
		return true
	}
	defer f.Close()
	start := make([]byte, maxStart)
	n, _ := f.Read(start) // what can't be read is no log
	return !isLog(start[:n])
}

// isRotated reports whether logrotate is told of a file.
func (s *statements) isRotated(name string) bool {
	if s.rotated == nil {
		s.rotated = []string{""}
		files, _ := fs.Glob(s.fs, "etc/logrotate.d/*") // the pattern is sound
		for _, file := range append(files, "etc/logrotate.conf") {
			b, err := host.ReadFile(s.fs, file, maxText)
			if err != nil {
				continue // it is not there
			}
			for _, m := range rotates.FindAllStringSubmatch(string(b), maxNamed) {
				s.rotated = append(s.rotated, strings.FieldsFunc(m[1], func(c rune) bool { return unicode.IsSpace(c) || c == '"' || c == '\'' })...)
			}
		}
	}
	return slices.ContainsFunc(s.rotated, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

var (
	// rotates are the files of a block of logrotate.
	rotates = lazyregexp.New(`(?m)^\s*(["']?/[^{}#]*?)\s*\{`)
	// written ends a line's head before a file to which a shell writes.
	written = lazyregexp.New(`(?:>|\btee(?:\s+-a)?)\s*["']?$`)
	// ofOthers follows a folder to which a log server writes what other machines send, by
	// their names: their logs have no other copy (rsyslog.conf(5), syslog-ng's macros).
	ofOthers = lazyregexp.New(`^/[^"'\s;]*(?i:%[a-z:_-]*(?:host|fromhost)|\$\{?(?:full)?host|\$\{?sourceip)`)
	// dated begins a line of a log: with a time, or with an address, an account and a time.
	dated = lazyregexp.New(`^[\s\["'<]*(?:<?\d+>\s*)?(?:\d{4}[-/.]\d\d[-/.]\d\d[ T]|\d\d[-/.](?:\d\d|[A-Z][a-z]{2})[-/.]\d{2,4}[ :T]|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d\d:\d\d:\d\d|\S+ \S+ \S+ \[\d\d/)`)
	// wordIn are words of names: FileName, file_name, filename.
	wordIn = lazyregexp.New(`[A-Z]+[a-z]*|[a-z]+`)
	// option is the last word before a path, and what joins the two.
	option = lazyregexp.New(`([A-Za-z][A-Za-z0-9_.-]*)["']?\s*(?:[=:({,]|=>)?\s*["'({\[]*(?:[a-z]+:)?$`)
)

// isLog reports whether a file begins as what grows line by line with the time.
func isLog(start []byte) bool {
	const few = 3
	lines, times := 0, 0
	for line := range bytes.Lines(start) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if lines++; dated.Match(line) {
			times++
		}
	}
	return lines >= few && 3*times >= 2*lines && bytes.IndexByte(start, 0) < 0
}

// saidBy are the words by which a line says what a path is: those of its first name,
// and of the one before the path.
func saidBy(head string) []string {
	first, _, _ := strings.Cut(strings.TrimLeft(head, " \t\"'-[{("), " ")
	first, _, _ = strings.Cut(first, "=")
	words := wordsOf(first)
	if m := option.FindStringSubmatch(head); m != nil {
		words = append(words, wordsOf(m[1])...)
	}
	return words
}

func wordsOf(name string) []string {
	return sliced.Map(wordIn.FindAllString(name, -1), strings.ToLower)
}

// passes reports whether a word says that a file is a log, or what a program makes
// anew when it starts.
func passes(w string) bool {
	if lists("not-logs", w) {
		return false
	}
	return strings.HasPrefix(w, "log") || strings.HasSuffix(w, "log") || strings.HasSuffix(w, "logs") || strings.HasSuffix(w, "logfile") || strings.Contains(w, "cache") || strings.HasPrefix(w, "pid") || strings.HasSuffix(w, "pid") ||
		lists("passing-words", w)
}

// holds reports whether a word says that a folder holds data.
func holds(w string) bool { return lists("holding", w) }
