// Package software reads what no package manager brought: runtimes, containers,
// software in folders of its own, and programs of nobody.
package software

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// maxSoftware bounds the list of what was installed past the package manager.
const maxSoftware = 5000

// ReadSoftware lists what other package managers than the system's installed.
// Software that was only unpacked is a finding.
func ReadSoftware(m *assess.Machine) {
	pip(m)
	npm(m)
	gems(m)
	cpan(m)
	cargo(m)
	snaps(m)
	flatpaks(m)
	venvs(m)
	slices.SortFunc(m.A.Software, func(a, b assess.Software) int {
		return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
}

func addSoftware(m *assess.Machine, manager, name, version, file string) {
	if len(m.A.Software) == maxSoftware {
		m.Source("software", assess.SourceUnreadable, fmt.Sprintf("more than %d pieces of software; the rest is not listed", maxSoftware))
	}
	m.A.Software = append(m.A.Software, assess.Software{Manager: manager, Name: name, Version: version, Path: file, Evidence: assess.Evidence{Path: file, Line: 0}})
	m.A.Software = m.A.Software[:min(len(m.A.Software), maxSoftware+1)]
}

// pythonFolders are where Python looks for libraries.
var pythonFolders = []string{
	"/usr/local/lib/python*/*-packages", "/usr/local/lib64/python*/site-packages", "/usr/lib/python*/*-packages", "/usr/lib64/python*/site-packages",
	"/opt/rh/*python*/root/usr/lib/python*/site-packages", "/root/.local/lib/python*/site-packages", "/home/*/.local/lib/python*/site-packages",
}

// distribution is the folder in which pip describes what it installed.
var distribution = lazyregexp.New(`^(.+?)-([0-9][^-]*)(?:-py[0-9.]+)?\.(dist|egg)-info$`)

// pip lists what pip installed: it signs its work.
func pip(m *assess.Machine) {
	for _, dir := range m.Glob(pythonFolders...) {
		entries, err := m.FS.ReadDir(dir[1:])
		if err != nil {
			m.Outcome("software.pip", dir[1:], err)
		}
		for _, e := range entries {
			if f := distribution.FindStringSubmatch(e.Name()); f != nil && byPip(m, path.Join(dir, e.Name())) {
				addSoftware(m, "pip", f[1], f[2], path.Join(dir, e.Name()))
			}
		}
	}
}

// byPip reports whether pip made an installation: of the new form it says so,
// of the old it leaves a list of files. In /usr/local nobody else installs.
func byPip(m *assess.Machine, dir string) bool {
	if installer, err := m.ReadSmall(path.Join(dir[1:], "INSTALLER")); err == nil {
		return strings.TrimSpace(string(installer)) == "pip" && m.Owner(dir[1:]) == ""
	}
	return strings.HasPrefix(dir, "/usr/local/") || m.Exists(path.Join(dir[1:], "installed-files.txt"))
}

// nodeFolders are where npm puts what is installed for everyone.
var nodeFolders = []string{"/usr/local/lib/node_modules", "/usr/lib/node_modules", "/opt/*/lib/node_modules", "/home/*/.nvm/versions/node/*/lib/node_modules", "/root/.nvm/versions/node/*/lib/node_modules"}

// npmOwn come with npm.
var npmOwn = []string{"npm", "corepack", "npx"}

func npm(m *assess.Machine) {
	for _, dir := range m.Glob(nodeFolders...) {
		for _, file := range m.Glob(dir+"/*/package.json", dir+"/@*/*/package.json") {
			nodeModule(m, dir, file)
		}
	}
}

func nodeModule(m *assess.Machine, dir, file string) {
	name := strings.TrimPrefix(path.Dir(file), dir+"/")
	if slices.Contains(npmOwn, name) || m.Owner(file[1:]) != "" || !m.Exists(file[1:]) {
		return
	}
	var p struct{ Version string }
	if err := json.Unmarshal([]byte(m.Peek(file[1:])), &p); err != nil {
		m.Source("software.npm."+name, assess.SourceCorrupt, fmt.Sprintf("%s: %v", file, err))
	}
	addSoftware(m, "npm", name, p.Version, path.Dir(file))
}

// gemFolders are where `gem install` describes gems; those of packages stand
// elsewhere.
var gemFolders = []string{"/var/lib/gems/*/specifications/*.gemspec", "/usr/local/share/gems/specifications/*.gemspec", "/usr/local/lib/ruby/gems/*/specifications/*.gemspec", "/usr/local/lib64/gems/ruby/specifications/*.gemspec", "/home/*/.gem/ruby/*/specifications/*.gemspec", "/root/.gem/ruby/*/specifications/*.gemspec", "/usr/local/rvm/gems/*/specifications/*.gemspec"}

// nameVersion is a name that ends in a version: bundler-1.17.3.
var nameVersion = lazyregexp.New(`^(.+)-([0-9][0-9A-Za-z.]*)(?:-[a-z0-9_-]+)?$`)

func gems(m *assess.Machine) {
	for _, file := range m.Glob(gemFolders...) {
		if f := nameVersion.FindStringSubmatch(strings.TrimSuffix(path.Base(file), ".gemspec")); f != nil {
			addSoftware(m, "gem", f[1], f[2], file)
		}
	}
}

// perlLogs are where Perl notes what was built from CPAN.
var perlLogs = []string{"/usr/local/lib*/perl5/perllocal.pod", "/usr/local/lib/*/perl/*/perllocal.pod", "/usr/local/lib/perl5/*/*/perllocal.pod", "/usr/lib*/perl5/perllocal.pod", "/usr/lib/perl5/*/*/perllocal.pod", "/home/*/perl5/lib/perl5/*/perllocal.pod"}

func cpan(m *assess.Machine) {
	for _, file := range m.Glob(perlLogs...) {
		text, _ := m.Text("software.cpan", file[1:])
		versions := parsePerlLocal(text)
		for _, name := range assess.SortedKeys(versions) {
			addSoftware(m, "cpan", name, versions[name], file)
		}
	}
}

var (
	perlModule  = lazyregexp.New(`^=head2 .*C<Module> L<([^|>]+)`)
	perlVersion = lazyregexp.New(`C<VERSION: ([^>]+)>`)
)

// parsePerlLocal gives the modules with the versions that were installed last.
func parsePerlLocal(text string) map[string]string {
	versions, module := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if f := perlModule.FindStringSubmatch(line); f != nil {
			module = f[1]
			versions[module] = ""
		}
		if f := perlVersion.FindStringSubmatch(line); f != nil && module != "" {
			versions[module] = f[1]
		}
	}
	return versions
}

// crate is a line of cargo's list: "ripgrep 13.0.0 (registry+…)" = ["rg"].
var crate = lazyregexp.New(`^"([^" ]+) ([^" ]+) \(`)

func cargo(m *assess.Machine) {
	for _, file := range m.Glob("/root/.cargo/.crates.toml", "/home/*/.cargo/.crates.toml", "/usr/local/.crates.toml", "/usr/local/cargo/.crates.toml") {
		if !m.Exists(file[1:]) {
			continue
		}
		text, _ := m.Text("software.cargo", file[1:])
		for line := range strings.Lines(text) {
			if f := crate.FindStringSubmatch(line); f != nil {
				addSoftware(m, "cargo", f[1], f[2], file)
			}
		}
	}
}

// snapState is what of snapd's state matters here.
type snapState struct {
	Data struct {
		Snaps map[string]struct {
			Current any    `json:"current"`
			Channel string `json:"channel"`
			Active  bool   `json:"active"`
		} `json:"snaps"`
	} `json:"data"`
}

// snaps lists the snaps by snapd's own book, and by the images where that is
// closed.
func snaps(m *assess.Machine) {
	text, ok := m.Text("software.snap", "var/lib/snapd/state.json")
	if ok {
		s, err := parseSnaps([]byte(text))
		if err == nil {
			for _, name := range assess.SortedKeys(s.Data.Snaps) {
				snap := s.Data.Snaps[name]
				addSoftware(m, "snap", name, strings.TrimSpace(fmt.Sprint(snap.Channel, " ", snap.Current)), "/var/lib/snapd/state.json")
			}
			return
		}
		m.Source("software.snap", assess.SourceCorrupt, fmt.Sprintf("/var/lib/snapd/state.json: %v", err))
	}
	for _, file := range m.Glob("/var/lib/snapd/snaps/*.snap") {
		name, revision, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".snap"), "_")
		addSoftware(m, "snap", name, revision, file)
	}
}

