// Package judge says what of a machine matters for a move.
package judge

import (
	"cmp"
	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/packages"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/visible"
)

// Find judges what was read. Each check adds at most a few findings; what
// depends on where the machine goes is the planner's.
func Find(r *assess.Reading) {
	for _, check := range []func(*assess.Reading){
		findIdentity, findSupport, findTarget, findPackages, findOtherManagers, findOrigins, findConfiguration, findAccess, findVersionControl, findSSH,
		findDatabases, findMounts, findNetwork, findFirewall, findUnits, findOutside,
		findContainers, findAccounts, findFacts, findKernelArguments, findCertificates, findKeystores, findJobs, findSoftware,
		findDataVersions, findHazards, findUnread,
	} {
		check(r)
	}
}

func findIdentity(r *assess.Reading) {
	if r.A.Fingerprint != "" {
		return
	}
	r.Finding(found("identity.no-machine-id", "Neither /etc/svc/fingerprint nor a machine-id can be used, so this machine can't be told from another: it can be assessed, but not migrated, verified or licensed.",
		nil, assess.Evidence{Path: "/etc/machine-id", Line: 0}))
}

func findSupport(r *assess.Reading) {
	if !r.Known {
		r.Finding(found("release.unknown", fmt.Sprintf("os-release says %s; when its support ends is not known here.", r.A.Release),
			nil, assess.Evidence{Path: "/etc/os-release", Line: 0}))
		return
	}
	supported, known := r.Release.Supported(r.Options.Now)
	if known && !supported {
		r.Finding(assess.Finding{
			Key: "release.end-of-life", Severity: assess.High, Title: r.Release.Name + " is out of support",
			Summary:      fmt.Sprintf("The vendor's free support ended on %s: there are no security updates for everybody any more.", r.Release.EndOfLife),
			Remediations: assess.Hints("Move the machine to a release that is supported."), Evidence: []assess.Evidence{{Path: "/etc/os-release", Line: 0}},
		})
	}
}

// findTarget says what is known of the release that the machine is to move to,
// without asking the index.
func findTarget(r *assess.Reading) {
	if r.Options.Target == "" {
		return
	}
	target, ok := release.Lookup(r.Options.Target)
	if !ok {
		r.Finding(found("target.unknown", fmt.Sprintf("No release is called %q.", r.Options.Target), nil))
		return
	}
	r.Finding(JudgeTarget(r.A.Release, target, r.Options.Now)...)
}

// names of the packages that match.
func packageNames(all []assess.Package, match func(assess.Package) bool) []string {
	return sliced.Map(sliced.Filter(all, match), func(p assess.Package) string { return p.Name })
}

func findPackages(r *assess.Reading) {
	tell := func(key string, names []string, summary string) {
		if len(names) > 0 {
			r.Finding(found(key, summary, assess.Resources("package", names), assess.Evidence{Path: r.Book.Database}))
		}
	}
	held := packageNames(r.A.Packages, func(p assess.Package) bool { return p.Held })
	tell("packages.held", held, "Somebody keeps these from being updated: "+assess.Some(held)+". The reason is not on the machine.")
	unsettled := packageNames(r.Book.Unsettled, func(assess.Package) bool { return true })
	tell("packages.unsettled", unsettled, "dpkg did not finish with "+assess.Some(unsettled)+".")
	foreign := packageNames(r.A.Packages, func(p assess.Package) bool { return !packages.AnyArch(p.Arch) && p.Arch != r.A.System.Architecture })
	tell("packages.foreign-architecture", foreign, assess.Some(foreign)+" are not for "+r.A.System.Architecture+".")
	third := packageNames(r.A.Packages, func(p assess.Package) bool { return packages.FromOutside(r, p) })
	tell("packages.third-party", third, fmt.Sprintf("%s: their maintainers are not the distribution's own. Only the package's own word was looked at, not the archive it came from.", assess.Plural(len(third), "package")))
}

