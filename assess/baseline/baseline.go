// Package baseline reads what a machine's own packages account for beside the
// files that they own: the accounts that they make, and what their maintainer
// scripts name. Nothing of it is run.
package baseline

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/packages"
	"svc/assess/packages/rpm"
	"svc/assess/scripts"
	"svc/backend/sliced"
)

// Baseline is what packages account for.
type Baseline struct {
	// Applied is when a migration's role was first applied; zero where nothing
	// says so.
	Applied time.Time
	// Installed is when the files of a package came, by its name; of the rpm
	// families the assessment says it.
	Installed map[string]time.Time
	Users     map[string]Account // that packages declare, by name
	Groups    map[string]string  // the same: where each is declared
	// Named are the accounts and files of the machine that a package's maintainer
	// script names, and in which script.
	Named map[string]string
	// Rights are the files to which a script of their own package gives more rights,
	// by path, and which script. dpkg does not note modes.
	Rights map[string]string
	// Scripts reports whether every account that packages make is declared or named
	// by a script, as with dpkg. The package setup of rpm's families brings accounts
	// in a passwd that the machine's own takes the place of: there one may be neither.
	Scripts bool
	// Modules are lines of PAM's stacks that come from no package's profile.
	Modules []assess.Fact
}

// Account is a user as a package declares it.
type Account struct {
	Shell string
	In    string // the file that declares it
}

// Bounds of what is read, in bytes and in files.
const (
	maxFile  = 1 << 20
	maxNames = 50_000
)

// mark is what the role writes first, and never changes.
const mark = "etc/svc/fingerprint"

// Read reads the baseline of a machine; a is its assessment.
func Read(ctx context.Context, h host.Host, a *assess.Assessment) *Baseline {
	r := reader{ctx, h.FS(), &Baseline{Installed: map[string]time.Time{}, Users: map[string]Account{}, Groups: map[string]string{}, Named: map[string]string{}, Rights: map[string]string{}}}
	if info, err := r.fs.Lstat(mark); err == nil {
		r.Applied = info.ModTime()
	}
	r.declared()
	r.masters()
	wanted := wantedOf(a)
	r.book(wanted)
	r.scriptlets(wanted)
	r.pam()
	return r.Baseline
}

type reader struct {
	ctx context.Context
	fs  host.FS
	*Baseline
}

// files are the names in a folder that end in one of some ways, by path.
func (r reader) files(dir string, ends ...string) []string {
	entries, _ := r.fs.ReadDir(dir) // what is not there declares nothing
	return sliced.FilterMap(entries[:min(len(entries), maxNames)], func(e fs.DirEntry) (string, bool) {
		return path.Join(dir, e.Name()), slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(e.Name(), end) })
	})
}

// Declared are the users that packages declare in sysusers.d, by name.
func Declared(fsys host.FS) map[string]Account {
	r := reader{fs: fsys, Baseline: &Baseline{Users: map[string]Account{}, Groups: map[string]string{}}}
	r.declared()
	return r.Users
}

// declared reads sysusers.d of packages: lines of type, name, id, comment, home
// and shell. That of /etc is people's.
func (r reader) declared() {
	files := r.files("usr/lib/sysusers.d", ".conf")
	host.Expect(r.fs, host.Files, files)
	for _, file := range files {
		text, err := host.ReadFile(r.fs, file, maxFile)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := fields(line)
			switch {
			case len(f) < 2:
			case strings.HasPrefix(f[0], "u"):
				r.Users[f[1]] = Account{shellOf(f), "/" + file}
				r.Groups[f[1]] = "/" + file
			case f[0] == "g":
				r.Groups[f[1]] = "/" + file
			}
		}
	}
}

// shellOf is the shell of a line of sysusers.d; root's is that of the system.
func shellOf(f []string) string {
	if len(f) > 5 && f[5] != "-" {
		return f[5]
	}
	if f[1] == "root" {
		return "/bin/bash"
	}
	return "/usr/sbin/nologin"
}

// fields are the words of a line, of which some stand in quotes.
func fields(line string) (all []string) {
	if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
		return nil
	}
	for line != "" {
		var word string
		if rest, ok := strings.CutPrefix(line, `"`); ok {
			word, line, _ = strings.Cut(rest, `"`)
		} else if i := strings.IndexAny(line, " \t"); i >= 0 {
			word, line = line[:i], line[i:]
		} else {
			word, line = line, ""
		}
		all, line = append(all, word), strings.TrimLeft(line, " \t")
	}
	return all
}

// masters reads the accounts that base-passwd of Debian makes.
func (r reader) masters() {
	const passwd, group = "usr/share/base-passwd/passwd.master", "usr/share/base-passwd/group.master"
	for line := range r.lines(passwd) {
		if f := strings.Split(line, ":"); len(f) == 7 {
			r.Users[f[0]] = Account{f[6], "/" + passwd}
		}
	}
	for line := range r.lines(group) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			r.Groups[name] = "/" + group
		}
	}
}

