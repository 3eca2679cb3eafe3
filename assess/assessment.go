// Package assess reads a machine from the outside and says what it is: the
// system, its packages, and everything that people put on it. It never runs
// anything of the machine and never writes to it.
package assess

import (
	"crypto"
	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"svc/assess/hazards"
	"svc/backend/sliced"
)

// Schema names the form of assessment.json; it changes when a field is renamed,
// retyped or dropped.
const Schema = "svc.assessment/v1"

// Assessment is everything that was read of one machine. All lists are sorted
// and never null, so that equal machines give equal bytes.
type Assessment struct {
	Schema        string        `json:"schema"`
	Release       string        `json:"release"`     // slug: debian-11
	Fingerprint   string        `json:"fingerprint"` // 64 hex; empty where there is no machine-id
	System        System        `json:"system"`
	Packages      []Package     `json:"packages"`
	Origins       []Origin      `json:"origins"`
	Services      []Unit        `json:"services"`
	Timers        []Unit        `json:"timers"`
	Cron          []CronJob     `json:"cron"`
	Users         []User        `json:"users"`
	Groups        []Group       `json:"groups"`
	Configuration []ConfigFile  `json:"configuration"`
	Folders       []Folder      `json:"folders"`
	Disabled      []string      `json:"disabled"` // links that would enable what is available, and are not there: /etc/apache2/sites-enabled/000-default.conf
	Mounts        []Mount       `json:"mounts"`
	Networks      []Network     `json:"networks"`
	Sysctl        []Setting     `json:"sysctl"`
	SSH           []Setting     `json:"ssh"`
	Firewalls     []Firewall    `json:"firewalls"`
	Databases     []Database    `json:"databases"`
	WebServers    []WebServer   `json:"web_servers"`
	Certificates  []Certificate `json:"certificates"`
	Runtimes      []Runtime     `json:"runtimes"`
	Software      []Software    `json:"software"`
	Containers    []Container   `json:"containers"`
	Programs      []Program     `json:"programs"`
	Facts         []Fact        `json:"facts"`
	Secrets       []Secret      `json:"secrets"` // places in what would be carried; never what is secret
	Findings      []Finding     `json:"findings"`
	Sources       []Source      `json:"sources"`
	Running       *Running      `json:"running,omitempty"` // of a machine that runs while it is read

	// AsShipped are the other files of /etc that packages name as configuration, by path:
	// the package. They are asked while the machine is at hand.
	AsShipped map[string]string `json:"-"`
	// Strays are people's own programs among those of packages.
	Strays []hazards.Stray `json:"-"`
	// Apart are files in folders of people's own programs apart from /usr/local, such as a
	// site's cgi-bin, scripts among data, and PageSettings in folders of pages.
	Apart []string `json:"-"`
	// Unmet are what installed packages recommend and none that is installed meets, each by
	// all of its names: rsyslog, system-log-daemon. Only dpkg says.
	Unmet []string `json:"-"`
	// Bounds are up to which versions packages need others, by the package. Only dpkg says.
	Bounds map[string][]Bound `json:"-"`
}

// PageSettings are the names of files that set what is done with the pages of their folder:
// Apache's AccessFileName, and PHP's user_ini.filename.
var PageSettings = []string{".htaccess", ".user.ini"}

// Bound is up to which version a package needs another.
type Bound struct {
	Needs    string
	Relation string // <<, <= or =
	Version  string
}

// System is the machine itself.
type System struct {
	ID           string   `json:"id"`         // os-release ID
	VersionID    string   `json:"version_id"` // as os-release has it
	Codename     string   `json:"codename"`
	Name         string   `json:"name"`         // PRETTY_NAME
	Architecture string   `json:"architecture"` // as the package manager says: amd64
	Hostname     string   `json:"hostname"`
	TimeZone     string   `json:"time_zone"`
	Locale       string   `json:"locale"`
	Keyboard     string   `json:"keyboard"`
	Kernels      []string `json:"kernels"` // installed kernel releases, newest last
	InitSystem   string   `json:"init_system"`
}

