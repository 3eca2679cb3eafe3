package hazards

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/backend/pkgversion"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// questions are all kinds of questions.
var questions = map[string]kind{
	"package":     {least: 1, most: 2, patterns: 2, check: checkPackage, ask: askPackage},
	"brought":     {least: 1, most: 1, patterns: 1, check: checkPattern, ask: askBrought},
	"path":        {least: 1, most: 1, patterns: 1, check: absolute, ask: askPath},
	"own":         {least: 1, most: 1, patterns: 1, check: checkPattern, ask: askOwn},
	"link":        {least: 2, most: 2, patterns: 1, check: absolute, ask: askLink},
	"line":        {least: 2, most: 2, patterns: 1, check: absolute, ask: askLine},
	"wrote":       {least: 2, most: 2, patterns: 1, check: absolute, ask: askWrote},
	"set":         {least: 2, most: 3, patterns: 1, whole: true, check: absolute, ask: askSet},
	"sshd":        {least: 1, most: 2, whole: true, ask: askSSHD},
	"mount":       {least: 1, most: 2, patterns: 1, whole: true, check: checkPattern, ask: askMount},
	"mounts":      {least: 1, most: 1, check: checkMounts, ask: askMounts},
	"kernel":      {least: 1, most: 1, whole: true, ask: askKernel},
	"unit":        {least: 1, most: 1, patterns: 1, check: checkPattern, ask: askUnit},
	"fact":        {least: 2, most: 3, patterns: 1, whole: true, ask: askFact},
	"certificate": {least: 1, most: 1, patterns: 1, check: checkCertificate, ask: askCertificate},
	"arch":        {least: 1, most: 1, patterns: 1, check: checkPattern, ask: askArch},
	"cpu":         {least: 1, most: 1, patterns: 1, check: checkCPU, ask: askCPU},
	"from":        {least: 1, most: 1, patterns: 1, check: checkFrom, ask: askFrom},
	"constructor": {least: 1, most: 1, patterns: 1, check: absolute, ask: askConstructor},
}

func checkPattern(args []string) error {
	for p := range strings.FieldsSeq(args[0]) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q is no pattern of names", p)
		}
	}
	return nil
}

func checkPackage(args []string) error {
	if len(args) == 2 {
		if _, err := parseLimit(args[1]); err != nil {
			return err
		}
	}
	return checkPattern(args)
}

// parseLimit reads a limit of a version: <8.7.
func parseLimit(text string) (bound, error) {
	m := boundForm.FindStringSubmatch("v" + text)
	if m == nil || m[2] == "" {
		return bound{}, fmt.Errorf("%q is no limit of a version, such as <8.7", text)
	}
	return bound{op: m[2], version: m[3]}, nil
}

func askPackage(m *Machine, q *question, found *Match) {
	limit := bound{}
	if len(q.args) == 2 {
		limit, _ = parseLimit(q.args[1]) // which was checked
	}
	for pattern := range strings.FieldsSeq(q.args[0]) {
		for _, name := range m.packages(pattern) {
			if slices.ContainsFunc(m.Packages[name], func(v string) bool { return limit.op == "" || limit.holds(pkgversion.Upstream(v)) }) {
				found.named(name)
				found.Pkgs = append(found.Pkgs, name)
			}
		}
	}
}

// askBrought names no package: it is about the target's.
func askBrought(m *Machine, q *question, found *Match) {
	for name := range m.Brought {
		found.met = found.met || fits(q.args[0], name)
	}
}