func parseSnaps(b []byte) (s snapState, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return s, d.Decode(&s)
}

// flatpaks lists the applications that flatpak installed for everyone.
func flatpaks(m *assess.Machine) {
	for _, file := range m.Glob("/var/lib/flatpak/app/*/*/*") {
		f := strings.Split(file, "/")
		addSoftware(m, "flatpak", f[5], f[7], file)
	}
}

// venvPlaces are where virtual environments of Python usually stand.
var venvPlaces = []string{"/opt/*/pyvenv.cfg", "/opt/*/*/pyvenv.cfg", "/opt/*/*/*/pyvenv.cfg", "/srv/*/pyvenv.cfg", "/srv/*/*/pyvenv.cfg", "/srv/*/*/*/pyvenv.cfg", "/var/www/*/pyvenv.cfg", "/var/www/*/*/pyvenv.cfg", "/var/www/*/*/*/pyvenv.cfg", "/var/lib/*/pyvenv.cfg", "/var/lib/*/*/pyvenv.cfg", "/home/*/*/pyvenv.cfg", "/home/*/*/*/pyvenv.cfg", "/root/*/pyvenv.cfg", "/usr/local/*/pyvenv.cfg", "/usr/local/*/*/pyvenv.cfg"}

func venvs(m *assess.Machine) {
	for _, file := range m.Glob(venvPlaces...) {
		info, err := m.FS.Lstat(file[1:])
		if err != nil || info.Mode()&fs.ModeType != 0 {
			continue
		}
		v := assess.ParseAssignments(m.Peek(file[1:]))
		addSoftware(m, "venv", path.Base(path.Dir(file)), cmp.Or(v["version"], v["version_info"]), path.Dir(file))
	}
}