// Package is one installed package.
type Package struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	Arch          string `json:"arch"`
	Source        string `json:"source"`
	SourceVersion string `json:"source_version"`
	Section       string `json:"section"`
	Manual        bool   `json:"manual"` // not pulled in by another: chosen by a person, or nothing records it
	Held          bool   `json:"held"`
	Needed        bool   `json:"needed,omitempty"` // another installed package depends on it; only dpkg says
	Origin        string `json:"origin"`           // vendor or repository, empty where nothing says
	Essential     bool   `json:"essential"`
	Base          bool   `json:"base,omitempty"` // every installation of the release begins with it: dpkg's priorities required and important
	Maintainer    string `json:"maintainer"`
	Module        string `json:"module,omitempty"` // name and stream: nodejs:18
	// InstalledAt is when the package came, or this version of it.
	InstalledAt time.Time `json:"installed_at,omitzero"`
}

// Origin is a package repository that the machine is set up to use.
type Origin struct {
	URI        string   `json:"uri"`
	Suite      string   `json:"suite"` // or the id of the repository
	Components []string `json:"components"`
	Types      []string `json:"types"` // deb, deb-src, rpm, service, apk
	SignedBy   string   `json:"signed_by"`
	Enabled    bool     `json:"enabled"`
	ThirdParty bool     `json:"third_party"`         // not the distribution's own archive
	Unchecked  bool     `json:"unchecked,omitempty"` // packages are taken without a look at who signed them
	Evidence   Evidence `json:"evidence"`
}

// Unit is what an init system starts: a systemd unit, an init script, a job of
// upstart, a service of inetd.
type Unit struct {
	Name      string   `json:"name"`
	Manager   string   `json:"manager"`   // systemd, sysv, upstart, openrc, xinetd, inetd
	State     string   `json:"state"`     // enabled, disabled, masked, static, linked
	Local     bool     `json:"local"`     // written on this machine; no package owns it
	Dropins   []string `json:"dropins"`   // paths of local drop-ins and overrides
	Package   string   `json:"package"`   // that owns the unit, if any
	Path      string   `json:"path"`      // of the unit file
	Preset    bool     `json:"preset"`    // the state is the one its package or the distribution sets by itself
	Runlevels []string `json:"runlevels"` // in which it starts, where its manager has any
	Schedule  string   `json:"schedule,omitempty"`
}

// CronJob is one line of a crontab, or one script of cron.daily and its like.
type CronJob struct {
	Schedule string   `json:"schedule"` // five fields, @daily, the folder's period, or "at" and a time
	User     string   `json:"user"`
	Command  string   `json:"command"` // empty where hidden
	Local    bool     `json:"local"`
	Hidden   bool     `json:"hidden"` // the job is closed to others, so its command is left out
	Evidence Evidence `json:"evidence"`
}

// User is an account that no package made, or a package's whose entry was changed.
type User struct {
	Name           string   `json:"name"`
	UID            int      `json:"uid"`
	GID            int      `json:"gid"`
	Comment        string   `json:"comment"`
	Home           string   `json:"home"`
	Shell          string   `json:"shell"`
	System         bool     `json:"system"` // made by a package or the base system
	Own            bool     `json:"-"`      // of the system's range, with a home where people put theirs, and no script of a package of Debian's family makes it
	Locked         bool     `json:"locked"` // no password works; unknown where shadow is unreadable
	Groups         []string `json:"groups"` // supplementary
	AuthorizedKeys []string `json:"authorized_keys"`
	Sudo           bool     `json:"sudo"`
}

// LastStatic is the last id, of users and of groups, that is the same on every Debian system.
const LastStatic = 99

