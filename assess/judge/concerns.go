package judge

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/visible"
)

// factCheck is a finding about facts that match.
type factCheck struct {
	area       string
	key, value *lazyregexp.Regexp // nil matches all

	finding, title, summary, hint string
	severity                      assess.FindingSeverity
}

// factChecks are facts that a person must know of before a move.
var factChecks = []factCheck{
	{
		"selinux", lazyregexp.Whole("SELINUX"), lazyregexp.Whole("enforcing"), "security.selinux", "SELinux is enforcing", "What a service may touch is decided by the policy too: one that runs here may be refused on a target with another policy, and is less confined on one without.",
		"Try the services on the target with its policy permissive first, and read its audit log.", assess.Low,
	},
	{
		"selinux", lazyregexp.Whole("module|boolean|context|port|user|login|interface"), nil, "security.selinux-customised", "SELinux was adapted on this machine", "The policy's own changes are not carried over:",
		"List them with semanage export and semodule -l, and repeat on the target what is still needed.", assess.Medium,
	},
	{
		"apparmor", nil, nil, "security.apparmor-customised", "AppArmor was adapted on this machine", "Profiles were written, changed, disabled or set to complain:",
		"See which of the profiles the target has, and repeat the change there.", assess.Low,
	},
	{
		"crypto-policy", lazyregexp.Whole("policy"), lazyregexp.Whole("LEGACY.*|FUTURE.*|FIPS.*|DEFAULT:.+|NEXT.*"), "security.crypto-policy", "The system's crypto policy is not the default", "What old peers can still connect with depends on it:",
		"Set the same policy on the target, or bring the peers up to date.", assess.Medium,
	},
	{"crypto-policy", lazyregexp.Whole("own policy"), nil, "security.crypto-policy", "The system's crypto policy is not the default", "A policy was written here:", "Set the same policy on the target, or bring the peers up to date.", assess.Medium},
	{
		"directory", lazyregexp.Whole("passwd|group|sudoers"), lazyregexp.New(`\b(sss|ldap|nis|nisplus|winbind|vas\d?|lsass|centrifydc|db)\b`), "accounts.directory", "Users come from a directory", "Accounts that are not in /etc/passwd are known by:",
		"Connect the target to the directory before services start; ids of files belong to its users.", assess.Medium,
	},
	{
		"directory", lazyregexp.Whole("keytab|samba secrets|ipa client|realmd|pbis|centrify|vas"), nil, "accounts.joined", "The machine belongs to a domain", "It has keys by which the domain knows it, and which are not carried over:",
		"Join the target to the domain anew, and remove the old machine from it.", assess.Medium,
	},
	{
		"pam", lazyregexp.Whole(`pam_(google_authenticator|duo|radius_auth|yubico|u2f|oath|pkcs11|krb5|winbind|centrifydc|vas\d?|lsass|mount|otpw|script|python|mysql|pgsql|abl)\.so`), nil, "accounts.pam-module-added", "Log-ins pass a module beside the usual ones", "Where PAM can't load a module that must succeed, nobody can log in:",
		"Install and set it up on the target before its PAM configuration names it; keep a session open meanwhile.", assess.Medium,
	},
	{"exports", nil, nil, "mounts.exported", "Folders are exported to other machines", "NFS clients depend on this machine:", "Export them on the target, and move the clients.", assess.Medium},
	{"storage", lazyregexp.Whole("iscsi"), nil, "mounts.iscsi", "Disks come over iSCSI", "The machine logs in to:", "Give the target's initiator access, and never mount a disk on both machines.", assess.Medium},
	{"storage", lazyregexp.Whole("multipath"), nil, "mounts.multipath", "Disks are reached on several paths", "multipath joins the paths.", "Set up multipath on the target before its disks are used.", assess.Medium},
	{"storage", lazyregexp.Whole("(?i)array"), nil, "mounts.raid", "Disks form a RAID", "mdadm knows:", "Lay out the target's disks accordingly.", assess.Low},
	{"storage", lazyregexp.Whole("lvm"), nil, "mounts.lvm", "Disks are divided by LVM", "Its volumes are:", "Lay out the target's disks accordingly.", assess.Info},
	{"modules", lazyregexp.Whole("options|install|blacklist|alias"), nil, "kernel.module-settings", "Kernel modules have settings of their own", "The kernel's modules may have other names and options on the target:", "See for each whether the target's kernel takes it.", assess.Low},
	{"sudo", nil, lazyregexp.New(`NOPASSWD`), "accounts.sudo-without-password", "sudo asks some for no password", "These may act without one:", "See whether that is still wanted.", assess.Low},
	{"systemd", lazyregexp.Whole("linger"), nil, "services.linger", "Services of users run without them", "systemd keeps what these users start:", "Bring the units of the users' homes, and enable lingering on the target.", assess.Low},
	{"firewall", lazyregexp.Whole("firewalld default zone"), lazyregexp.Whole("(?:block|dmz|drop|external|home|internal|trusted|work)"), "firewall.default-zone", "The firewall's default zone was chosen", "Interfaces without a zone are in", "Choose the same on the target.", assess.Low},
}

