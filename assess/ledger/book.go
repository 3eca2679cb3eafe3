package ledger

import (
	_ "embed"
	"hash/maphash"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/tsv"
)

//go:embed rules.tsv
var rulesTSV string

var rules = tsv.List(rulesTSV, 4, func(c []string) Rule { return Rule{Place: c[0], Row: Row(c[1]), What: c[2], Origin: c[3]} })

// book is a ledger in the making: what is known before the walk, and a page for
// each worker.
type book struct {
	host      host.Host
	owners    *ownership
	all       []Rule          // of the table, then of the machine's own
	exact     map[string]int  // rules by the path or folder that they are of
	patterns  []int           // rules whose places have stars
	names     map[string]int  // rules by a file's name
	chosen    map[string]bool // links of alternatives, by path
	places    map[string]int  // of data, by path
	sorted    []string        // paths of places
	configs   map[string]assess.ConfigState
	installed map[string]bool // names of packages
	byteCode  int
	aliases   int
	workers   []*page
	changed   []Path
	looked    Looked
	elsewhere []string
	far       bool
	why       string
}

// page is what one worker counts. Workers never share one.
type page struct {
	folders    map[string]map[Row]Count
	rules      map[int]Count
	nobody     []Path
	linked     map[alias]bool // packages' files that have other names too
	suspects   []suspect
	boundaries []string
	unread     []string
	assumed    int64
	more       int
	_          [64]byte
}

// suspect is a file of a package whose content is to be compared.
type suspect struct {
	path  string
	size  int64 // -1 where the assessment compared it
	bytes int64
}

// Bounds of what a worker remembers, so that its memory does not grow with the disk.
const (
	maxNobody   = 20_000
	maxSuspects = 200_000
	maxUnread   = 1000
)

func newBook(h host.Host, in Input, o *ownership) *book {
	b := &book{host: h, owners: o, exact: map[string]int{}, names: map[string]int{}, chosen: map[string]bool{}, places: map[string]int{}, configs: map[string]assess.ConfigState{}, installed: map[string]bool{}}
	if b.far, b.why = in.Far, whyNear; b.far {
		b.why = whyFar
	}
	for range host.Workers() {
		b.workers = append(b.workers, &page{folders: map[string]map[Row]Count{}, rules: map[int]Count{}, linked: map[alias]bool{}})
	}
	for _, r := range rules() {
		b.add(r)
	}
	b.byteCode = b.add(Rule{State, byteCode, "byte code of packages' Python files", "py3compile(1)", Count{}})
	b.aliases = b.add(Rule{State, aliases, "chosen alternatives", "update-alternatives(1)", Count{}})
	for _, link := range chosen(h.FS()) {
		b.chosen[o.real(link, "")] = true
	}
	for _, r := range tmpfiles(h.FS()) {
		b.add(r)
	}
	for _, p := range in.Places {
		row := Data
		if p.Software {
			row = Software
		}
		b.places[p.Path] = b.add(Rule{row, "/" + p.Path, p.What, "", Count{}})
	}
	for _, p := range in.Assessment.Packages {
		b.installed[p.Name] = true
	}
	for _, c := range in.Assessment.Configuration {
		b.configs[strings.TrimPrefix(c.Path, "/")] = c.State
	}
	for _, s := range in.Assessment.Software {
		if at := strings.Trim(s.Path, "/"); at != "" && s.Path != "/usr" && strings.Count(at, "/") > 0 {
			b.places[at] = b.add(Rule{Software, "/" + at, s.Manager + " " + s.Name, "", Count{}})
		}
	}
	b.sorted = slices.Sorted(maps.Keys(b.places))
	return b
}

// add gives a rule its number.
func (b *book) add(r Rule) int {
	n := len(b.all)
	b.all = append(b.all, r)
	place, below := strings.CutSuffix(r.Place, "/**")
	switch {
	case r.Origin == "", r.Place == byteCode, r.Place == aliases: // they are found otherwise
	case !strings.HasPrefix(place, "/"):
		b.names[place] = n
	case strings.ContainsAny(place, "*?"):
		b.patterns = append(b.patterns, n)
	case below:
		b.exact[place[1:]+"/"] = n
	default:
		b.exact[place[1:]] = n
	}
	return n
}

