package naming

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
)

// References carries over, line by line, what a text names and only the source has:
// a unit, a program, a socket, with the version of its package in it. It goes by what
// the plan knows of packages and places; what has no sure counterpart is said, and
// stays.
type References struct {
	where    Places
	versions []versionName
	programs map[string]program       // by path, and by bare name
	bare     *regexp.Regexp           // calls of these by their bare names
	Homes    func(path string) string // where the target has what any text may name: logs of the system, its authorities, data that their program looks for by itself
	Owners   map[string]string        // packages of the source, by the paths that texts name
	Placed   map[string]string        // where the plan brings files that go elsewhere
	target   string
	line     release.Line // of the target
	pkg      string       // whose file is read, where it is one's
}

// Of reads the file of a package, which may name the account that its program runs as: that
// of a person is of the package by whose name its folder is called.
func (r *References) Of(pkg, file string) *References {
	own := *r
	own.pkg = pkg
	if below, ok := strings.CutPrefix(file, "/etc/"); ok && pkg == "" {
		own.pkg, _, _ = strings.Cut(below, "/")
	}
	return &own
}

// versionName is a name with a version that becomes one with another: php7.4 and
// php8.4, and php-fpm7.4, as Debian calls the program of php7.4-fpm.
type versionName struct {
	was, now, pkg string
	at            *regexp.Regexp
}

// Mention is a line of a text that names what the target has not, or not so: a
// person changes it there.
type Mention struct {
	Path string `json:"path"` // of the text, on the target
	Line int    `json:"line"`
	Name string `json:"name"`
	Now  string `json:"now,omitempty"` // what takes its place; empty where nothing surely does
	Why  string `json:"why"`
}

var (
	// numbered are names of packages that have a version in them: php7.4-fpm.
	numbered = lazyregexp.New(`^([a-z][a-z+.-]*?[a-z+]-?)([0-9]+(?:\.[0-9]+)*)((?:-.*)?)$`)
	// Paths are paths in a text.
	Paths = lazyregexp.New(`/[A-Za-z0-9_.@+~-]+(?:/[A-Za-z0-9_.@+~-]+)*`)
	// unitIn are units in a text, by their full names or after what manages them.
	unitIn = lazyregexp.New(`[A-Za-z0-9_.@\\:-]+\.(?:service|socket|timer|path|target|mount)\b`)
	called = lazyregexp.New(`\b(?:systemctl(?: +-[a-z-]+)* +[a-z-]+|service|invoke-rc\.d)(?: +--?[a-z-]+)* +([A-Za-z0-9_.@-]+(?: +[A-Za-z0-9_.@-]+)*)`)
	words  = lazyregexp.New(`[^ ]+`)
	digits = lazyregexp.New(`[0-9]+(?:\.[0-9]+)*`)
	// isSocket are sockets and files of process numbers by their names, which no file of a
	// person's has: these follow the program that makes them.
	isSocket = lazyregexp.New(`^/(?:var/)?(?:run|lib)/.*\.(?:sock|socket|ctl|pid)$`)
	// runsAs are the settings of a unit that name accounts: systemd.exec(5), systemd.socket(5).
	runsAs = lazyregexp.New(`^\s*(User|Group|SupplementaryGroups|SocketUser|SocketGroup)\s*=`)
)

// NewReferences knows the names of a plan.
func NewReferences(rows []Row, where Places, target string) *References {
	r := &References{where: where, target: target, programs: programsOf(where), Homes: func(path string) string { return path }}
	r.bare = calledBare(r.programs)
	is, _ := release.Lookup(target)
	r.line = is.Family.Conventions().Line
	now, pkg := map[string]string{}, map[string]string{}
	for _, row := range rows {
		was := numbered.FindStringSubmatch(row.Name)
		if was == nil || !row.Sure || strings.HasPrefix(row.Name, "lib") {
			continue
		}
		for _, t := range row.Targets {
			is := numbered.FindStringSubmatch(t)
			if is == nil || is[1] != was[1] || is[3] != was[3] || is[2] == was[2] {
				continue
			}
			for _, between := range []string{"", was[3]} {
				key, to := was[1]+between+was[2], is[1]+between+is[2]
				if old, ok := now[key]; ok && old != to {
					to = "" // two packages disagree
				}
				now[key], pkg[key] = to, row.Name
			}
		}
	}
	for _, was := range slices.Sorted(maps.Keys(now)) {
		if now[was] != "" {
			at := regexp.MustCompile(`(^|[^A-Za-z0-9])` + regexp.QuoteMeta(was) + `($|[^0-9.]|\.[^0-9]|\.$)`)
			r.versions = append(r.versions, versionName{was, now[was], pkg[was], at})
		}
	}
	return r
}