func findOrigins(r *assess.Reading) {
	g := gather("origins.third-party")
	for _, o := range r.ThirdParty() {
		g.Add(o.URI, o.Evidence)
	}
	slices.Sort(g.Said)
	g.Said = slices.Compact(g.Said)
	g.Related = assess.Resources("repository", g.Said)
	r.Finding(g.Tell("The machine also takes packages from " + assess.Some(g.Said) + ".")...)
}

func findConfiguration(r *assess.Reading) {
	for _, c := range []struct {
		state  assess.ConfigState
		key, s string
	}{
		{assess.ConfigChanged, "configuration.changed", "differ from what their packages shipped"},
		{assess.ConfigUnowned, "configuration.unowned", "are in /etc without belonging to a package"},
		{assess.ConfigMissing, "configuration.missing", "were shipped by packages and are gone"},
		{assess.ConfigUnreadable, "configuration.unreadable", "could not be compared"},
	} {
		g := gather(c.key)
		for _, f := range r.A.Configuration {
			if f.State == c.state && !f.Machine && f.MadeBy == "" {
				g.AddFile(f.Path, assess.Evidence{Path: f.Path})
			}
		}
		g.Evidence = few(g.Evidence)
		r.Finding(g.Tell(fmt.Sprintf("%s %s: %s.", assess.Plural(len(g.Said), "file"), c.s, assess.Some(g.Said)))...)
	}
}

// sshChecks are settings of sshd that matter for a move.
var sshChecks = []struct{ key, value, finding, summary string }{
	{"permitrootlogin", "yes", "ssh.root-login", "sshd lets root in with a password."},
	{"passwordauthentication", "yes", "ssh.password-authentication", "sshd takes passwords."},
	{"permitemptypasswords", "yes", "ssh.empty-passwords", "sshd lets in accounts without a password."},
}

func findSSH(r *assess.Reading) {
	for _, c := range sshChecks {
		if s, ok := sshd(r, c.key); ok && strings.EqualFold(s.Value, c.value) {
			r.Finding(found(c.finding, c.summary, []assess.Resource{{Scheme: "service", Name: "ssh"}}, s.Evidence))
		}
	}
}

func findDatabases(r *assess.Reading) {
	for _, d := range r.A.Databases {
		if d.Directory == "" {
			continue
		}
		title := strings.TrimSpace(fmt.Sprintf("Database %s %s", d.Engine, d.Version))
		r.Finding(assess.Finding{
			Key: "database." + d.Engine, Severity: assess.Medium, Title: title,
			Summary:      fmt.Sprintf("%s keeps its data in %s. A migration carries its configuration, never its data.", title, visible.Name(d.Directory)),
			Remediations: assess.Hints("Plan the move of the data apart: svc db plan --target RELEASE ranks the ways, svc data plan writes the scripts."), Related: []assess.Resource{{Scheme: "database", Name: d.Engine + ":" + d.Directory}}, Evidence: []assess.Evidence{d.Evidence},
		})
	}
}

// remoteTypes are file systems that live on other machines.
var remoteTypes = []string{"nfs", "nfs4", "cifs", "smbfs", "glusterfs", "ceph", "fuse.sshfs"}

func findMounts(r *assess.Reading) {
	for _, mount := range r.A.Mounts {
		related := []assess.Resource{{Scheme: "mount", Name: mount.Path}}
		switch {
		case slices.Contains(remoteTypes, mount.Type):
			r.Finding(found("mounts.remote", fmt.Sprintf("%s comes from %s (%s).", visible.Name(mount.Path), visible.Name(mount.Device), visible.Name(mount.Type)),
				related, mount.Evidence))
		case strings.HasPrefix(mount.Device, "/dev/mapper/"), strings.HasPrefix(mount.Device, "/dev/md"):
			r.Finding(found("mounts.volume", fmt.Sprintf("%s is on %s.", visible.Name(mount.Path), visible.Name(mount.Device)), related, mount.Evidence))
		}
	}
	if r.Seen.Encrypted {
		r.Finding(found("mounts.encrypted", "/etc/crypttab names encrypted volumes; their keys are not looked at.",
			nil, assess.Evidence{Path: "/etc/crypttab", Line: 0}))
	}
}