// Group is a group of the machine.
type Group struct {
	Name    string   `json:"name"`
	GID     int      `json:"gid"`
	System  bool     `json:"system"`
	Members []string `json:"members"`
}

// ConfigState says how a configuration file differs from what packages ship.
type ConfigState string

// The states of a configuration file.
const (
	ConfigChanged    ConfigState = "changed"    // a package's file, edited
	ConfigUnowned    ConfigState = "unowned"    // no package owns it
	ConfigMissing    ConfigState = "missing"    // a package's file, deleted
	ConfigUnreadable ConfigState = "unreadable" // could not be compared
)

// ConfigFile is a file of /etc that is not as a package shipped it.
type ConfigFile struct {
	Path    string      `json:"path"`
	State   ConfigState `json:"state"`
	Package string      `json:"package"` // owner, if any
	// MadeBy is the package whose maintainer script makes it, of links alone: what is in
	// a file may be a person's work.
	MadeBy string `json:"made_by,omitempty"`
	Mode   string `json:"mode"` // octal: 0644
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Owner  string `json:"owner"` // names by the machine's own passwd
	Group  string `json:"group"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // empty where missing or unreadable
	Link   string `json:"link,omitempty"`
	// Shipped are the digests of the file as its package has it, as
	// "algorithm:hex"; none where the package manager does not say.
	Shipped []string `json:"shipped,omitempty"`
	Secret  bool     `json:"secret"`  // it, or a folder above it, is closed to others, or it has a secret: see secrets
	Machine bool     `json:"machine"` // belongs to this very machine or was generated: not to be carried over
}

// Folder is a folder that no package brings, or that of a package in /etc that is
// not open to all: below /etc, and where services write.
type Folder struct {
	Path    string `json:"path"`
	Mode    string `json:"mode"` // octal: 0755
	UID     int    `json:"uid"`
	GID     int    `json:"gid"`
	Owner   string `json:"owner"` // names by the machine's own passwd
	Group   string `json:"group"`
	Package string `json:"package,omitempty"` // that brings it
}

// Mount is a line of fstab.
type Mount struct {
	Device   string   `json:"device"`
	Path     string   `json:"path"`
	Type     string   `json:"type"`
	Options  []string `json:"options"`
	Evidence Evidence `json:"evidence"`
}

// Network is a configured interface or connection.
type Network struct {
	Name      string   `json:"name"`
	Manager   string   `json:"manager"` // ifupdown, systemd-networkd, netplan, NetworkManager, ifcfg, wicked, dhcpcd
	Kind      string   `json:"kind"`    // ethernet, bond, bridge, vlan, …; empty where nothing says
	Method    string   `json:"method"`  // static, dhcp, …
	Auto      bool     `json:"auto"`    // comes up when the machine does
	Addresses []string `json:"addresses"`
	Gateway   string   `json:"gateway"`
	Routes    []string `json:"routes"`  // "10.0.0.0/8 via 10.1.0.1", and rules as `ip rule` takes them
	Members   []string `json:"members"` // of a bond or bridge; what a vlan stands on
	Master    string   `json:"master"`  // the bond or bridge that it is a member of
	DNS       []string `json:"dns"`
	Search    []string `json:"search"` // domains
	Evidence  Evidence `json:"evidence"`
}

// Setting is a key and its value.
type Setting struct {
	Key      string   `json:"key"`
	Value    string   `json:"value"`
	Evidence Evidence `json:"evidence"`
}

// Fact is a setting of the machine that has no list of its own. Its area says
// what it is a setting of: selinux, apparmor, crypto-policy, dns, boot, ….
type Fact struct {
	Area     string   `json:"area"`
	Key      string   `json:"key"`
	Value    string   `json:"value"`
	Evidence Evidence `json:"evidence"`
}

// Firewall is a firewall that is set up on the machine.
type Firewall struct {
	Kind     string   `json:"kind"` // nftables, iptables, ip6tables, ufw, firewalld, SuSEfirewall2, shorewall, csf
	Enabled  bool     `json:"enabled"`
	Rules    int      `json:"rules"`
	Entries  []string `json:"entries"` // the rules in the firewall's own words; the first 200
	Evidence Evidence `json:"evidence"`
}

// Database is a database cluster found on disk or an engine that is installed.
type Database struct {
	Engine      string   `json:"engine"` // postgresql, mariadb, mysql, redis, …
	Version     string   `json:"version"`
	DataVersion string   `json:"data_version"` // what the data directory itself states; empty where it does not, or is closed
	Name        string   `json:"name"`         // of the cluster
	Directory   string   `json:"directory"`
	Port        int      `json:"port"` // 0 where unknown
	Package     string   `json:"package"`
	Databases   []string `json:"databases,omitzero"` // names of those in it that are not the server's own; absent where its files do not say
	Evidence    Evidence `json:"evidence"`
}

// WebServer is a web server and the sites it serves.
type WebServer struct {
	Kind    string   `json:"kind"` // apache, nginx, lighttpd, caddy, haproxy, tomcat
	Package string   `json:"package"`
	Modules []string `json:"modules"` // enabled by link
	Sites   []Site   `json:"sites"`
}

// Site is one virtual host.
type Site struct {
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases"` // other names; tomcat's contexts
	Root     string   `json:"root"`
	Proxy    string   `json:"proxy"` // what it passes requests on to, if anything
	Listen   []string `json:"listen"`
	TLS      bool     `json:"tls"`
	Evidence Evidence `json:"evidence"`
}

