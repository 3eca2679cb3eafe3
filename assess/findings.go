package assess

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/backend/release"
	"svc/backend/visible"
)

// find judges what was read. Each check adds at most a few findings; what
// depends on where the machine goes is the planner's.
func (m *machine) find() {
	for _, check := range []func(){
		m.findIdentity, m.findSupport, m.findTarget, m.findPackages, m.findOtherManagers, m.findOrigins, m.findConfiguration, m.findAccess, m.findVersionControl, m.findSSH,
		m.findDatabases, m.findMounts, m.findNetwork, m.findFirewall, m.findUnits, m.findOutside,
		m.findContainers, m.findAccounts, m.findFacts, m.findKernelArguments, m.findCertificates, m.findJobs, m.findSoftware,
		m.findDataVersions, m.findHazards, m.findUnread,
	} {
		check()
	}
}

// maxNamed bounds what a finding names; its summary counts all.
const maxNamed = 1000

func (m *machine) finding(f Finding) {
	f.Related, f.Evidence = f.Related[:min(len(f.Related), maxNamed)], f.Evidence[:min(len(f.Evidence), maxNamed)]
	m.a.Findings = append(m.a.Findings, f)
}

// hints and commands make remediations.
func hints(texts ...string) (r []Remediation) {
	for _, t := range texts {
		r = append(r, Remediation{"hint", t})
	}
	return r
}

func command(text string) Remediation { return Remediation{"command", text} }

// resources names things of one scheme.
func resources(scheme string, names []string) (r []Resource) {
	for _, n := range names {
		r = append(r, Resource{scheme, n})
	}
	return r
}

// some joins the first few names, and says how many more there are.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return visible.Names(names)
	}
	return fmt.Sprintf("%s and %d more", visible.Names(names[:most]), len(names)-most)
}

func (m *machine) findIdentity() {
	if m.a.Fingerprint != "" {
		return
	}
	m.finding(Finding{
		Key: "identity.no-machine-id", Severity: High, Title: "The machine has no identity",
		Summary:      "Neither /etc/svc/fingerprint nor a machine-id can be used, so this machine can't be told from another: it can be assessed, but not migrated, verified or licensed.",
		Remediations: []Remediation{command("systemd-machine-id-setup")}, Evidence: []Evidence{{"/etc/machine-id", 0}},
	})
}

func (m *machine) findSupport() {
	if !m.known {
		m.finding(Finding{
			Key: "release.unknown", Severity: Medium, Title: "The release is not known to svc",
			Summary: fmt.Sprintf("os-release says %s; when its support ends is not known here.", m.a.Release), Evidence: []Evidence{{"/etc/os-release", 0}},
		})
		return
	}
	supported, known := m.release.Supported(m.o.Now)
	if known && !supported {
		m.finding(Finding{
			Key: "release.end-of-life", Severity: High, Title: m.release.Name + " is out of support",
			Summary:      fmt.Sprintf("The vendor's free support ended on %s: there are no security updates for everybody any more.", m.release.EndOfLife),
			Remediations: hints("Move the machine to a release that is supported."), Evidence: []Evidence{{"/etc/os-release", 0}},
		})
	}
}

// findTarget says what is known of the release that the machine is to move to,
// without asking the index.
func (m *machine) findTarget() {
	if m.o.Target == "" {
		return
	}
	target, ok := release.Lookup(m.o.Target)
	if !ok {
		m.finding(Finding{
			Key: "target.unknown", Severity: High, Inhibitor: true, Title: "The target is not known", Summary: fmt.Sprintf("No release is called %q.", m.o.Target),
			Remediations: hints("Name the target by its slug, such as debian-13."),
		})
		return
	}
	for _, f := range JudgeTarget(m.a.Release, target, m.o.Now) {
		m.finding(f)
	}
}