func findNetwork(r *assess.Reading) {
	for _, n := range r.A.Networks {
		if n.Method != assess.MethodStatic && n.Method != "manual" || len(n.Addresses) == 0 {
			continue
		}
		r.Finding(found("network.static", strings.TrimSpace(fmt.Sprintf("%s has %s by %s.", visible.Name(n.Name), assess.Some(n.Addresses), n.Manager)),
			[]assess.Resource{{Scheme: "file", Name: n.Evidence.Path}}, n.Evidence))
	}
	g := gather("network.composed")
	for _, n := range r.A.Networks {
		if slices.Contains([]string{assess.KindBond, assess.KindBridge, assess.KindVLAN, "team", "vrf"}, n.Kind) || len(n.Routes) > 0 {
			g.AddFile(n.Name, n.Evidence)
		}
	}
	r.Finding(g.Tell(assess.Some(g.Said) + ": none of it is carried over by itself.")...)
}

func findFirewall(r *assess.Reading) {
	for _, f := range r.A.Firewalls {
		state := "is not enabled"
		if f.Enabled {
			state = "is enabled"
		}
		r.Finding(assess.Finding{
			Key: "firewall." + f.Kind, Severity: assess.Info, Title: "A firewall is set up", Summary: fmt.Sprintf("%s has %s and %s.", f.Kind, assess.Plural(f.Rules, "rule"), state),
			Remediations: assess.Hints("Look whether the rules name interfaces or addresses that change."), Related: []assess.Resource{{Scheme: "file", Name: f.Evidence.Path}}, Evidence: []assess.Evidence{f.Evidence},
		})
	}
}

// unitChecks are kinds of services that matter for a move.
var unitChecks = []struct {
	match        func(assess.Unit) bool
	key, summary string
}{
	{
		func(u assess.Unit) bool {
			return u.Local && u.Manager == assess.ManagerSystemd && strings.HasPrefix(u.Path, "/etc/")
		},
		"services.local", "the units are carried over; the programs that they start are not looked at.",
	},
	{
		func(u assess.Unit) bool {
			return u.Local && u.Manager == assess.ManagerSystemd && u.Path != "" && !strings.HasPrefix(u.Path, "/etc/")
		},
		"services.outside", "the units came with software that no package brought, and are not carried over.",
	},
	{
		func(u assess.Unit) bool {
			return u.Local && (u.Manager == assess.ManagerSysV && strings.Contains(u.Path, "/init.d/") || u.Path == "/etc/inittab")
		},
		"services.init-scripts", "scripts are carried over, and most newer systems start them for a while yet, SLES and Leap 16 do not; entries of inittab are not.",
	},
	{
		func(u assess.Unit) bool {
			return u.Local && (u.Manager == assess.ManagerUpstart || u.Manager == assess.ManagerOpenRC)
		},
		"services.other-init", "nothing on a target with systemd reads them.",
	},
	{
		func(u assess.Unit) bool { return u.Manager == assess.ManagerXinetd || u.Manager == assess.ManagerInetd },
		"services.inetd", "newer releases have no inetd unless it is installed.",
	},
	{
		func(u assess.Unit) bool {
			return u.Manager == assess.ManagerSysV && u.State == assess.StateEnabled && !strings.Contains(u.Path, "/init.d/") && u.Path != "/etc/inittab"
		},
		"services.boot-script", "what it does was not looked at.",
	},
}

