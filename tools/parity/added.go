package parity

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/baseline"
	"svc/backend/sliced"
	"svc/tools/migration"
)

// rights are the programs that packages of the distributions have with setuid,
// setgid or capabilities. dpkg does not note modes, so that nothing else says it.
// Source: files with such modes in the packages of Debian 11 to 13, Ubuntu 20.04
// to 24.04 (lintian's elevated-privileges) and EL 7 to 10 (rpm's own modes).
var rights = strings.Fields(`
	arping at bsd-write bwrap cgexec chage chfn chrome-sandbox chsh clockdiff crontab dbus-daemon-launch-helper dotlockfile dumpcap exim4 expiry
	fping fusermount fusermount3 gpasswd gst-ptp-helper ksu locate lockfile mlocate mount mount.cifs mount.ecryptfs_private mount.nfs mtr mtr-packet
	netreport newgidmap newgrp newuidmap ntfs-3g pam_timestamp_check passwd ping ping4 ping6 pkexec plocate polkit-agent-helper-1 polkit-agent-helper
	postdrop postlog postqueue pppd procmail proxy_child sendmail sg snap-confine ssh-agent ssh-keysign staprun su sudo sudoedit suexec
	systemd-detect-virt traceroute6.iputils umount unix_chkpwd unix2_chkpwd userhelper usernetctl utempter vmware-user-suid-wrapper wall write
	xlock Xorg.wrap screen lxc-user-nic`)

// addition says of a dimension what accounts for a thing that the migrated
// machine has and the source does not: text for people, or "" where nothing does.
type addition func(additions, subject) string

// accounted are the dimensions in which what was added is looked for.
var accounted = map[string]addition{
	Packages:      additions.pkg,
	Services:      additions.unit,
	Timers:        additions.unit,
	Jobs:          additions.fromFile,
	Users:         additions.user,
	Groups:        additions.group,
	Sudoers:       additions.fromFile,
	Keys:          additions.none,
	Configuration: additions.file,
	Sysctl:        additions.fromFile,
	Modules:       additions.fromFile,
	PAM:           additions.pam,
	Archives:      additions.archive,
	Programs:      additions.program,
	Software:      additions.software,
	Containers:    additions.none,
}

// additions looks for what was added.
type additions struct {
	verification
	written map[string]bool // files that the plan has on the target, and folders that it makes
	loose   map[string]bool // files of /etc that nothing accounts for
}

// added names what the migrated machine has, and neither the source nor the plan
// nor its own packages account for. What follows from another addition is told
// with that one. accounts counts what its packages account for, by dimension.
func (v verification) added() (checks []Check, _ map[string]int) {
	a := additions{v, v.planFiles(), map[string]bool{}}
	known := sliced.SetOf(slices.Concat(inventory(v.Before, v.running), guarded(v.Before)), func(s subject) [2]string { return s.key() })
	accounts, explained := map[string]int{}, maps.Clone(accounted)
	if v.Before.Programs == nil {
		delete(explained, Programs)
	}
	now := slices.Concat(inventory(v.After, v.running), guarded(v.After), a.unprofiled())
	var changed []change
	for _, dimension := range slices.Concat([]string{Configuration}, dimensions) { // files say first which of them are loose
		explain := explained[dimension]
		for _, s := range now {
			if s.dimension != dimension || explain == nil || known[s.key()] {
				continue
			}
			known[s.key()] = true
			if explain(a, s) != "" {
				accounts[dimension]++
				continue
			}
			changed = append(changed, changeOf(s, "", orPresent(s.value), notAnnounced))
		}
	}
	changed = slices.Concat(changed, a.gained(), a.listeners())
	for _, c := range fold(edits(changed, v.Before, v.After)) {
		c.Added = true
		checks = append(checks, c.Check)
	}
	return checks, accounts
}

// planFiles are the files of the target of which the plan says something: what
// it brings, and what it leaves behind or to a person, at the place where the
// target has that.
func (v verification) planFiles() map[string]bool {
	files, moved := map[string]bool{}, map[string]string{}
	for _, row := range v.Plan.Configuration {
		files[row.From], files[row.To] = true, true
		if path.Base(row.From) == path.Base(row.To) {
			moved[path.Dir(row.From)] = path.Dir(row.To)
		}
	}
	for _, row := range v.Plan.Configuration {
		if to, ok := moved[path.Dir(row.From)]; ok && row.To == "" {
			files[path.Join(to, path.Base(row.From))] = true
		}
	}
	for file := range v.Written {
		files[file] = true
	}
	return files
}