// Places of rules that are known by more than where a path stands.
const (
	byteCode = "*.pyc"
	aliases  = "links to /etc/alternatives"
)

func (b *book) rule(n int) Rule { return b.all[n] }

// Visit puts a path into its row, by what is known before the walk.
func (b *book) Visit(worker int, n *host.Node) bool {
	w := b.workers[worker]
	if n.Boundary {
		w.boundaries = append(w.boundaries, n.Path())
		return false
	}
	if n.Name == "lost+found" && n.Mode.IsDir() { // it is part of a file system, as its tables are
		return true
	}
	name := n.Path()
	row, rule := b.rowOf(w, n, name)
	one := Count{1, bytesOf(n)}
	if rule >= 0 {
		w.rules[rule] = plus(w.rules[rule], one)
	}
	dir := folderOf(name)
	if w.folders[dir] == nil {
		w.folders[dir] = map[Row]Count{}
	}
	w.folders[dir][row] = plus(w.folders[dir][row], one)
	as := aliasOf(n)
	if row == Shipped && as != (alias{}) && len(w.linked) < maxSuspects {
		w.linked[as] = true
	}
	if row == Nobody {
		if len(w.nobody) < maxNobody {
			w.nobody = append(w.nobody, Path{Path: "/" + name, Why: inFolderOfPackages(n, name), Count: one, mode: n.Mode, alias: as})
		} else {
			w.more++
		}
	}
	return true
}

// Plain implements host.Plain.
func (b *book) Plain() {}

// program is of what is nobody's a file that can be called, where else packages alone
// put files.
const program = "a program among those of packages"

func inFolderOfPackages(n *host.Node, name string) string {
	if strings.HasPrefix(name, "usr/") && n.Mode.IsRegular() && n.Mode&0o111 != 0 {
		return program
	}
	return ""
}

// bytesOf is the size of a file, as it says.
func bytesOf(n *host.Node) int64 {
	if n.Mode.IsRegular() {
		return n.Size
	}
	return 0
}

// rowOf is the row of a path, and the rule by which it is there; -1 for none.
func (b *book) rowOf(w *page, n *host.Node, name string) (Row, int) {
	state, known := b.configs[name]
	pkg, owned := b.owners.of(name)
	switch {
	case name == ".":
		return Shipped, -1
	case owned && known && state == assess.ConfigChanged:
		w.suspects = append(w.suspects, suspect{name, -1, bytesOf(n)})
		return Shipped, -1 // until it is compared
	case owned && n.Mode.IsRegular():
		b.suspect(w, n, name, pkg)
		return Shipped, -1
	case owned:
		return Shipped, -1
	}
	if at := b.placeOf(name); at >= 0 && !strings.HasPrefix(name, "etc/") {
		return b.all[at].Row, at
	}
	if at := b.ruleOf(n, name); at >= 0 {
		return b.all[at].Row, at
	}
	if known || strings.HasPrefix(name, "etc/") || name == "etc" || strings.HasPrefix(name+"/", "var/spool/cron/") {
		return Configuration, -1
	}
	if n.Mode.IsDir() {
		if at := b.above(name); at >= 0 {
			return b.all[at].Row, at
		}
		if b.owners.below(name) { // not all packages have the folders of their files
			return Shipped, -1
		}
	}
	return Nobody, -1
}

// suspect notes a file whose content is to be compared.
func (b *book) suspect(w *page, n *host.Node, name string, pkg uint32) {
	switch newer := n.Modified > b.owners.packages[pkg].installed; {
	case strings.HasPrefix(name, "etc/"): // the assessment compared it
	case (newer || !b.far && isProgram(n)) && len(w.suspects) < maxSuspects:
		w.suspects = append(w.suspects, suspect{name, n.Size, n.Size})
	default:
		w.assumed++
	}
}