func findUnits(r *assess.Reading) {
	for _, c := range unitChecks {
		g := gather(c.key)
		for _, u := range slices.Concat(r.A.Services, r.A.Timers) {
			if u.State != assess.StateMasked && c.match(u) {
				g.Add(u.Name, assess.Evidence{Path: u.Path}, assess.Resource{Scheme: "service", Name: u.Name})
			}
		}
		r.Finding(g.Tell(assess.Some(g.Said) + ": " + c.summary)...)
	}
}

func findOutside(r *assess.Reading) {
	g := gather("software.outside")
	for _, file := range r.Seen.Outside {
		g.AddFile(file, assess.Evidence{Path: file})
	}
	g.Evidence = few(g.Evidence)
	r.Finding(g.Tell(assess.Some(g.Said) + ": what these are, and whether they run on the target, was not looked at.")...)
}

func findContainers(r *assess.Reading) {
	for _, c := range assess.ContainerFolders {
		if r.Seen.Containers[c.Engine] {
			r.Finding(assess.Finding{
				Key: "containers." + c.Engine, Severity: assess.Medium, Title: "Containers run here", Summary: fmt.Sprintf("%s keeps images and volumes in /%s%s; what is in them was not looked at.", c.Engine, c.Dir, contained(r, c.Engine)),
				Remediations: assess.Hints("Move volumes as data, and pull the images again."), Related: []assess.Resource{{Scheme: "file", Name: "/" + c.Dir}}, Evidence: []assess.Evidence{{Path: "/" + c.Dir, Line: 0}},
			})
		}
	}
	g := gather("containers.files")
	for _, c := range r.A.Containers {
		if c.Kind == "compose" || c.Kind == "unit" {
			g.AddFile("", c.Evidence)
		}
	}
	g.Related, g.Evidence = slices.Compact(g.Related), slices.Compact(g.Evidence)
	r.Finding(g.Tell(assess.Plural(len(g.Evidence), "file") + " of compose or podman start containers.")...)
	if r.Seen.Modules && r.Installed("dkms") != nil {
		r.Finding(found("kernel.modules", "dkms builds modules for each kernel; which ones still build was not tried.",
			[]assess.Resource{{Scheme: "package", Name: "dkms"}}, assess.Evidence{Path: "/var/lib/dkms", Line: 0}))
	}
}

// contained counts what an engine has, where that could be read.
func contained(r *assess.Reading, engine string) string {
	count := map[string]int{}
	for _, c := range r.A.Containers {
		if c.Engine == engine {
			count[c.Kind]++
		}
	}
	if len(count) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s, %s, %s", assess.Plural(count["container"], "container"), assess.Plural(count["image"], "image"), assess.Plural(count["volume"], "volume"))
}

func findAccounts(r *assess.Reading) {
	byID := map[int][]string{}
	for _, u := range r.A.Users {
		byID[u.UID] = append(byID[u.UID], u.Name)
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if names := byID[id]; len(names) > 1 {
			severity, title := assess.Medium, "Users share an id"
			if id == 0 {
				severity, title = assess.High, "More than one user is root"
			}
			r.Finding(assess.Finding{
				Key: "accounts.shared-id", Severity: severity, Title: title, Summary: fmt.Sprintf("%s all have the id %d.", visible.Names(names), id),
				Remediations: assess.Hints("Give each its own id before the move."), Related: assess.Resources("user", names), Evidence: []assess.Evidence{{Path: "/etc/passwd", Line: 0}},
			})
		}
	}
}

// everywhere are sources that every system has: one that lacks them was not
// read whole.
var everywhere = []string{"accounts.passwd", "accounts.group", "packages.dpkg-lists", "configuration.etc"}