// ownPlaces are folders of people and data: what they call a file there stays.
var ownPlaces = []string{"/srv/", "/home/", "/root/", "/opt/", "/usr/local/", "/var/www/", "/var/backups/", "/mnt/", "/media/", "/data/", "/tmp/"}

// lackedFolders are those of other families in which packages of a line have no files, by the
// lists of files of their archives.
var lackedFolders = map[release.Line][]string{
	release.LineDebian: {"/usr/lib64/", "/var/www/cgi-bin/"},
	release.LineEL:     {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib/cgi-bin/"},
}

// IsOwn reports whether a path is below a folder of people and data.
func IsOwn(name string) bool {
	return slices.ContainsFunc(ownPlaces, func(p string) bool { return strings.HasPrefix(name+"/", p) })
}

// OfSystem reports whether a path is where packages put programs.
func OfSystem(name string) bool {
	return slices.ContainsFunc([]string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/"}, func(p string) bool { return strings.HasPrefix(name, p) }) && !IsOwn(name)
}

// Silent reports whether a line says nothing to a program; a script's first line
// says by what it is run.
func Silent(n int, line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "#") && (n > 0 || !strings.HasPrefix(line, "#!"))
}

// Text carries the names in a text over; what is said of a line has its number.
func (r *References) Text(text string) (now string, renamed, lost []Mention) {
	lines := strings.Split(text, "\n")
	lists, byShell := listsOfUnits(text), hazards.InShell(text)
	for n, was := range lines {
		if Silent(n, was) {
			continue
		}
		l := &nameLine{r: r, text: was, number: n + 1, lists: lists, shell: byShell}
		l.carry()
		lines[n] = l.text
		renamed, lost = append(renamed, l.renamed...), append(lost, l.lost...)
	}
	return strings.Join(lines, "\n"), renamed, lost
}

// byPolicy is what the rpm families' settings say for ciphers by the system's policy, which their
// OpenSSL alone knows (update-crypto-policies(8)): another refuses it, and the server does not start.
const byPolicy = "PROFILE=SYSTEM"

// systemCiphers are what lines say in its place: openssl-ciphers(1).
var systemCiphers = map[release.Line]string{release.LineDebian: "DEFAULT", release.LineAlpine: "DEFAULT"}

// nameLine is a line whose names are carried over.
type nameLine struct {
	r             *References
	text          string
	number        int
	lists         map[string]bool // variables of the text whose words are units
	shell         bool            // which runs the text
	renamed, lost []Mention
}

func (l *nameLine) say(was, now, because string) {
	m := Mention{Line: l.number, Name: was, Now: now, Why: fmt.Sprintf("%s is %s in %s%s.", was, now, l.r.target, because)}
	if !slices.Contains(l.renamed, m) {
		l.renamed = append(l.renamed, m)
	}
}

// carry replaces programs and paths first, then units, accounts, and what else has a version.
func (l *nameLine) carry() {
	l.programs()
	l.text = Paths.ReplaceAllStringFunc(l.text, func(name string) string {
		to, why, gone := l.r.path(name)
		switch {
		case gone != "":
			l.lost = append(l.lost, Mention{Line: l.number, Name: name, Why: gone})
		case to != name:
			l.say(name, to, why)
		}
		return to
	})
	if now := systemCiphers[l.r.line]; now != "" && strings.Contains(l.text, byPolicy) {
		l.say(byPolicy, now, ", whose OpenSSL has no policy of the system")
		l.text = strings.ReplaceAll(l.text, byPolicy, now)
	}
	l.text = unitIn.ReplaceAllStringFunc(l.text, l.unit)
	if at := called.FindAllStringSubmatchIndex(l.text, -1); at != nil {
		for _, at := range slices.Backward(at) {
			l.text = l.text[:at[2]] + l.managed(l.text[at[0]:at[2]], l.text[at[2]:at[3]]) + l.text[at[3]:]
		}
	}
	if all := listIn.FindAllStringSubmatchIndex(l.text, 1); all != nil && l.lists[l.text[all[0][2]:all[0][3]]] {
		at := all[0]
		l.text = l.text[:at[4]] + l.managed(l.text[at[0]:at[4]], l.text[at[4]:at[5]]) + l.text[at[5]:]
	}
	l.accounts()
	for _, v := range l.r.versions {
		gone := func(m Mention) bool { return strings.Contains(m.Name, v.was) }
		if !strings.Contains(l.text, v.was) || slices.ContainsFunc(l.lost, gone) { // what has no counterpart stays as it is
			continue
		}
		if now := outsideOwn(l.text, v); now != l.text {
			l.say(v.was, v.now, ", by its package "+v.pkg)
			l.text = now
		}
	}
}

var (
	// listIn is a list of a shell: of a loop, or in a variable.
	listIn = lazyregexp.New(`(?:\bfor +|^\s*(?:(?:export|local|readonly|declare(?: +-a)?) +)?)([A-Za-z_][A-Za-z0-9_]*)(?: +in +|=[("']\s*)([A-Za-z0-9_.@-]+(?: +[A-Za-z0-9_.@-]+)*)`)
	// listBy is a loop over what a variable has.
	listBy = lazyregexp.New(`\bfor +([A-Za-z_][A-Za-z0-9_]*) +in +"?\$\{?([A-Za-z_][A-Za-z0-9_]*)`)
	// managedBy is a variable behind what manages units.
	managedBy = lazyregexp.New(`\b(?:systemctl(?: +-[a-z-]+)* +[a-z-]+|service|invoke-rc\.d)(?: +--?[a-z-]+)* +["']?\$\{?([A-Za-z_][A-Za-z0-9_]*)`)
)

// listsOfUnits are the variables of a shell's text whose words are units: of them a loop
// calls what manages these.
func listsOfUnits(text string) map[string]bool {
	lists := map[string]bool{}
	for _, m := range managedBy.FindAllStringSubmatch(text, -1) {
		lists[m[1]] = true
	}
	for _, m := range listBy.FindAllStringSubmatch(text, -1) {
		lists[m[2]] = lists[m[2]] || lists[m[1]]
	}
	return lists
}

// unit is what the target calls a unit.
func (l *nameLine) unit(name string) string {
	to := l.r.unit(name)
	if to != name {
		l.say(name, to, "")
	}
	return to
}

// managed are the units behind what manages them, without their kinds. They are said with it,
// since the same name may stand elsewhere in the line and mean another thing.
func (l *nameLine) managed(verb, units string) string {
	why := []string{}
	now := words.ReplaceAllStringFunc(units, func(name string) string {
		to := strings.TrimSuffix(l.r.unit(name+".service"), ".service")
		if to != name {
			why = append(why, fmt.Sprintf("%s is %s in %s.", name, to, l.r.target))
		}
		return to
	})
	if now != units {
		l.renamed = append(l.renamed, Mention{Line: l.number, Name: verb + units, Now: verb + now, Why: strings.Join(why, " ")})
	}
	return now
}

// outsideOwn replaces a name where it is not part of a path of people's.
func outsideOwn(line string, v versionName) string {
	kept := Paths.FindAllStringIndex(line, -1)
	kept = slices.DeleteFunc(kept, func(at []int) bool { return !IsOwn(line[at[0]:at[1]]) })
	var b strings.Builder
	from := 0
	for _, at := range kept {
		b.WriteString(v.at.ReplaceAllString(line[from:at[0]], "${1}"+v.now+"${2}"))
		b.WriteString(line[at[0]:at[1]])
		from = at[1]
	}
	b.WriteString(v.at.ReplaceAllString(line[from:], "${1}"+v.now+"${2}"))
	return b.String()
}

// unit is what the target calls a unit.
func (r *References) unit(name string) string {
	if to, ok := r.where.units[name]; ok && to.To != nil && to.Action != api.ActionDrop {
		return *to.To
	}
	return name
}

// path is where the target has what the source has at a path, with why; or what
// it lacks.
func (r *References) path(name string) (to, why, lost string) {
	if IsOwn(name) {
		return name, "", r.lacked(name)
	}
	if placed := r.Placed[name]; placed != "" {
		return placed, "", ""
	}
	if home := r.Homes(name); home != name {
		return home, "", ""
	}
	if to, ok := r.programs[name]; ok {
		return to.command, "", ""
	}
	if _, to, ok := r.where.File(name); ok && OfSystem(name) && OfSystem(to) {
		return to, "", ""
	}
	if strings.HasPrefix(name, "/etc/") {
		if moved, to, ok := r.where.File(name); ok && to != "" && (moved.Action == api.ActionCopy || moved.Action == api.ActionConvert) {
			return to, "", ""
		}
		moved, ok := r.where.dirs[name]
		switch {
		case !ok || moved.To == nil:
			return name, "", ""
		case moved.Action == api.ActionCopy:
			return strings.TrimSuffix(*moved.To, "/"), "", ""
		case moved.Action == api.ActionConvert:
			return name, "", r.elsewhere(name, moved)
		}
		return name, "", ""
	}
	if moved, ok := r.where.dirs[name]; ok && moved.Action == api.ActionManual && moved.To != nil && strings.HasPrefix(name, "/var/") && !strings.HasPrefix(name, "/var/run/") {
		return name, "", r.elsewhere(name, moved)
	}
	if to := r.socket(name); to != "" {
		return to, "", ""
	}
	pkg, owned := r.Owners[name]
	row, known := r.where.Packages[pkg]
	switch {
	case !owned || !known:
		return name, "", ""
	case r.where.Gone(pkg) && len(row.Targets) == 0:
		return name, "", fmt.Sprintf("It is of the package %s, which has no counterpart in %s.", pkg, r.target)
	}
	return sameVersion(name, row), ", by its package " + pkg, r.lacked(name)
}

// lacked says of a file of a package that the target has it elsewhere, since none of its
// packages has files in such a folder.
func (r *References) lacked(name string) string {
	pkg := r.Owners[name]
	row := r.where.Packages[pkg]
	for _, dir := range lackedFolders[r.line] {
		if strings.HasPrefix(name, dir) && row.Sure && len(row.Targets) > 0 {
			return fmt.Sprintf("It is of the package %s, and packages of %s have nothing in %s: look where %s has it.", pkg, r.target, path.Clean(dir), strings.Join(row.Targets, ", "))
		}
	}
	return ""
}

// socket is where the target has a socket, or a file of a process number, which is one by
// whichever of the two names of /run a text calls it.
func (r *References) socket(name string) string {
	if !isSocket.MatchString(name) {
		return ""
	}
	for _, spelt := range []string{name, "/var" + name, strings.TrimPrefix(name, "/var")} {
		if to := r.where.files[spelt].Place(); isSocket.MatchString(to) {
			return to
		}
	}
	return ""
}

// elsewhere says of a folder that the target has what stands in it in others.
func (r *References) elsewhere(name string, moved api.Relocation) string {
	if strings.TrimSuffix(*moved.To, "/") == name {
		return ""
	}
	return fmt.Sprintf("What stands in this folder is in others in %s, such as %s.", r.target, *moved.To)
}

// sameVersion is a path with the version of a package's name in it, as it is with
// that of its counterpart: java-17-openjdk and java-21-openjdk.
func sameVersion(name string, row Row) string {
	was := numbered.FindStringSubmatch(row.Name)
	if was == nil || !row.Sure {
		return name
	}
	for _, t := range row.Targets {
		if is := numbered.FindStringSubmatch(t); is != nil && is[1] == was[1] && is[3] == was[3] {
			return digits.ReplaceAllStringFunc(name, func(v string) string {
				if v == was[2] {
					return is[2]
				}
				return v
			})
		}
	}
	return name
}

// OfUnit is where a drop-in of a unit stands whose name has a version.
func (r *References) OfUnit(to string) string {
	rest, below := strings.CutPrefix(to, "/etc/systemd/system/")
	unit, file, dropin := strings.Cut(rest, ".d/")
	if !below || !dropin || strings.Contains(unit, "/") {
		return to
	}
	now := r.unit(unit)
	for _, v := range r.versions {
		now = v.at.ReplaceAllString(now, "${1}"+v.now+"${2}")
	}
	return "/etc/systemd/system/" + now + ".d/" + file
}

// pythonFolders are where Python of a line looks for people's modules that others have in
// site-packages: Debian's Python policy, 1.1.
var pythonFolders = map[release.Line]string{release.LineDebian: "dist-packages"}

// Versioned are those of people's own software for one version of what runs it, which that of
// the target does not look for there: Python too, of which both sides' versions are given.
func (r *References) Versioned(python, pythonNow string, exists func(path string) bool) (all []Mention) {
	const home = "/usr/local/lib/"
	names := sliced.Index(r.versions, func(v versionName) (string, string) { return v.was, v.now })
	if was, is := seriesOf(python), seriesOf(pythonNow); was != "" && is != "" {
		names["python"+was] = "python" + is
		for name, now := range names {
			if now == "python3" { // which is that of any version
				names[name] = "python" + is
			}
		}
	}
	for _, was := range slices.Sorted(maps.Keys(names)) {
		from, to := home+was, home+names[was]
		if own := pythonFolders[r.line]; strings.HasPrefix(was, "python") && own != "" && exists(from+"/site-packages") {
			from, to = from+"/site-packages", to+"/"+own
		}
		if from != to && exists(from) {
			all = append(all, lookedFor(names[was], from, to))
		}
	}
	return all
}

func lookedFor(by, was, now string) Mention {
	return Mention{Path: was, Name: was, Now: now, Why: fmt.Sprintf("%s looks into %s.", by, now)}
}

// Environments are the folders of modules of Python's virtual environments, by the version
// that made each: the target's Python looks into one of its own. One that a person built
// moves with what was made by it.
func Environments(software []assess.Software, now string, exists func(path string) bool) (all []Mention) {
	is := seriesOf(now)
	for _, s := range software {
		was := seriesOf(s.Version)
		home := s.Path + "/lib/python"
		if s.Manager == "venv" && was != "" && is != "" && was != is && exists("/usr/bin/python"+was) && exists(home+was) {
			all = append(all, lookedFor("python"+is, home+was, home+is))
		}
	}
	return all
}

// seriesOf is the major and the minor version of a version.
func seriesOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 || !assess.PlainVersion.MatchString(parts[0]+"."+parts[1]) {
		return ""
	}
	return parts[0] + "." + parts[1]
}