// names of the packages that match.
func (m *machine) packageNames(match func(Package) bool) (names []string) {
	for _, p := range m.a.Packages {
		if match(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

func (m *machine) findPackages() {
	status := []Evidence{{m.dpkg.database, 0}}
	if held := m.packageNames(func(p Package) bool { return p.Held }); len(held) > 0 {
		m.finding(Finding{
			Key: "packages.held", Severity: Medium, Title: "Packages are held back", Summary: "Somebody keeps these from being updated: " + some(held) + ". The reason is not on the machine.",
			Remediations: hints("Find out why before the move; the hold is not carried over."), Related: resources("package", held), Evidence: status,
		})
	}
	if len(m.dpkg.unsettled) > 0 {
		var names []string
		for _, p := range m.dpkg.unsettled {
			names = append(names, p.Name)
		}
		m.finding(Finding{
			Key: "packages.unsettled", Severity: High, Title: "Packages are half installed", Summary: "dpkg did not finish with " + some(names) + ".",
			Remediations: []Remediation{command("dpkg --configure -a")}, Related: resources("package", names), Evidence: status,
		})
	}
	foreign := m.packageNames(func(p Package) bool { return !anyArch(p.Arch) && p.Arch != m.a.System.Architecture })
	if len(foreign) > 0 {
		m.finding(Finding{
			Key: "packages.foreign-architecture", Severity: Medium, Title: "Packages of another architecture", Summary: some(foreign) + " are not for " + m.a.System.Architecture + ".",
			Remediations: hints("Add the architecture on the target first, if they are still needed."), Related: resources("package", foreign), Evidence: status,
		})
	}
	third := m.packageNames(m.fromOutside)
	if len(third) > 0 {
		m.finding(Finding{
			Key: "packages.third-party", Severity: Medium, Title: "Packages may come from outside the distribution", Summary: fmt.Sprintf("%s: their maintainers are not the distribution's own. Only the package's own word was looked at, not the archive it came from.", plural(len(third), "package")),
			Remediations: hints("Decide for each whether the target's own package takes its place."), Related: resources("package", third), Evidence: status,
		})
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// thirdParty are the enabled origins that are not the distribution's.
func (m *machine) thirdParty() (origins []Origin) {
	for _, o := range m.a.Origins {
		if o.ThirdParty && o.Enabled {
			origins = append(origins, o)
		}
	}
	return origins
}

func (m *machine) findOrigins() {
	f := Finding{
		Key: "origins.third-party", Severity: Medium, Title: "Package archives from outside the distribution",
		Remediations: hints("See whether each has packages for the target release; they are not carried over by themselves."),
	}
	var names []string
	for _, o := range m.thirdParty() {
		names = append(names, o.URI)
		f.Evidence = append(f.Evidence, o.Evidence)
	}
	if len(names) > 0 {
		slices.Sort(names)
		names = slices.Compact(names)
		f.Summary, f.Related = "The machine also takes packages from "+some(names)+".", resources("repository", names)
		m.finding(f)
	}
}

func (m *machine) findConfiguration() {
	byState := map[ConfigState][]string{}
	for _, c := range m.a.Configuration {
		if !c.Machine && c.MadeBy == "" {
			byState[c.State] = append(byState[c.State], c.Path)
		}
	}
	for _, c := range []struct {
		state         ConfigState
		key, title, s string
		severity      FindingSeverity
	}{
		{ConfigChanged, "configuration.changed", "Configuration files of packages were edited", "differ from what their packages shipped", Low},
		{ConfigUnowned, "configuration.unowned", "Configuration that no package made", "are in /etc without belonging to a package", Low},
		{ConfigMissing, "configuration.missing", "Configuration files of packages were deleted", "were shipped by packages and are gone", Info},
		{ConfigUnreadable, "configuration.unreadable", "Configuration that could not be read", "could not be compared", Medium},
	} {
		files := byState[c.state]
		if len(files) == 0 {
			continue
		}
		f := Finding{Key: c.key, Severity: c.severity, Title: c.title, Summary: fmt.Sprintf("%s %s: %s.", plural(len(files), "file"), c.s, some(files)), Related: resources("file", files)}
		for _, file := range files[:min(len(files), 20)] {
			f.Evidence = append(f.Evidence, Evidence{file, 0})
		}
		m.finding(f)
	}
}

// sshChecks are settings of sshd that matter for a move.
var sshChecks = []struct {
	key, value, finding, title, summary, hint string
	severity                                  FindingSeverity
}{
	{"permitrootlogin", "yes", "ssh.root-login", "root may log in by password", "sshd lets root in with a password.", "Set PermitRootLogin to no or prohibit-password.", Medium},
	{"passwordauthentication", "yes", "ssh.password-authentication", "Passwords open ssh", "sshd takes passwords.", "Use keys alone where people can.", Low},
	{"permitemptypasswords", "yes", "ssh.empty-passwords", "Empty passwords open ssh", "sshd lets in accounts without a password.", "Set PermitEmptyPasswords to no.", High},
}

func (m *machine) findSSH() {
	for _, c := range sshChecks {
		if s, ok := m.sshd(c.key); ok && strings.EqualFold(s.Value, c.value) {
			m.finding(Finding{Key: c.finding, Severity: c.severity, Title: c.title, Summary: c.summary, Remediations: hints(c.hint), Related: []Resource{{"service", "ssh"}}, Evidence: []Evidence{s.Evidence}})
		}
	}
}

func (m *machine) findDatabases() {
	for _, d := range m.a.Databases {
		if d.Directory == "" {
			continue
		}
		title := strings.TrimSpace(fmt.Sprintf("Database %s %s", d.Engine, d.Version))
		m.finding(Finding{
			Key: "database." + d.Engine, Severity: Medium, Title: title,
			Summary:      fmt.Sprintf("%s keeps its data in %s. A migration carries its configuration, never its data.", title, visible.Name(d.Directory)),
			Remediations: hints("Plan the move of the data apart: svc db plan --target RELEASE ranks the ways, svc data plan writes the scripts."), Related: []Resource{{"database", d.Engine + ":" + d.Directory}}, Evidence: []Evidence{d.Evidence},
		})
	}
}

// remoteTypes are file systems that live on other machines.
var remoteTypes = []string{"nfs", "nfs4", "cifs", "smbfs", "glusterfs", "ceph", "fuse.sshfs"}

func (m *machine) findMounts() {
	for _, mount := range m.a.Mounts {
		related := []Resource{{"mount", mount.Path}}
		switch {
		case slices.Contains(remoteTypes, mount.Type):
			m.finding(Finding{
				Key: "mounts.remote", Severity: Medium, Title: "A file system of another machine is mounted", Summary: fmt.Sprintf("%s comes from %s (%s).", visible.Name(mount.Path), visible.Name(mount.Device), visible.Name(mount.Type)),
				Remediations: hints("Mount it on the target too, and let its server know the new machine."), Related: related, Evidence: []Evidence{mount.Evidence},
			})
		case strings.HasPrefix(mount.Device, "/dev/mapper/"), strings.HasPrefix(mount.Device, "/dev/md"):
			m.finding(Finding{
				Key: "mounts.volume", Severity: Low, Title: "A logical volume or RAID is mounted", Summary: fmt.Sprintf("%s is on %s.", visible.Name(mount.Path), visible.Name(mount.Device)),
				Remediations: hints("Lay out the target's disks accordingly."), Related: related, Evidence: []Evidence{mount.Evidence},
			})
		}
	}
	if text := m.peek("etc/crypttab"); hasSettings(text) {
		m.finding(Finding{
			Key: "mounts.encrypted", Severity: Medium, Title: "Disks are encrypted", Summary: "/etc/crypttab names encrypted volumes; their keys are not looked at.",
			Remediations: hints("Set up the target's encryption by hand."), Evidence: []Evidence{{"/etc/crypttab", 0}},
		})
	}
}

func (m *machine) findNetwork() {
	for _, n := range m.a.Networks {
		if n.Method != methodStatic && n.Method != "manual" || len(n.Addresses) == 0 {
			continue
		}
		m.finding(Finding{
			Key: "network.static", Severity: Low, Title: "The network is set up by hand", Summary: strings.TrimSpace(fmt.Sprintf("%s has %s by %s.", visible.Name(n.Name), some(n.Addresses), n.Manager)),
			Remediations: hints("Addresses and interface names belong to the machine: nothing of them is put in place by itself. Set up the target's network before it takes over."), Related: []Resource{{"file", n.Evidence.Path}}, Evidence: []Evidence{n.Evidence},
		})
	}
	f := Finding{Key: "network.composed", Severity: Medium, Title: "Interfaces are built of others, or have routes of their own", Remediations: hints("Build bonds, bridges and vlans on the target in the way of its network manager, and add the routes.")}
	var names []string
	for _, n := range m.a.Networks {
		if slices.Contains([]string{kindBond, kindBridge, kindVLAN, "team", "vrf"}, n.Kind) || len(n.Routes) > 0 {
			names = append(names, n.Name)
			f.Evidence = append(f.Evidence, n.Evidence)
			f.Related = append(f.Related, Resource{"file", n.Evidence.Path})
		}
	}
	if len(names) > 0 {
		f.Summary = some(names) + ": none of it is carried over by itself."
		m.finding(f)
	}
}

func (m *machine) findFirewall() {
	for _, f := range m.a.Firewalls {
		state := "is not enabled"
		if f.Enabled {
			state = "is enabled"
		}
		m.finding(Finding{
			Key: "firewall." + f.Kind, Severity: Info, Title: "A firewall is set up", Summary: fmt.Sprintf("%s has %s and %s.", f.Kind, plural(f.Rules, "rule"), state),
			Remediations: hints("Look whether the rules name interfaces or addresses that change."), Related: []Resource{{"file", f.Evidence.Path}}, Evidence: []Evidence{f.Evidence},
		})
	}
}

// unitChecks are kinds of services that matter for a move.
var unitChecks = []struct {
	match                     func(Unit) bool
	key, title, summary, hint string
	severity                  FindingSeverity
}{
	{
		func(u Unit) bool { return u.Local && u.Manager == managerSystemd && strings.HasPrefix(u.Path, "/etc/") },
		"services.local", "Services were written on this machine", "the units are carried over; the programs that they start are not looked at.", "See that the programs exist on the target.", Low,
	},
	{
		func(u Unit) bool {
			return u.Local && u.Manager == managerSystemd && u.Path != "" && !strings.HasPrefix(u.Path, "/etc/")
		},
		"services.outside", "Services have their units outside of /etc", "the units came with software that no package brought, and are not carried over.", "Install the software on the target, and enable the units.", Medium,
	},
	{
		func(u Unit) bool {
			return u.Local && (u.Manager == managerSysV && strings.Contains(u.Path, "/init.d/") || u.Path == "/etc/inittab")
		},
		"services.init-scripts", "Init scripts were written on this machine", "scripts are carried over, and most newer systems start them for a while yet, SLES and Leap 16 do not; entries of inittab are not.", "Write a unit for each.", Low,
	},
	{
		func(u Unit) bool { return u.Local && (u.Manager == managerUpstart || u.Manager == managerOpenRC) },
		"services.other-init", "Services were written for another init system", "nothing on a target with systemd reads them.", "Write a unit for each.", Medium,
	},
	{
		func(u Unit) bool { return u.Manager == managerXinetd || u.Manager == managerInetd },
		"services.inetd", "Services are started by inetd", "newer releases have no inetd unless it is installed.", "Use a socket unit of systemd, or install the server to run by itself.", Medium,
	},
	{
		func(u Unit) bool {
			return u.Manager == managerSysV && u.State == stateEnabled && !strings.Contains(u.Path, "/init.d/") && u.Path != "/etc/inittab"
		},
		"services.boot-script", "A script runs when the machine comes up", "what it does was not looked at.", "See what of it the target still needs, and make it a unit.", Medium,
	},
}

func (m *machine) findUnits() {
	for _, c := range unitChecks {
		f := Finding{Key: c.key, Severity: c.severity, Title: c.title, Remediations: hints(c.hint)}
		var names []string
		for _, u := range slices.Concat(m.a.Services, m.a.Timers) {
			if u.State != stateMasked && c.match(u) {
				names = append(names, u.Name)
				f.Evidence = append(f.Evidence, Evidence{u.Path, 0})
			}
		}
		if len(names) > 0 {
			f.Summary, f.Related = some(names)+": "+c.summary, resources("service", names)
			m.finding(f)
		}
	}
}

// outside are the places where software stands that no package manager knows.
var outside = []string{"opt", "usr/local/bin", "usr/local/sbin", "usr/local/lib", "usr/local/share", "usr/src"}

func (m *machine) findOutside() {
	var places []string
	f := Finding{Key: "software.outside", Severity: Medium, Title: "Software outside the package manager"}
	for _, dir := range outside {
		names, err := m.files(dir)
		if err != nil {
			continue
		}
		for _, name := range names {
			if file := "/" + path.Join(dir, name); m.dpkg.owned[file] == "" && !slices.Contains(usualLocal, file) {
				places = append(places, file)
				f.Evidence = append(f.Evidence, Evidence{file, 0})
			}
		}
	}
	if len(places) > 0 {
		f.Summary = some(places) + ": what these are, and whether they run on the target, was not looked at."
		f.Remediations, f.Related = hints("Install them on the target by the way they came."), resources("file", places)
		f.Evidence = f.Evidence[:min(len(f.Evidence), 20)]
		m.finding(f)
	}
}

// usualLocal stand on every fresh system.
var usualLocal = []string{"/usr/local/lib/python2.7", "/usr/local/lib/python3.7", "/usr/local/lib/python3.9", "/usr/local/lib/python3.11", "/usr/local/lib/python3.13", "/usr/local/share/man", "/usr/local/share/ca-certificates", "/usr/local/share/fonts", "/usr/local/share/xml", "/usr/local/share/sgml"}

// containers are where container engines keep what they run.
var containers = []struct{ engine, dir string }{
	{"docker", "var/lib/docker"}, {"podman", "var/lib/containers/storage"}, {"containerd", "var/lib/containerd"}, {"lxd", "var/lib/lxd"}, {"kubelet", "var/lib/kubelet"},
}

func (m *machine) findContainers() {
	for _, c := range containers {
		if m.exists(c.dir) {
			m.finding(Finding{
				Key: "containers." + c.engine, Severity: Medium, Title: "Containers run here", Summary: fmt.Sprintf("%s keeps images and volumes in /%s%s; what is in them was not looked at.", c.engine, c.dir, m.contained(c.engine)),
				Remediations: hints("Move volumes as data, and pull the images again."), Related: []Resource{{"file", "/" + c.dir}}, Evidence: []Evidence{{"/" + c.dir, 0}},
			})
		}
	}
	f := Finding{Key: "containers.files", Severity: Low, Title: "Containers are described by files", Remediations: hints("Bring the files and what they mount to the target, with an engine that reads them.")}
	for _, c := range m.a.Containers {
		if c.Kind == "compose" || c.Kind == "unit" {
			f.Related, f.Evidence = append(f.Related, Resource{"file", c.Evidence.Path}), append(f.Evidence, c.Evidence)
		}
	}
	if len(f.Evidence) > 0 {
		f.Related, f.Evidence = slices.Compact(f.Related), slices.Compact(f.Evidence)
		f.Summary = plural(len(f.Evidence), "file") + " of compose or podman start containers."
		m.finding(f)
	}
	if m.exists("var/lib/dkms") && m.installed("dkms") != nil {
		m.finding(Finding{
			Key: "kernel.modules", Severity: Medium, Title: "Kernel modules are built on the machine", Summary: "dkms builds modules for each kernel; which ones still build was not tried.",
			Remediations: hints("See whether the target's kernel has them."), Related: []Resource{{"package", "dkms"}}, Evidence: []Evidence{{"/var/lib/dkms", 0}},
		})
	}
}

// contained counts what an engine has, where that could be read.
func (m *machine) contained(engine string) string {
	count := map[string]int{}
	for _, c := range m.a.Containers {
		if c.Engine == engine {
			count[c.Kind]++
		}
	}
	if len(count) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s, %s, %s", plural(count["container"], "container"), plural(count["image"], "image"), plural(count["volume"], "volume"))
}

func (m *machine) findAccounts() {
	byID := map[int][]string{}
	for _, u := range m.a.Users {
		byID[u.UID] = append(byID[u.UID], u.Name)
	}
	for _, id := range sortedIDs(byID) {
		if names := byID[id]; len(names) > 1 {
			severity, title := Medium, "Users share an id"
			if id == 0 {
				severity, title = High, "More than one user is root"
			}
			m.finding(Finding{
				Key: "accounts.shared-id", Severity: severity, Title: title, Summary: fmt.Sprintf("%s all have the id %d.", visible.Names(names), id),
				Remediations: hints("Give each its own id before the move."), Related: resources("user", names), Evidence: []Evidence{{"/etc/passwd", 0}},
			})
		}
	}
}

func sortedIDs(m map[int][]string) []int {
	ids := make([]int, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// everywhere are sources that every system has: one that lacks them was not
// read whole.
var everywhere = []string{"accounts.passwd", "accounts.group", "packages.dpkg-lists", "configuration.etc"}

// findUnread says what the assessment does not know.
func (m *machine) findUnread() {
	var names []string
	f := Finding{Key: "assessment.incomplete", Severity: Medium, Title: "Not everything could be read"}
	for _, s := range m.a.Sources {
		if s.State == SourceUnreadable || s.State == SourceCorrupt || s.State == SourceAbsent && (slices.Contains(everywhere, s.What) || s.What == m.dpkg.source) {
			names = append(names, s.What)
		}
	}
	if len(names) > 0 {
		f.Summary = "Nothing is known of " + some(names) + ": an empty list there says nothing."
		f.Remediations, f.Related = hints("Repeat as root, or repair the files."), resources("file", names)
		m.finding(f)
	}
}