// Certificate is an X.509 certificate that the machine has for itself or was
// given; those that its distribution trusts are not among them.
type Certificate struct {
	Path       string     `json:"path"`
	Subject    string     `json:"subject"`
	Names      []string   `json:"names"` // that it is good for: host names and addresses
	Issuer     string     `json:"issuer"`
	NotBefore  string     `json:"not_before"` // 2026-11-21T00:00:00Z
	NotAfter   string     `json:"not_after"`
	SelfSigned bool       `json:"self_signed"`
	Authority  bool       `json:"authority"` // may sign others
	Key        string     `json:"key"`       // path of its private key, where one is found; never what is in it
	KeyFits    string     `json:"key_fits"`  // yes or no: whether it is the certificate's; empty where it could not be read, is encrypted, or is but a guess
	UsedBy     []Evidence `json:"used_by"`   // configuration that names it
}

// Runtime is a language's runtime that is installed.
type Runtime struct {
	Language string   `json:"language"` // php, python, node, java, ruby, perl, go, dotnet
	Version  string   `json:"version"`
	Package  string   `json:"package"` // empty where it did not come as one
	Path     string   `json:"path"`
	Uses     []string `json:"uses"`    // ways it is run: php's SAPIs
	Modules  []string `json:"modules"` // that packages or people added and that are on
	Evidence Evidence `json:"evidence"`
}

// Software was installed past the package manager of the system.
type Software struct {
	Manager  string   `json:"manager"` // pip, npm, gem, cpan, cargo, snap, flatpak, venv, or files
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Path     string   `json:"path"`
	Evidence Evidence `json:"evidence"`
}

// Container is a thing of a container engine.
type Container struct {
	Engine   string   `json:"engine"` // docker, podman, lxc, …
	Kind     string   `json:"kind"`   // container, image, volume, compose, unit
	Name     string   `json:"name"`
	Image    string   `json:"image"`
	Evidence Evidence `json:"evidence"`
}