// placeOf is the innermost place of data that a path stands in.
func (b *book) placeOf(name string) int {
	for at := name; at != "."; at = path.Dir(at) {
		if n, ok := b.places[at]; ok {
			return n
		}
	}
	return -1
}

// ruleOf is the rule that accounts for a path.
func (b *book) ruleOf(n *host.Node, name string) int {
	if b.isByteCode(n, name) {
		return b.byteCode
	}
	if r, ok := b.exact[name]; ok {
		return r
	}
	for at := name; at != "."; at = path.Dir(at) {
		if r, ok := b.exact[at+"/"]; ok && (at != caches || b.cacheOfPackage(name)) {
			return r
		}
	}
	base := path.Base(name)
	if r, ok := b.names[base]; ok {
		return r
	}
	if n.Mode&fs.ModeSymlink != 0 && b.chosen[name] {
		return b.aliases
	}
	for _, r := range b.patterns {
		if b.all[r].fits("/" + name) {
			return r
		}
	}
	return -1
}

// caches is where programs put what they can make anew; but people put there what
// nothing makes anew, in folders of their own.
const caches = "var/cache"

// cacheOfPackage reports whether a path is of a cache that is a package's, by its
// list or its name, or the system's.
func (b *book) cacheOfPackage(name string) bool {
	top, _, below := strings.Cut(strings.TrimPrefix(name, caches+"/"), "/")
	if name == caches || top == "private" {
		return true
	}
	if _, owned := b.owners.of(caches + "/" + top); owned {
		return true
	}
	return b.installed[top] || !below && strings.Contains(top, ".") // a file, as of ldconfig
}

// fits matches a place with stars.
func (r Rule) fits(name string) bool {
	place, below := strings.CutSuffix(r.Place, "/**")
	if depth := strings.Count(place, "/"); below && strings.Count(name, "/") > depth {
		parts := strings.SplitN(name, "/", depth+2)
		name = strings.Join(parts[:depth+1], "/")
	}
	ok, _ := path.Match(place, name)
	return ok
}

// cachedAs is what a cache of byte code adds to a file's name: its Python, and how it
// was compiled.
var cachedAs = lazyregexp.New(`\.[a-z]+-[0-9]+[a-z]*(\.opt-[0-9a-z]+)?$`)

// isByteCode reports whether a file is compiled of a package's Python file, or a
// folder of such.
func (b *book) isByteCode(n *host.Node, name string) bool {
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if n.Mode.IsDir() {
		_, owned := b.owners.of(dir)
		return base == "__pycache__" && owned
	}
	stem, ok := strings.CutSuffix(base, ".pyc")
	if !ok {
		return false
	}
	if up, cached := strings.CutSuffix(dir, "/__pycache__"); cached {
		dir = up
		stem = cachedAs.ReplaceAllString(stem, "")
	}
	_, owned := b.owners.of(dir + "/" + stem + ".py")
	return owned
}

// above is the first place that a folder leads to: it was made for that.
func (b *book) above(name string) int {
	i, _ := slices.BinarySearch(b.sorted, name+"/")
	if i < len(b.sorted) && strings.HasPrefix(b.sorted[i], name+"/") {
		return b.places[b.sorted[i]]
	}
	return -1
}

// Unread notes what could not be listed.
func (b *book) Unread(worker, _ int, name string, err error) {
	w := b.workers[worker]
	if len(w.unread) < maxUnread {
		w.unread = append(w.unread, "/"+name+": "+err.Error())
	} else {
		w.more++
	}
}

// boundaries are where other file systems stand, sorted.
func (b *book) boundaries() (all []string) {
	for _, w := range b.workers {
		all = append(all, w.boundaries...)
		w.boundaries = nil
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// folderOf is the folder of the first or second level that a path is counted for.
func folderOf(name string) string {
	top, rest, nested := strings.Cut(name, "/")
	if !nested {
		return top
	}
	second, _, deeper := strings.Cut(rest, "/")
	if !deeper {
		return top
	}
	return name[:len(top)+1+len(second)]
}

var seed = maphash.MakeSeed()