func (c factCheck) matches(f assess.Fact) bool {
	return c.area == f.Area && (c.key == nil || c.key.MatchString(f.Key)) && (c.value == nil || c.value.MatchString(f.Value))
}

// findFacts makes one finding of all facts that a check matches.
func findFacts(r *assess.Reading) {
	for _, c := range factChecks {
		var said []string
		f := assess.Finding{Key: c.finding, Severity: c.severity, Title: c.title, Remediations: assess.Hints(c.hint)}
		for _, fact := range r.A.Facts {
			if c.matches(fact) {
				said = append(said, strings.TrimSpace(fact.Key+" "+fact.Value))
				f.Evidence, f.Related = append(f.Evidence, fact.Evidence), append(f.Related, assess.Resource{Scheme: "file", Name: fact.Evidence.Path})
			}
		}
		if len(said) == 0 {
			continue
		}
		if f.Summary = c.summary; !strings.HasSuffix(c.summary, ".") {
			f.Summary += " " + assess.Some(said) + "."
		}
		f.Evidence, f.Related = f.Evidence[:min(len(f.Evidence), 20)], slices.Compact(f.Related)
		r.Finding(f)
	}
}

// findKernelArguments finds what people start the kernel with.
func findKernelArguments(r *assess.Reading) {
	for _, f := range r.Facts("boot") {
		if !strings.HasPrefix(f.Key, "GRUB_CMDLINE") && f.Key != "arguments" {
			continue
		}
		if own := ownArguments(f.Value); len(own) > 0 {
			r.Finding(assess.Finding{
				Key: "kernel.arguments", Severity: assess.Low, Title: "The kernel is started with arguments of its own", Summary: "Beside the usual ones there are " + assess.Some(own) + "; they are not carried over.",
				Remediations: assess.Hints("See for each whether the target's kernel has it and needs it."), Related: []assess.Resource{{Scheme: "file", Name: f.Evidence.Path}}, Evidence: []assess.Evidence{f.Evidence},
			})
		}
	}
}

// soon is how long before its end a certificate is worth a word.
const soon = 30 * 24 * time.Hour

// findCertificates finds certificates that have ended or are about to, and
// authorities that people trust.
func findCertificates(r *assess.Reading) {
	checks := []struct {
		match func(assess.Certificate, time.Time) bool
		f     assess.Finding
	}{
		{func(_ assess.Certificate, end time.Time) bool { return end.Before(r.Options.Now) }, assess.Finding{
			Key: "certificates.expired", Severity: assess.High, Title: "Certificates have ended", Remediations: assess.Hints("Renew them before the move, or leave them behind where nothing uses them."),
		}},
		{func(_ assess.Certificate, end time.Time) bool {
			return !end.Before(r.Options.Now) && end.Before(r.Options.Now.Add(soon))
		}, assess.Finding{
			Key: "certificates.expiring", Severity: assess.Medium, Title: "Certificates end soon", Remediations: assess.Hints("Renew them on the target; see that what renews them moves too."),
		}},
		{func(c assess.Certificate, _ time.Time) bool {
			return strings.HasPrefix(c.Path, "/usr/local/share/ca-certificates/") || strings.HasSuffix(path.Dir(c.Path), "/anchors")
		}, assess.Finding{
			Key: "certificates.own-authority", Severity: assess.Medium, Title: "The machine trusts authorities of its own", Remediations: assess.Hints("Add them to what the target trusts: update-ca-certificates or update-ca-trust."),
		}},
	}
	for _, check := range checks {
		var said []string
		f := check.f
		for _, c := range r.A.Certificates {
			if end, err := time.Parse(time.RFC3339, c.NotAfter); err == nil && check.match(c, end) {
				said = append(said, fmt.Sprintf("%s (%s) until %s", c.Path, c.Subject, end.Format(time.DateOnly)))
				f.Evidence, f.Related = append(append(f.Evidence, assess.Evidence{Path: c.Path, Line: 0}), c.UsedBy...), append(f.Related, assess.Resource{Scheme: "file", Name: c.Path})
			}
		}
		if len(said) > 0 {
			f.Summary = assess.Some(said) + "."
			r.Finding(f)
		}
	}
}

