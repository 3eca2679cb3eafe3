package assess

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// maxSoftware bounds the list of what was installed past the package manager.
const maxSoftware = 5000

// readSoftware lists what other package managers than the system's installed.
// Software that was only unpacked is a finding.
func (m *machine) readSoftware() {
	m.pip()
	m.npm()
	m.gems()
	m.cpan()
	m.cargo()
	m.snaps()
	m.flatpaks()
	m.venvs()
	slices.SortFunc(m.a.Software, func(a, b Software) int {
		return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
}

func (m *machine) addSoftware(manager, name, version, file string) {
	if len(m.a.Software) == maxSoftware {
		m.source("software", SourceUnreadable, fmt.Sprintf("more than %d pieces of software; the rest is not listed", maxSoftware))
	}
	m.a.Software = append(m.a.Software, Software{manager, name, version, file, Evidence{file, 0}})
	m.a.Software = m.a.Software[:min(len(m.a.Software), maxSoftware+1)]
}

// pythonFolders are where Python looks for libraries.
var pythonFolders = []string{
	"/usr/local/lib/python*/*-packages", "/usr/local/lib64/python*/site-packages", "/usr/lib/python*/*-packages", "/usr/lib64/python*/site-packages",
	"/opt/rh/*python*/root/usr/lib/python*/site-packages", "/root/.local/lib/python*/site-packages", "/home/*/.local/lib/python*/site-packages",
}

// distribution is the folder in which pip describes what it installed.
var distribution = lazyregexp.New(`^(.+?)-([0-9][^-]*)(?:-py[0-9.]+)?\.(dist|egg)-info$`)

// pip lists what pip installed: it signs its work.
func (m *machine) pip() {
	for _, pattern := range pythonFolders {
		for _, dir := range m.glob(pattern) {
			entries, err := m.fs.ReadDir(dir[1:])
			if err != nil {
				m.outcome("software.pip", dir[1:], err)
			}
			for _, e := range entries {
				if f := distribution.FindStringSubmatch(e.Name()); f != nil && m.byPip(path.Join(dir, e.Name())) {
					m.addSoftware("pip", f[1], f[2], path.Join(dir, e.Name()))
				}
			}
		}
	}
}

// byPip reports whether pip made an installation: of the new form it says so,
// of the old it leaves a list of files. In /usr/local nobody else installs.
func (m *machine) byPip(dir string) bool {
	if installer, err := m.readSmall(path.Join(dir[1:], "INSTALLER")); err == nil {
		return strings.TrimSpace(string(installer)) == "pip" && m.owner(dir[1:]) == ""
	}
	return strings.HasPrefix(dir, "/usr/local/") || m.exists(path.Join(dir[1:], "installed-files.txt"))
}

// nodeFolders are where npm puts what is installed for everyone.
var nodeFolders = []string{"/usr/local/lib/node_modules", "/usr/lib/node_modules", "/opt/*/lib/node_modules", "/home/*/.nvm/versions/node/*/lib/node_modules", "/root/.nvm/versions/node/*/lib/node_modules"}

// npmOwn come with npm.
var npmOwn = []string{"npm", "corepack", "npx"}

func (m *machine) npm() {
	for _, pattern := range nodeFolders {
		for _, dir := range m.glob(pattern) {
			for _, file := range append(m.glob(dir+"/*/package.json"), m.glob(dir+"/@*/*/package.json")...) {
				m.nodeModule(dir, file)
			}
		}
	}
}

func (m *machine) nodeModule(dir, file string) {
	name := strings.TrimPrefix(path.Dir(file), dir+"/")
	if slices.Contains(npmOwn, name) || m.owner(file[1:]) != "" || !m.exists(file[1:]) {
		return
	}
	var p struct{ Version string }
	if err := json.Unmarshal([]byte(m.peek(file[1:])), &p); err != nil {
		m.source("software.npm."+name, SourceCorrupt, fmt.Sprintf("%s: %v", file, err))
	}
	m.addSoftware("npm", name, p.Version, path.Dir(file))
}

// gemFolders are where `gem install` describes gems; those of packages stand
// elsewhere.
var gemFolders = []string{"/var/lib/gems/*/specifications/*.gemspec", "/usr/local/share/gems/specifications/*.gemspec", "/usr/local/lib/ruby/gems/*/specifications/*.gemspec", "/usr/local/lib64/gems/ruby/specifications/*.gemspec", "/home/*/.gem/ruby/*/specifications/*.gemspec", "/root/.gem/ruby/*/specifications/*.gemspec", "/usr/local/rvm/gems/*/specifications/*.gemspec"}

// nameVersion is a name that ends in a version: bundler-1.17.3.
var nameVersion = lazyregexp.New(`^(.+)-([0-9][0-9A-Za-z.]*)(?:-[a-z0-9_-]+)?$`)

func (m *machine) gems() {
	for _, pattern := range gemFolders {
		for _, file := range m.glob(pattern) {
			if f := nameVersion.FindStringSubmatch(strings.TrimSuffix(path.Base(file), ".gemspec")); f != nil {
				m.addSoftware("gem", f[1], f[2], file)
			}
		}
	}
}

// perlLogs are where Perl notes what was built from CPAN.
var perlLogs = []string{"/usr/local/lib*/perl5/perllocal.pod", "/usr/local/lib/*/perl/*/perllocal.pod", "/usr/local/lib/perl5/*/*/perllocal.pod", "/usr/lib*/perl5/perllocal.pod", "/usr/lib/perl5/*/*/perllocal.pod", "/home/*/perl5/lib/perl5/*/perllocal.pod"}

func (m *machine) cpan() {
	for _, pattern := range perlLogs {
		for _, file := range m.glob(pattern) {
			text, _ := m.text("software.cpan", file[1:])
			versions := parsePerlLocal(text)
			for _, name := range sortedKeys(versions) {
				m.addSoftware("cpan", name, versions[name], file)
			}
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

func (m *machine) cargo() {
	for _, pattern := range []string{"/root/.cargo/.crates.toml", "/home/*/.cargo/.crates.toml", "/usr/local/.crates.toml", "/usr/local/cargo/.crates.toml"} {
		for _, file := range m.glob(pattern) {
			if !m.exists(file[1:]) {
				continue
			}
			text, _ := m.text("software.cargo", file[1:])
			for line := range strings.Lines(text) {
				if f := crate.FindStringSubmatch(line); f != nil {
					m.addSoftware("cargo", f[1], f[2], file)
				}
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
func (m *machine) snaps() {
	text, ok := m.text("software.snap", "var/lib/snapd/state.json")
	if ok {
		s, err := parseSnaps([]byte(text))
		if err == nil {
			for _, name := range sortedKeys(s.Data.Snaps) {
				snap := s.Data.Snaps[name]
				m.addSoftware("snap", name, strings.TrimSpace(fmt.Sprint(snap.Channel, " ", snap.Current)), "/var/lib/snapd/state.json")
			}
			return
		}
		m.source("software.snap", SourceCorrupt, fmt.Sprintf("/var/lib/snapd/state.json: %v", err))
	}
	for _, file := range m.glob("/var/lib/snapd/snaps/*.snap") {
		name, revision, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".snap"), "_")
		m.addSoftware("snap", name, revision, file)
	}
}

func parseSnaps(b []byte) (s snapState, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return s, d.Decode(&s)
}

// flatpaks lists the applications that flatpak installed for everyone.
func (m *machine) flatpaks() {
	for _, file := range m.glob("/var/lib/flatpak/app/*/*/*") {
		f := strings.Split(file, "/")
		m.addSoftware("flatpak", f[5], f[7], file)
	}
}

// venvPlaces are where virtual environments of Python usually stand.
var venvPlaces = []string{"/opt/*/pyvenv.cfg", "/opt/*/*/pyvenv.cfg", "/srv/*/pyvenv.cfg", "/srv/*/*/pyvenv.cfg", "/var/www/*/pyvenv.cfg", "/var/www/*/*/pyvenv.cfg", "/home/*/*/pyvenv.cfg", "/home/*/*/*/pyvenv.cfg", "/root/*/pyvenv.cfg", "/usr/local/*/pyvenv.cfg"}

func (m *machine) venvs() {
	for _, pattern := range venvPlaces {
		for _, file := range m.glob(pattern) {
			info, err := m.fs.Lstat(file[1:])
			if err != nil || info.Mode()&fs.ModeType != 0 {
				continue
			}
			v := parseAssignments(m.peek(file[1:]))
			m.addSoftware("venv", path.Base(path.Dir(file)), cmp.Or(v["version"], v["version_info"]), path.Dir(file))
		}
	}
}