// Program is a program or library that no package owns, or a file that runs with
// more rights than those of who runs it, whoever owns it.
type Program struct {
	Path         string `json:"path"`
	Package      string `json:"package"` // owner, if any
	Mode         string `json:"mode"`    // octal: 4755
	Owner        string `json:"owner"`   // names by the machine's own passwd
	Group        string `json:"group"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`         // of what no package owns; empty where too large to be read
	Link         string `json:"link,omitempty"` // where it leads
	Capabilities bool   `json:"capabilities"`   // it has capabilities of its own
	Privileged   bool   `json:"privileged"`     // it has setuid, setgid or capabilities
	Given        bool   `json:"-"`              // its rpm's header has no capabilities for it: somebody gave it those it has
	Changed      bool   `json:"changed"`        // its content is not what its package has; for rpm, or its mode
}

// Secret is where a secret stands, and why it is taken for one; never what it is.
type Secret struct {
	Kind     string   `json:"kind"` // private key, password digest, password, token; closed, place or unread where no line is named
	Evidence Evidence `json:"evidence"`
}

// The kinds of secrets that are files as a whole.
const (
	SecretClosed = "closed" // others may not read it, or may not pass a folder above it
	SecretPlace  = "place"  // what is kept there is secret
	SecretUnread = "unread" // it is too big to be searched
)

// FindingSeverity grades a finding; whether it stops a migration is apart.
type FindingSeverity string

// The severities, worst first.
const (
	High   FindingSeverity = "high"
	Medium FindingSeverity = "medium"
	Low    FindingSeverity = "low"
	Info   FindingSeverity = "info"
)

// Finding is one thing that a person should know before the machine moves.
type Finding struct {
	Key          string          `json:"key"` // stable per kind of finding: ssh.root-login
	Severity     FindingSeverity `json:"severity"`
	Inhibitor    bool            `json:"inhibitor"`
	Title        string          `json:"title"`
	Summary      string          `json:"summary"`
	Remediations []Remediation   `json:"remediations"`
	Related      []Resource      `json:"related"`
	Evidence     []Evidence      `json:"evidence"`
}

// JoinTitles is the title of two findings that say the same of different things, each
// "THING: what is said".
func JoinTitles(a, b string) string {
	i, j := strings.LastIndex(a, ": "), strings.LastIndex(b, ": ")
	if i < 0 || j < 0 || a[i:] != b[j:] || slices.Contains(strings.Split(a[:i], ", "), b[:j]) {
		return a
	}
	return a[:i] + ", " + b[:j] + a[i:]
}

// Remediation is what to do about a finding.
type Remediation struct {
	Type string `json:"type"` // hint or command
	Text string `json:"text"`
	// BeforeData is a command that runs as it stands on the target: once it has the role,
	// and before it has the data.
	BeforeData bool `json:"before_data,omitempty"`
	// AfterData is one for the target once it has the data.
	AfterData bool `json:"after_data,omitempty"`
}

// Resource is a thing that a finding is about.
type Resource struct {
	Scheme string `json:"scheme"` // package, file, service, user, group, repository, database, mount
	Name   string `json:"name"`
}

// Evidence is where a fact was read; Line is 0 where the whole file is meant.
type Evidence struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// SourceState is how the reading of one source of facts ended.
type SourceState string

// The states of a source; nothing is ever silently empty.
const (
	SourceOK         SourceState = "ok"
	SourceAbsent     SourceState = "absent"
	SourceUnreadable SourceState = "unreadable"
	SourceCorrupt    SourceState = "corrupt"
)

// Source is a place where facts were looked for.
type Source struct {
	What   string      `json:"what"` // packages.dpkg, units.systemd, …
	State  SourceState `json:"state"`
	Detail string      `json:"detail"`
}

// Running is what only a machine that runs can tell. Two assessments of one
// machine, one of its disk and one of it running, differ in this alone. It has
// nothing that changes from one moment to the next, such as process ids.
type Running struct {
	Kernel    string            `json:"kernel"`          // release of the kernel that runs
	BootedAt  string            `json:"booted_at"`       // RFC 3339, UTC; empty where unknown
	SELinux   string            `json:"selinux"`         // enforcing, permissive, disabled
	AppArmor  string            `json:"apparmor"`        // enabled, disabled
	Draws     []int             `json:"draws,omitempty"` // the first and the last port of those that the kernel gives to who asks for none in particular
	Sockets   []Socket          `json:"sockets"`
	Units     []RunningUnit     `json:"units"`
	Mounts    []Mount           `json:"mounts"` // in use, the kernel's own left out
	Modules   []string          `json:"modules"`
	Databases []RunningDatabase `json:"databases"`
	Sources   []Source          `json:"sources"`
}