// fits reports whether a name is one of the patterns of an argument, which were checked.
func fits(patterns, name string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

//go:embed words.tsv
var wordRows string

// words are words.tsv: one word for files that many rows name, such as @jobs.
var words = sync.OnceValue(func() map[string][]string { return tsv.Words(wordRows) })

// patterns are those of an argument, each word of which stands for its own.
func patterns(arg string) (all []string) {
	for part := range strings.FieldsSeq(arg) {
		if files := words()[part]; files != nil {
			all = append(all, patterns(strings.Join(files, " "))...)
			continue
		}
		all = append(all, part)
	}
	return all
}

// scripts is the word for the files that people's programs of PHP are looked for by.
const scripts = "@php"

// files are those that an argument names.
func (m *Machine) files(arg string) (all []string) {
	for word := range strings.FieldsSeq(arg) {
		found := sliced.FlatMap(patterns(word), m.glob)
		if word == scripts {
			found = sliced.Filter(found, m.isPHP)
		}
		all = append(all, found...)
		for _, s := range m.Strays { // which no pattern finds
			if word == "@code" || word == scripts && m.isPHP(s.Path) {
				all = append(all, s.Path)
			}
		}
		if word == "@jobs" || word == "@code" {
			all = append(all, m.code(shell)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// isPHP reports whether a file is a program of PHP: those of other languages stand beside it
// where people keep programs.
func (m *Machine) isPHP(name string) bool {
	if strings.HasSuffix(name, ".php") {
		return true
	}
	text := m.Files.Text(name)
	return strings.Contains(text, "<?php") || strings.HasPrefix(text, "<?\n") || strings.HasPrefix(text, "<? ")
}

// texts are the files that an argument names whose lines are asked for, each by the name
// that it has where links to it end: what is enabled by a link is changed where it stands.
func (m *Machine) texts(arg string) []string {
	return once(&m.asked, arg, func() (all []string) {
		seen := map[string]bool{}
		for _, name := range m.files(arg) {
			end := m.behind(name)
			if alias := end != name && strings.Contains(end, "/lib/systemd/"); alias || seen[end] {
				continue // a unit of a package by another name
			}
			seen[end] = true
			all = append(all, end)
		}
		return all
	})
}

// behind is what a link leads to, if that is there.
func (m *Machine) behind(name string) string {
	return once(&m.ends, name, func() string {
		to := m.Files.Link(name)
		if to != "" && !path.IsAbs(to) {
			to = path.Join(path.Dir(name), to)
		}
		if to == "" || !m.Files.Exists(to) {
			return name
		}
		return path.Clean(to)
	})
}

// named has a name among what was found.
func (f *Match) named(name string) {
	f.Names, f.met = append(f.Names, name), true
}

// stands has a name among what was found, and where it is said.
func (f *Match) stands(name string, at Place) {
	f.named(name)
	f.file(at.Path, at.Line)
}

// file has a line of a file among it; 0 is the file as a whole.
func (f *Match) file(name string, n int) {
	f.met = true
	if p := (Place{name, n}); !slices.Contains(f.Places, p) {
		f.Places = append(f.Places, p)
	}
}

func askPath(m *Machine, q *question, found *Match) {
	for _, name := range m.files(q.args[0]) {
		found.stands(name, Place{name, 0})
	}
}

func askOwn(m *Machine, q *question, found *Match) {
	for _, pattern := range patterns(q.args[0]) {
		for _, name := range m.Own {
			if match, _ := path.Match(pattern, name); match {
				found.stands(name, Place{name, 0})
			}
		}
	}
}

func askLink(m *Machine, q *question, found *Match) {
	for _, name := range m.files(q.args[0]) {
		if to := m.Files.Link(name); to != "" && q.rx[1].match(to) {
			found.file(name, 0)
		}
	}
}

func askLine(m *Machine, q *question, found *Match) {
	for _, name := range m.texts(q.args[0]) {
		for _, l := range m.lines(name) {
			if q.rx[1].match(l.text) {
				found.file(name, l.n)
			}
		}
	}
}

// askWrote asks for lines of files that are not as a package ships them.
func askWrote(m *Machine, q *question, found *Match) {
	all := Match{}
	askLine(m, q, &all)
	for _, p := range all.Places {
		if _, shipped := m.Shipped[p.Path]; !shipped {
			found.file(p.Path, p.Line)
		}
	}
}

func askSet(m *Machine, q *question, found *Match) {
	for _, name := range m.texts(q.args[0]) {
		for _, l := range m.lines(name) {
			for _, s := range statements(l.text) {
				if q.rx[1].match(s[0]) && (len(q.args) == 2 || q.rx[2].match(s[1])) {
					found.stands(s[0], Place{name, l.n})
					break
				}
			}
		}
	}
}

// statements are the settings of a line and, where it holds a block as a whole, those
// of each statement in it: zone "x" { type primary; file "y"; };
func statements(line string) [][2]string {
	all := settings(line)
	if strings.Contains(line, "{") && strings.Contains(line, ";") {
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("{};", r) }) {
			all = append(all, settings(strings.TrimSpace(part))...)
		}
	}
	return all
}

// settings are a line's name and value, in each of the ways in which files part
// them: by an equals sign, by a colon, by a space. A name has an underscore for each
// dash, and no quotes.
func settings(line string) (all [][2]string) {
	for _, sep := range []string{"=", ":", " "} {
		i := strings.Index(line, sep)
		if sep == " " {
			i = strings.IndexAny(line, " \t")
		}
		switch {
		case i > 0:
			all = append(all, [2]string{settingName(line[:i]), strings.Trim(line[i+1:], " \t\"';,={")})
		case sep == " ":
			all = append(all, [2]string{settingName(line), ""})
		}
	}
	return all
}

func settingName(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(strings.Trim(s, " \t\"';,+")), " "), "-", "_")
}

// sshd are the settings of sshd that hold for all connections, in its order.
func (m *Machine) sshd(name string, depth int, take func(key, value string, at Place)) {
	for _, l := range m.lines(name) {
		key, value, _ := strings.Cut(strings.ReplaceAll(strings.Replace(l.text, "=", " ", 1), "\t", " "), " ")
		switch value = strings.Trim(value, " \""); {
		case strings.EqualFold(key, "Match"):
			return
		case strings.EqualFold(key, "Include") && depth < maxIncludes:
			for pattern := range strings.FieldsSeq(value) {
				if !path.IsAbs(pattern) {
					pattern = path.Join("/etc/ssh", pattern)
				}
				if _, err := path.Match(pattern, ""); err != nil {
					continue
				}
				for _, file := range m.glob(path.Clean(pattern)) {
					m.sshd(file, depth+1, take)
				}
			}
		default:
			take(key, value, Place{name, l.n})
		}
	}
}

// maxIncludes bounds how deep a configuration may include others.
const maxIncludes = 4

func askSSHD(m *Machine, q *question, found *Match) {
	seen := map[string]bool{}
	m.sshd("/etc/ssh/sshd_config", 0, func(key, value string, at Place) {
		first := !seen[strings.ToLower(key)]
		if seen[strings.ToLower(key)] = true; first && q.rx[0].match(key) && (len(q.args) == 1 || q.rx[1].match(value)) {
			found.stands(key, at)
		}
	})
}

func askMount(m *Machine, q *question, found *Match) {
	for _, l := range m.mounted() {
		if fits(q.args[0], l.kind) && (len(q.args) == 1 || slices.ContainsFunc(l.options, q.rx[1].match)) {
			found.stands(l.place, l.at)
		}
	}
}

func checkMounts(args []string) error {
	if args[0] != "twice" && args[0] != "disorder" {
		return fmt.Errorf("%q is neither twice nor disorder", args[0])
	}
	return nil
}

// askMounts finds places where fstab mounts twice, and those where it mounts only after
// what lies below them.
func askMounts(m *Machine, q *question, found *Match) {
	all := slices.DeleteFunc(slices.Clone(m.mounted()), func(l mount) bool { return !path.IsAbs(l.place) })
	for i, l := range all {
		if slices.ContainsFunc(all[:i], func(before mount) bool {
			if q.args[0] == "twice" {
				return path.Clean(before.place) == path.Clean(l.place)
			}
			return strings.HasPrefix(path.Clean(before.place), strings.TrimSuffix(path.Clean(l.place), "/")+"/")
		}) {
			found.stands(l.place, l.at)
		}
	}
}

func askKernel(m *Machine, q *question, found *Match) {
	for _, w := range m.arguments() {
		if q.rx[0].match(w.text) {
			found.stands(w.text, w.at)
		}
	}
	found.Names = slices.Compact(found.Names)
}

func askUnit(m *Machine, q *question, found *Match) {
	for pattern := range strings.FieldsSeq(q.args[0]) {
		for name, state := range m.Units {
			if match, _ := path.Match(pattern, name); match && state == "enabled" {
				found.named(name)
			}
		}
	}
	slices.Sort(found.Names)
}

func askFact(m *Machine, q *question, found *Match) {
	for _, f := range m.Facts {
		if f.Area == q.args[0] && q.rx[1].match(f.Key) && (len(q.args) == 2 || q.rx[2].match(f.Value)) {
			found.stands(strings.TrimSpace(f.Key+" "+f.Value), f.At)
		}
	}
}

func askArch(m *Machine, q *question, found *Match) {
	found.met = fits(q.args[0], m.Architecture)
}

// levels are flags of /proc/cpuinfo without which a processor has not a level of
// x86-64 (the psABI's, chapter 3.1.1).
var levels = map[string][]string{
	"x86-64-v2": {"cx16", "lahf_lm", "popcnt", "ssse3", "sse4_1", "sse4_2"},
	"x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
}

func checkCPU(args []string) error {
	if levels[args[0]] == nil {
		return fmt.Errorf("%q is neither x86-64-v2 nor x86-64-v3", args[0])
	}
	return nil
}

func askCPU(m *Machine, q *question, found *Match) {
	for _, l := range m.lines("/proc/cpuinfo") {
		if flags, ok := strings.CutPrefix(l.text, "flags"); ok {
			has := strings.Fields(flags)
			if slices.ContainsFunc(levels[q.args[0]], func(flag string) bool { return !slices.Contains(has, flag) }) {
				found.file("/proc/cpuinfo", l.n)
			}
			return
		}
	}
}

func checkFrom(args []string) error {
	for part := range strings.SplitSeq(args[0], "|") {
		if _, err := parseBound(part); err != nil {
			return err
		}
	}
	return nil
}

func askFrom(m *Machine, q *question, found *Match) {
	for part := range strings.SplitSeq(q.args[0], "|") {
		b, _ := parseBound(part) // which was checked
		found.met = found.met || b.onSource(m)
	}
}