// unprofiled are lines of PAM's common stacks that no package's profile has.
func (a additions) unprofiled() (all []subject) {
	if a.Base == nil {
		return nil
	}
	return gathered(sliced.Map(a.Base.Modules, func(m assess.Fact) item { return item{PAM, m.Key, m.Value, "", at(m.Evidence)} }))
}

// base is the baseline; where there is none, one that knows nothing.
func (v verification) base() *baseline.Baseline {
	return cmp.Or(v.Base, &baseline.Baseline{})
}

func (additions) none(subject) string { return "" }

// pkg accounts for a package that the plan names, that is a dependency, or that
// was there before the role was applied.
func (a additions) pkg(s subject) string {
	name, _, _ := strings.Cut(s.subject, ":")
	if a.named[name] {
		return "The plan has it."
	}
	p, there := sliced.Find(a.After.Packages, func(p assess.Package) bool { return p.Name == name })
	switch {
	case !there:
		return ""
	case p.Essential:
		return "It is essential to the release."
	case !p.Manual:
		return "The package manager installed it as a dependency."
	case !a.base().After(p):
		return "The target had it before the role was applied."
	}
	return ""
}

// unit accounts for units of packages, and for those of files that are
// accounted for.
func (a additions) unit(s subject) string {
	if slices.ContainsFunc(a.Plan.Services, func(row migration.Service) bool { return row.To == s.subject }) {
		return "The plan has it."
	}
	if s.pkg != "" {
		return "It is of the package " + s.pkg + "."
	}
	return a.fromFile(s)
}

// fromFile accounts for what stands in files that are accounted for.
func (a additions) fromFile(s subject) string {
	unaccounted := func(e assess.Evidence) bool {
		return !a.written[e.Path] && (!strings.HasPrefix(e.Path, "/etc/") || a.loose[e.Path])
	}
	if len(s.evidence) == 0 || slices.ContainsFunc(s.evidence, unaccounted) {
		return ""
	}
	return "It stands in a file that is accounted for."
}

// pam accounts for stacks; a line that no profile has is accounted for by none but a command
// of the plan.
func (a additions) pam(s subject) string {
	if path.IsAbs(s.subject) {
		return a.file(s)
	}
	if slices.ContainsFunc(a.base().Modules, func(f assess.Fact) bool { return f.Key == s.subject }) {
		if a.commanded(s) {
			return "A command of the plan makes it, once the target has the data."
		}
		return ""
	}
	return a.fromFile(s)
}