func (r reader) lines(file string) func(func(string) bool) {
	text, _ := host.ReadFile(r.fs, file, maxFile) // another family has none
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(text)) {
			if !yield(strings.TrimSpace(line)) {
				return
			}
		}
	}
}

// wanted is what is looked for in maintainer scripts: accounts of the system's range,
// files of /etc that no package owns, and files with more rights, by package and base
// name.
type wanted struct {
	scripts.Wanted
	rights map[string]string
}

func wantedOf(a *assess.Assessment) wanted {
	users := sliced.FilterMap(a.Users, func(u assess.User) (string, bool) { return u.Name, u.System })
	groups := sliced.FilterMap(a.Groups, func(g assess.Group) (string, bool) { return g.Name, g.System })
	files := sliced.Map(a.Configuration, func(c assess.ConfigFile) string { return c.Path })
	rights := map[string]string{}
	for _, p := range a.Programs {
		if p.Privileged && p.Package != "" {
			rights[p.Package+" "+path.Base(p.Path)] = p.Path
		}
	}
	return wanted{scripts.Looking(files, append(users, groups...)), rights}
}

// kinds are the files in dpkg's folder that say what a package makes: what it removes
// when it is purged, it made.
var kinds = []string{".preinst", ".postinst", ".prerm", ".postrm", ".config"}

// book reads dpkg's folder: when packages came, and what their scripts name.
func (r reader) book(w wanted) {
	for _, list := range r.files(scripts.Dir, ".list") {
		if info, err := r.fs.Lstat(list); err == nil {
			r.Installed[scripts.PackageOf(list)] = info.ModTime()
		}
	}
	files := r.files(scripts.Dir, kinds...)
	r.Scripts = len(files) > 0
	scripts.Each(r.ctx, r.fs, files, func(script string, text []byte) { r.script(text, w, scripts.PackageOf(script), script) })
}

// scriptlets reads what rpm's database keeps of scripts. A database that can't be
// read whole names less.
func (r reader) scriptlets(w wanted) {
	_ = packages.EachRPM(r.fs, func(p *rpm.Package) error {
		for _, text := range p.Scripts() {
			r.script([]byte(text), w, p.Name, "a scriptlet of the package "+p.Name)
		}
		return r.ctx.Err()
	})
}

// script notes what a script of a package names.
func (r reader) script(text []byte, w wanted, pkg, script string) {
	for _, name := range w.In(text) {
		r.Named[name] = cmp.Or(r.Named[name], script)
	}
	r.grants(text, w, pkg, script)
}

// granting are the programs by which scripts give files more rights.
var granting = [][]byte{[]byte("chmod"), []byte("setcap"), []byte("dpkg-statoverride")}

// grants notes to which files of its own package a script gives rights.
func (r reader) grants(text []byte, w wanted, pkg, script string) {
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("\\\n"), nil)) {
		if !slices.ContainsFunc(granting, func(program []byte) bool { return bytes.Contains(line, program) }) {
			continue
		}
		for word := range bytes.FieldsFuncSeq(line, scripts.Separates) {
			if file, ok := w.rights[pkg+" "+path.Base(string(word))]; ok {
				r.Rights[file] = script
			}
		}
	}
}

// PAM are lines of the common stacks of Debian's family that no profile makes.
func PAM(fsys host.FS) []assess.Fact {
	r := reader{fs: fsys, Baseline: &Baseline{}}
	r.pam()
	return r.Modules
}

// pam holds the common stacks of Debian's family against the profiles from
// which pam-auth-update makes them.
func (r reader) pam() {
	known := map[string]bool{}
	for _, file := range append(r.files("usr/share/pam-configs", ""), r.files("usr/share/pam", "")...) {
		for line := range r.lines(file) {
			known[module(line)] = true
		}
	}
	if len(known) == 0 {
		return
	}
	for _, name := range []string{"account", "auth", "password", "session", "session-noninteractive"} {
		file, n := "etc/pam.d/common-"+name, 0
		for line := range r.lines(file) {
			n++
			if m := module(line); m != "" && !known[m] {
				r.Modules = append(r.Modules, assess.Fact{Area: "pam", Key: m, Value: line, Evidence: assess.Evidence{Path: "/" + file, Line: n}})
			}
		}
	}
}

// module is what a line of PAM has loaded, with its arguments; profiles and
// stacks have other words before it. pam-auth-update adds arguments of its own to
// what is not first in its stack.
func module(line string) string {
	f := strings.Fields(line)
	i := slices.IndexFunc(f, func(word string) bool { return strings.HasSuffix(word, ".so") })
	if i < 0 || strings.HasPrefix(f[0], "#") {
		return ""
	}
	added := []string{"use_authtok", "try_first_pass", "use_first_pass"}
	return strings.Join(slices.DeleteFunc(f[i:], func(word string) bool { return slices.Contains(added, word) }), " ")
}

// After reports whether a package came once the role had been applied for the
// first time; false where nothing says when.
func (b *Baseline) After(p assess.Package) bool {
	at := p.InstalledAt
	if t, ok := b.Installed[p.Name]; ok {
		at = t
	}
	return b.Applied.IsZero() || at.IsZero() || at.After(b.Applied)
}