// In are mentions with the file that they stand in.
func In(file string, all []Mention) []Mention {
	for i := range all {
		all[i].Path = file
	}
	return all
}

// Changed says in how many lines names were carried over.
func Changed(n int) string {
	if n == 1 {
		return "One line names what the target calls otherwise, and was changed."
	}
	return fmt.Sprintf("%d lines name what the target calls otherwise, and were changed.", n)
}

// Programs are those of people: the programs in their folders, up to a size, those that
// stand among packages' own, and what the machine's own units, of which settings are asked, and its jobs run there.
func Programs(a *assess.Assessment, size int64, settings func(unit string) [][]string) (all []string) {
	add := func(text string) {
		all = append(all, sliced.Filter(Paths.FindAllString(text, -1), IsOwn)...)
	}
	for _, p := range a.Programs {
		if p.Package == "" && p.Link == "" && p.Size <= size && IsOwn(p.Path) {
			all = append(all, p.Path)
		}
	}
	for _, s := range a.Strays {
		all = append(all, s.Path)
	}
	all = append(all, a.Apart...)
	for _, u := range slices.Concat(a.Services, a.Timers) {
		if u.Local && u.Path != "" {
			for _, line := range settings(u.Path) {
				add(line[1])
			}
		}
	}
	for _, job := range a.Cron {
		add(job.Command)
	}
	return all
}