// findUnread says what the assessment does not know.
func findUnread(r *assess.Reading) {
	var names, lists []string
	for _, s := range r.A.Sources {
		if list, ok := strings.CutPrefix(s.What, assess.ListPrefix); ok && s.State == assess.SourceUnreadable {
			number, _, _ := strings.Cut(s.Detail, " ")
			lists = append(lists, strings.TrimPrefix(number+" of "+list, "more of "))
			continue
		}
		if s.State == assess.SourceUnreadable || s.State == assess.SourceCorrupt || s.State == assess.SourceAbsent && (slices.Contains(everywhere, s.What) || s.What == r.Book.Source) {
			names = append(names, s.What)
		}
	}
	if len(names) > 0 {
		r.Finding(found("assessment.incomplete", "Nothing is known of "+assess.Some(names)+": an empty list there says nothing.",
			assess.Resources("file", names)))
	}
	if len(lists) > 0 {
		r.Finding(found("assessment.cut", "Left out: "+strings.Join(lists, ", ")+". Nothing moves what was left out, and nothing compares it.", nil))
	}
}

// findVersionControl says which history of /etc stays behind.
func findVersionControl(r *assess.Reading) {
	g := gather("configuration.version-control")
	for _, dir := range r.Versioned {
		g.Add(dir, assess.Evidence{Path: dir})
	}
	g.Evidence = few(g.Evidence)
	r.Finding(g.Tell(assess.Some(g.Said) + ": version control keeps every file as it was, shadow and private keys among them.")...)
}

// findAccess says which files are open to others than their packages meant.
func findAccess(r *assess.Reading) {
	changed := &r.Reaccessed
	if len(changed.Files) == 0 {
		return
	}
	slices.Sort(changed.How)
	slices.SortFunc(changed.Files, func(a, b assess.Evidence) int { return cmp.Compare(a.Path, b.Path) })
	r.Finding(found("configuration.access", fmt.Sprintf("%s: %s. What is in them is as shipped, so they are not carried over.", assess.Plural(len(changed.Files), "file"), assess.Some(changed.How)),
		nil, few(changed.Files)...))
}

// findOtherManagers says that more than one manager keeps book here: what the
// others have is not among the packages.
func findOtherManagers(r *assess.Reading) {
	for _, o := range r.Seen.Managers {
		r.Finding(found("packages.other-manager", fmt.Sprintf("/%s is a database of %s on a machine of %s: what it lists is not among the packages.", o.Database, o.Name, o.Own),
			[]assess.Resource{{Scheme: "file", Name: "/" + o.Database}}, assess.Evidence{Path: "/" + o.Database, Line: 0}))
	}
}

// sshd is the first value of an sshd setting, by its name in lower case.
func sshd(r *assess.Reading, key string) (assess.Setting, bool) {
	return sliced.Find(r.A.SSH, func(s assess.Setting) bool { return strings.EqualFold(s.Key, key) })
}

// usualArguments are what installers and distributions start a kernel with.
var usualArguments = []string{
	"ro", "rw", "quiet", "splash", "rhgb", "root", "crashkernel", "rd.lvm.lv", "rd.luks.uuid", "rd.md.uuid", "resume", "console", "net.ifnames", "biosdevname", "modules", "rootfstype",
	"lang", "keyboardtype", "keytable", "sysfont", "rd_no_luks", "rd_no_lvm", "rd_no_md", "rd_no_dm", "rd_lvm_lv", "rd_luks_uuid", "rd_md_uuid", "showopts", "mitigations", "video", "vga", "nomodeset", "rd.shell", "selinux", "security", "fips", "earlyprintk", "preempt", "boot", "cryptdm", "cryptroot", "rootdelay", "no_timer_check",
}

// ownArguments are the arguments of the kernel that people added.
func ownArguments(value string) (own []string) {
	for _, argument := range strings.Fields(value) {
		name, _, _ := strings.Cut(strings.ToLower(argument), "=")
		if !slices.Contains(usualArguments, name) && !strings.HasPrefix(argument, "/") && !strings.HasPrefix(argument, "$") && !strings.HasPrefix(argument, "(") {
			own = append(own, argument)
		}
	}
	return own
}