// commanded reports whether a command of the plan for the target names the file of a line and
// each of its words.
func (a additions) commanded(s subject) bool {
	for _, f := range a.Plan.Findings {
		for _, r := range f.Remediations {
			says := strings.ReplaceAll(r.Text, `\`, "")
			if (r.BeforeData || r.AfterData) && !slices.ContainsFunc(s.evidence, func(e assess.Evidence) bool { return !strings.Contains(says, e.Path) }) && !slices.ContainsFunc(strings.Fields(s.subject), func(word string) bool { return !strings.Contains(says, word) }) {
				return true
			}
		}
	}
	return false
}

// user accounts for a user that the plan makes, or that a package made and that
// nobody can log in as.
func (a additions) user(s subject) string {
	name, password := strings.CutSuffix(s.subject, passwordOf)
	if a.planUser(name) || password {
		return "The plan has it." // what a password lets in is looked at with the user
	}
	u, _ := userOf(a.After, name)
	if u.System && u.Locked && len(u.AuthorizedKeys) == 0 {
		u.Shell = "" // it lets nobody in: packages give their accounts one to be worked with
	}
	by := a.userOfPackage(name)
	switch {
	case by != "" && len(a.powers(u)) == 0:
		return by
	case a.scriptsUnknown() && u.System && len(a.powers(u)) == 0:
		return "It is of the system's range, and nobody can log in as it."
	}
	return ""
}

// scriptsUnknown reports whether what packages' scripts make can't be known.
func (a additions) scriptsUnknown() bool { return a.Base != nil && !a.Base.Scripts }

func (a additions) planUser(name string) bool {
	return slices.ContainsFunc(a.Plan.Accounts.Users, func(u assess.User) bool { return u.Name == name })
}

func userOf(a *assess.Assessment, name string) (assess.User, bool) {
	return sliced.Find(a.Users, func(u assess.User) bool { return u.Name == name })
}

// strong are groups whose members become root, or as good as root.
// Source: the groups' own documentation in Debian's base-passwd (users-and-groups),
// and that of Docker, LXD, libvirt and polkit.
var strong = []string{"root", "wheel", "sudo", "adm", "disk", "shadow", "kmem", "docker", "lxd", "libvirt"}

// powers are what lets somebody do more than a service: why an account matters.
func (a additions) powers(u assess.User) (all []string) {
	if u.UID == 0 && u.Name != "root" {
		all = append(all, "uid 0")
	}
	if shell := a.base().Users[u.Name].Shell; u.Shell != "" && logsIn(u.Shell) && u.Shell != shell && u.Name != "root" {
		all = append(all, "the shell "+u.Shell)
	}
	if u.Sudo && u.Name != "root" {
		all = append(all, "sudo")
	}
	for _, g := range u.Groups {
		if slices.Contains(strong, g) && u.Name != "root" {
			all = append(all, "the group "+g)
		}
	}
	return all
}

// shut are the shells that let nobody in.
var shut = []string{"nologin", "false", "true", "sync", "halt", "shutdown"}

func logsIn(shell string) bool { return !slices.Contains(shut, path.Base(shell)) }

// gained are the powers of users that both machines have, which the source's
// user lacks; and passwords that are set where the source has none.
func (a additions) gained() (all []change) {
	locks := passwordsKnown(a.Before) && passwordsKnown(a.After)
	for _, u := range a.After.Users {
		was, there := userOf(a.Before, u.Name)
		if !there || a.planUser(u.Name) && was.UID == u.UID {
			continue // a user of the plan is compared whole
		}
		had := a.powers(was)
		more := slices.DeleteFunc(a.powers(u), func(p string) bool { return slices.Contains(had, p) })
		if locks && was.Locked && !u.Locked {
			more = append(more, "a password")
		}
		if len(more) > 0 {
			all = append(all, changeOf(subject{item: account(u)}, account(was).value, account(u).value, fmt.Sprintf("On the target it has %s; on the source it has not.", strings.Join(more, ", "))))
		}
	}
	return all
}

// userOfPackage says which package makes a user on the target, if any does.
func (v verification) userOfPackage(name string) string {
	return madeBy(cmp.Or(v.base().Users[name].In, v.base().Named[name]))
}

// groupOfPackage says which package makes a group on the target, if any does.
func (v verification) groupOfPackage(name string) string {
	return madeBy(cmp.Or(v.base().Groups[name], v.base().Named[name]))
}

func madeBy(by string) string {
	if by == "" {
		return ""
	}
	return "A package makes it: " + by + "."
}

// group accounts for groups that the plan or a package makes.
func (a additions) group(s subject) string {
	if slices.ContainsFunc(a.Plan.Accounts.Groups, func(g assess.Group) bool { return g.Name == s.subject }) {
		return "The plan has it."
	}
	g := sliced.First(a.After.Groups, func(g assess.Group) bool { return g.Name == s.subject })
	by := a.groupOfPackage(s.subject)
	switch {
	case g.GID == 0 && g.Name != "root" || !g.System:
		return ""
	case by != "":
		return by
	case a.scriptsUnknown():
		return "It is of the system's range."
	}
	// a group that a package makes with its user, by a name of its own
	u, ok := sliced.Find(a.After.Users, func(u assess.User) bool { return u.GID == g.GID })
	if ok && a.user(subject{item: item{subject: u.Name}}) != "" {
		return "It is the group of a user that is accounted for."
	}
	return ""
}

// powerful are the places of /etc where a file lets somebody become root, run
// something, or change who is let in: what a package's script names is no
// account of them. A name that ends in / stands for all below.
// Source: the manual pages of ld.so, sudoers, crontab, systemd.unit, pam.d,
// modules-load.d, modprobe.d, udev, profile, apt.conf, sshd_config and dpkg.cfg.
var powerful = []string{
	"/etc/ld.so.preload", "/etc/ld.so.conf.d/", "/etc/sudoers", "/etc/sudoers.d/", "/etc/crontab", "/etc/cron.d/", "/etc/cron.hourly/", "/etc/cron.daily/",
	"/etc/cron.weekly/", "/etc/cron.monthly/", "/etc/systemd/", "/etc/init.d/", "/etc/pam.d/", "/etc/security/", "/etc/modules-load.d/", "/etc/modprobe.d/", "/etc/udev/",
	"/etc/profile.d/", "/etc/apt/", "/etc/ssh/", "/etc/dpkg/", "/etc/rc.local", "/etc/update-motd.d/", "/etc/polkit-1/", "/etc/dbus-1/", "/etc/sysctl.d/",
	"/etc/initramfs-tools/", "/etc/dracut.conf.d/", "/etc/NetworkManager/dispatcher.d/", "/etc/network/if-", "/etc/xdg/autostart/", "/etc/yum.repos.d/", "/etc/zypp/",
}

func under(places []string, file string) bool {
	return slices.ContainsFunc(places, func(p string) bool {
		return file == p || strings.HasPrefix(file, p) && strings.ContainsRune("/-", rune(p[len(p)-1]))
	})
}

// file accounts for a file of /etc that the plan or the role has there, or that
// a package's scripts make.
func (a additions) file(s subject) string {
	why := a.fileWhy(s)
	if why == "" {
		a.loose[s.subject] = true
	}
	return why
}

func (a additions) fileWhy(s subject) string {
	c := sliced.First(a.After.Configuration, func(c assess.ConfigFile) bool { return c.Path == s.subject })
	script := a.base().Named[s.subject]
	switch {
	case a.written[s.subject]:
		return "The plan has it."
	case slices.ContainsFunc(a.After.Packages, func(p assess.Package) bool { return p.Name == generated[s.subject] }):
		return "The package " + generated[s.subject] + " makes it."
	case c.State == assess.ConfigMissing:
		return "It is not there."
	case c.Machine && s.dimension == PAM:
		return "pam-auth-update makes it; what it says is compared with the profiles of packages."
	case c.Link != "" && a.brought(c):
		return "It is a link to a part of a package."
	case !under(powerful, s.subject):
		return madeBy(script)
	}
	return ""
}

// generated are files of powerful places that programs of packages make.
var generated = map[string]string{
	"/etc/apt/apt.conf.d/02autoremove-postgresql": "postgresql-common", // its pg_updateaptconfig
}

// brought reports whether a link leads to a file that a package brought, which
// is none of those that people made or changed.
func (a additions) brought(c assess.ConfigFile) bool {
	to := c.Link
	if !path.IsAbs(to) {
		to = path.Join(path.Dir(c.Path), to)
	}
	if !fs.ValidPath(strings.TrimPrefix(to, "/")) || strings.HasPrefix(to, "/usr/local/") || strings.HasPrefix(to, "/home/") {
		return false
	}
	if strings.HasPrefix(to, "/etc/") {
		return !slices.ContainsFunc(a.After.Configuration, func(f assess.ConfigFile) bool { return f.Path == to && f.State == assess.ConfigUnowned })
	}
	return strings.HasPrefix(to, "/usr/") || strings.HasPrefix(to, "/lib/") || strings.HasPrefix(to, "/run/") || to == "/dev/null"
}

// archive accounts for the release's own archives, and for those of the plan.
func (a additions) archive(s subject) string {
	if path.IsAbs(s.subject) {
		return a.file(s) // a key
	}
	for _, o := range a.After.Origins {
		if archiveOf(o).subject != s.subject {
			continue
		}
		if a.Plan.Archives != nil && slices.Contains(a.Plan.Archives.Enable, o.Suite) {
			return "The plan enables it."
		}
		if !o.ThirdParty && !o.Unchecked {
			return "It is the release's own."
		}
	}
	return ""
}

// program accounts for files with more rights that packages brought so.
func (a additions) program(s subject) string {
	switch p := sliced.First(a.After.Programs, func(p assess.Program) bool { return p.Path == s.subject }); {
	case p.Package == "":
		return ""
	case p.Changed:
		return "It is told as what was changed."
	case slices.ContainsFunc(a.Before.Programs, func(b assess.Program) bool {
		return b.Package != "" && b.Privileged && path.Base(b.Path) == path.Base(p.Path)
	}):
		return "The source's package has it too."
	case slices.Contains(rights, path.Base(p.Path)):
		return "Its package has it so."
	case a.base().Rights[p.Path] != "":
		return "Its package makes it so: " + a.base().Rights[p.Path] + "."
	}
	return ""
}

// packaged are the folders that packages alone fill with software.
var packaged = []string{"/usr/lib/", "/usr/share/", "/usr/lib64/"}

// software accounts for what came with packages.
func (a additions) software(s subject) string {
	if slices.ContainsFunc(s.evidence, func(e assess.Evidence) bool { return under(packaged, e.Path) }) {
		return "It stands where packages do."
	}
	return ""
}