// Socket is a place where the machine listens.
type Socket struct {
	Protocol string `json:"protocol"` // tcp, tcp6, udp, udp6
	Address  string `json:"address"`  // 0.0.0.0 and :: are all
	Port     int    `json:"port"`
	Program  string `json:"program"` // name of the process; empty where it could not be found out
	Path     string `json:"path"`    // of its executable
	Unit     string `json:"unit"`    // that it belongs to
	Package  string `json:"package"` // that the unit is from; empty where none owns it
	// Drawn is a port of the kernel's own lock manager of NFS (nlockmgr), which is given
	// one as it starts.
	Drawn bool `json:"drawn,omitempty"`
}

// RunningUnit is a service or timer that is active, or a unit that failed.
type RunningUnit struct {
	Name  string `json:"name"`
	State string `json:"state"` // active, activating, failed, …
	Sub   string `json:"sub"`   // running, exited, …
}

// RunningDatabase is a database server that runs.
type RunningDatabase struct {
	Engine   string `json:"engine"`
	Version  string `json:"version"`  // of the package that the program is from; empty where unknown
	Path     string `json:"path"`     // of its executable
	Package  string `json:"package"`  // that it is from
	Replaced bool   `json:"replaced"` // the program on disk is another one by now: it needs a restart
}

// KeyFiles are where sshd looks for the user's keys by itself.
func (u User) KeyFiles() []string {
	home := strings.TrimPrefix(path.Clean("/"+u.Home), "/")
	if home == "" || !fs.ValidPath(home) {
		return nil
	}
	return []string{path.Join(home, ".ssh/authorized_keys"), path.Join(home, ".ssh/authorized_keys2")}
}

// LeadsTo is the path to which a link at a path leads, or a name that the file there
// has of another: one that is not absolute begins at its folder.
func LeadsTo(file, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(path.Dir(file), name)
}

// hashes are the algorithms of the digests that package managers keep.
var hashes = []crypto.Hash{crypto.MD5, crypto.SHA1, crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256, crypto.SHA3_512}

// ShippedAs reports whether a text is the file as its package has it.
func (f ConfigFile) ShippedAs(text []byte) bool {
	for _, h := range hashes {
		if !h.Available() {
			continue
		}
		digest := h.New()
		digest.Write(text)
		if slices.Contains(f.Shipped, strings.ToLower(h.String())+":"+hex.EncodeToString(digest.Sum(nil))) {
			return true
		}
	}
	return false
}

// Sites are those of all web servers.
func (a *Assessment) Sites() []Site {
	return sliced.FlatMap(a.WebServers, func(w WebServer) []Site { return w.Sites })
}

// RequireFingerprint is ErrNoFingerprint where the machine has none, and says
// why where it could not be read.
func (a *Assessment) RequireFingerprint() error {
	if a.Fingerprint != "" {
		return nil
	}
	for _, s := range a.Sources {
		if strings.HasPrefix(s.What, "identity.") && (s.State == SourceUnreadable || s.State == SourceCorrupt) {
			return fmt.Errorf("the machine's identity can't be read: %s: repeat as root, or repair the file", s.Detail)
		}
	}
	return ErrNoFingerprint
}

// ErrNoFingerprint means that a machine has no identity of its own.
var ErrNoFingerprint = errors.New("the machine has no machine-id, so no fingerprint can be made: " +
	"run systemd-machine-id-setup on it (or `systemd-machine-id-setup --root=DIR` on its disk), then repeat")