// findJobs finds jobs that are closed to others, and those that wait to run
// once.
func findJobs(r *assess.Reading) {
	once := assess.Finding{Key: "cron.once", Severity: assess.Low, Title: "Jobs wait to run once", Remediations: assess.Hints("Enter them on the target anew, if they are still wanted.")}
	closed := assess.Finding{Key: "cron.closed", Severity: assess.Info, Title: "Tables of jobs are closed to others", Remediations: assess.Hints("Look at them on the machine: their commands are not in this document.")}
	for _, job := range r.A.Cron {
		switch {
		case strings.HasPrefix(job.Schedule, "at "):
			once.Evidence = append(once.Evidence, job.Evidence)
		case job.Hidden:
			closed.Evidence = append(closed.Evidence, job.Evidence)
		}
	}
	if n := len(once.Evidence); n > 0 {
		once.Summary = assess.Plural(n, "job") + " of at: none is carried over."
		r.Finding(once)
	}
	if n := len(closed.Evidence); n > 0 {
		closed.Summary = assess.Plural(n, "job") + " may hold what others should not read."
		r.Finding(closed)
	}
}

// installers are package managers beside the system's, and how what they
// installed is brought to another machine.
var installers = []struct{ name, what, hint string }{
	{"cargo", "Programs of Rust were installed by cargo", "Install them on the target by cargo, or use its packages."},
	{"cpan", "Modules of Perl were built from CPAN", "Use the target's packages where there are some; what was compiled must be built anew for its Perl."},
	{"flatpak", "Applications were installed by flatpak", "Install them on the target by flatpak."},
	{"gem", "Gems were installed past the package manager", "Install them on the target for its Ruby, in versions that it can run."},
	{"npm", "Modules of Node were installed by npm", "Install them on the target for its Node, in versions that it can run."},
	{"pip", "Packages of Python were installed by pip", "Install them on the target in a virtual environment: its own Python may refuse pip."},
	{"snap", "Applications were installed as snaps", "Install them on the target as snaps or packages, and move their data."},
	{"venv", "There are virtual environments of Python", "Make them anew on the target from their lists of requirements: they hold the old Python."},
}

func findSoftware(r *assess.Reading) {
	for _, manager := range installers {
		var names []string
		f := assess.Finding{Key: "software." + manager.name, Severity: assess.Medium, Title: manager.what, Remediations: assess.Hints(manager.hint)}
		for _, s := range r.A.Software {
			if s.Manager == manager.name {
				names = append(names, strings.TrimSpace(s.Name+" "+s.Version))
				f.Evidence, f.Related = append(f.Evidence, s.Evidence), append(f.Related, assess.Resource{Scheme: "file", Name: s.Path})
			}
		}
		if len(names) > 0 {
			f.Summary = assess.Some(names) + ": none of it is carried over."
			f.Evidence, f.Related = f.Evidence[:min(len(f.Evidence), 20)], f.Related[:min(len(f.Related), 50)]
			r.Finding(f)
		}
	}
}

// major is the part of an engine's version that decides whether a server takes
// data as they are.
func major(engine, version string) string {
	parts := strings.SplitN(version, ".", 3)
	if engine == "postgresql" && assess.CompareNatural(parts[0], "10") >= 0 {
		return parts[0]
	}
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// findDataVersions finds data that the installed server would not take as they
// are.
func findDataVersions(r *assess.Reading) {
	for _, d := range r.A.Databases {
		related := []assess.Resource{{Scheme: "database", Name: d.Engine + ":" + d.Directory}}
		if d.Engine == "slapd" && d.DataVersion == "hdb" {
			r.Finding(assess.Finding{
				Key: "database.slapd-backend", Severity: assess.High, Title: "OpenLDAP's data are of a form that newer versions dropped", Summary: fmt.Sprintf("%s is of the hdb or bdb backend, which OpenLDAP 2.5 and later don't have.", visible.Name(d.Directory)),
				Remediations: assess.Hints("Export with slapcat here, and load with slapadd into an mdb database on the target."), Related: related, Evidence: []assess.Evidence{d.Evidence},
			})
		}
		p := r.Installed(d.Package)
		if p == nil || !assess.PlainVersion.MatchString(d.DataVersion) || !slices.Contains([]string{"postgresql", "mariadb", "mysql"}, d.Engine) {
			continue
		}
		if has, says := major(d.Engine, pkgversion.Upstream(p.Version)), major(d.Engine, d.DataVersion); has != says {
			r.Finding(assess.Finding{
				Key: "database.data-version", Severity: assess.High, Title: "Data are of another version than the server", Summary: fmt.Sprintf("%s is of %s %s, and %s is %s.", visible.Name(d.Directory), d.Engine, visible.Name(d.DataVersion), visible.Name(p.Name), visible.Name(cmp.Or(pkgversion.Upstream(p.Version), p.Version))),
				Remediations: assess.Hints("Upgrade the data here first, or dump them with the version that wrote them."), Related: related, Evidence: []assess.Evidence{d.Evidence},
			})
		}
	}
}
