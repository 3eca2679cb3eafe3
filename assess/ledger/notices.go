package ledger

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/baseline"
	"svc/assess/host"
	"svc/backend/secret"
	"svc/backend/sliced"
	"svc/backend/visible"
)

// maxNotice bounds a file that is read for notices, in bytes; maxNotices how many
// there are of a kind.
const (
	maxNotice  = 4 << 20
	maxNotices = 200
)

// notices are the things of a machine that stand in no package and in no file that a
// move carries.
func notices(fsys host.FS, a *assess.Assessment) []Notice {
	all := []Notice{}
	for _, kind := range []func(host.FS, *assess.Assessment) []Notice{diversions, overrides, capabilities, alternatives, swap, mounts, options, tops, ageing, hostName, leases, lingering, once, stacks, history, images} {
		found := kind(fsys, a)
		slices.SortStableFunc(found, func(x, y Notice) int { return strings.Compare(x.Path, y.Path) })
		all = append(all, found[:min(len(found), maxNotices)]...)
	}
	return all
}

// lines are those of a file; none where it can't be read.
func lines(fsys host.FS, name string) []string {
	b, err := host.ReadFile(fsys, name, maxNotice)
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func diversions(fsys host.FS, _ *assess.Assessment) (all []Notice) {
	l := lines(fsys, "var/lib/dpkg/diversions")
	for i := 0; i+2 < len(l); i += 3 {
		if l[i+2] == ":" {
			all = append(all, Notice{
				"diversion", l[i], "a person had dpkg put the package's file to " + l[i+1], "repeat dpkg-divert --local on the target, and bring your own file, where it is still wanted",
				fmt.Sprintf(`dpkg-divert --local --rename --divert %[2]s --add %[1]s && rsync -a "$SOURCE_SSH":%[1]s %[1]s`, visible.Word(l[i]), visible.Word(l[i+1])),
			})
		}
	}
	return all
}

// overrides are modes and owners that a person set for good. Those that the scripts
// of packages set, the target's packages set too.
func overrides(fsys host.FS, _ *assess.Assessment) (all []Notice) {
	scripts := ""
	for _, l := range lines(fsys, "var/lib/dpkg/statoverride") {
		f := strings.SplitN(l, " ", 4)
		if len(f) != 4 {
			continue
		}
		if scripts == "" {
			scripts = calling(fsys, "statoverride")
		}
		if !strings.Contains(scripts, f[3]) {
			all = append(all, Notice{
				"statoverride", f[3], fmt.Sprintf("it is %s:%s %s by dpkg-statoverride, and no script of a package names it", f[0], f[1], f[2]), "repeat it on the target: dpkg-statoverride --add --update",
				fmt.Sprintf("dpkg-statoverride --force-all --update --add %s %s %s %s", visible.Word(f[0]), visible.Word(f[1]), visible.Word(f[2]), visible.Word(f[3])),
			})
		}
	}
	return all
}

// permissions are where SUSE's chkstat reads the rights that it gives to programs of packages;
// permissions.local is people's (permissions(5)).
var permissions = []string{"usr/share/permissions/permissions*", "usr/share/permissions/permissions.d/*", "etc/permissions", "etc/permissions.[eps]*"}

// permitted is what these say.
func permitted(fsys host.FS) string {
	var all strings.Builder
	all.WriteByte('\n')
	for _, pattern := range permissions {
		files, _ := fs.Glob(fsys, pattern) // the patterns are sound
		for _, file := range files {
			all.WriteString(strings.Join(lines(fsys, file), "\n"))
		}
	}
	return all.String()
}

// capabilities are those of programs of packages which somebody gave: no script of a package
// does, no rpm's header has them, and no list of SUSE's.
func capabilities(fsys host.FS, a *assess.Assessment) (all []Notice) {
	info, err := fsys.Stat("var/lib/dpkg/info")
	debian, scripts := err == nil && info.IsDir(), ""
	for _, p := range a.Programs {
		if !p.Capabilities || p.Package == "" || !debian && !p.Given {
			continue
		}
		switch {
		case scripts != "":
		case debian:
			scripts = calling(fsys, "setcap")
		default:
			scripts = permitted(fsys)
		}
		if name := visible.Word(p.Path); !strings.Contains(scripts, "/"+path.Base(p.Path)) {
			all = append(all, Notice{
				"capabilities", p.Path, "a program of " + p.Package + " that has rights of root's by setcap, which no package gives it", "give them to the target's program, whose updates take them away again: setcap",
				fmt.Sprintf(`[ ! -e %[1]s ] || { d=$(mktemp -d) && rsync -aX "$SOURCE_SSH":%[1]s "$d"/ && setcap "$(getcap "$d"/* | sed 's/^[^ ]* *=\{0,1\} *//')" %[1]s; r=$?; rm -rf "$d"; [ $r = 0 ]; }`, name),
			})
		}
	}
	return all
}

// maxScripts bounds the scripts that are looked into, in bytes.
const maxScripts = 32 << 20

// calling are the scripts of packages that name a program.
func calling(fsys host.FS, program string) string {
	var all strings.Builder
	all.WriteByte('\n')
	files, _ := fs.Glob(fsys, "var/lib/dpkg/info/*.postinst") // the pattern is sound
	for _, file := range files {
		b, err := host.ReadFile(fsys, file, maxNotice)
		if err == nil && strings.Contains(string(b), program) && all.Len()+len(b) < maxScripts {
			all.Write(b)
		}
	}
	return all.String()
}

// alternativeFolders are where update-alternatives keeps its records, of dpkg and of
// chkconfig.
var alternativeFolders = []string{"var/lib/dpkg/alternatives", "var/lib/alternatives"}

// alternatives are those that are set by hand, which the first line of a record
// says, and those that no package made.
func alternatives(fsys host.FS, _ *assess.Assessment) (all []Notice) {
	scripts := ""
	for _, dir := range alternativeFolders {
		entries, _ := fsys.ReadDir(dir) // one of them is not there
		if len(entries) > 0 && scripts == "" {
			scripts = calling(fsys, "update-alternatives")
		}
		for _, e := range entries {
			l := lines(fsys, path.Join(dir, e.Name()))
			if len(l) < 2 || strings.HasPrefix(l[1], "/run/") { // made anew with each start
				continue
			}
			to, _ := fsys.ReadLink(path.Join("etc/alternatives", e.Name()))
			name := visible.Word(e.Name())
			own, set := install(name, l, to), fmt.Sprintf("update-alternatives --set %s %s", name, visible.Word(to))
			switch {
			case own != "" && (l[0] != "manual" || !ofPackages(to)):
				all = append(all, Notice{"alternative", l[1], "a person made it, with update-alternatives --install; it leads to " + to, "make it on the target, when the program that it leads to is there", own})
			case l[0] == "manual" && (dir != alternativeFolders[0] || strings.Contains(scripts, e.Name())):
				if own != "" {
					set = own + " && " + set
				}
				all = append(all, Notice{"alternative", l[1], "a person chose " + to, "choose it on the target: update-alternatives --config " + e.Name(), set})
			}
		}
	}
	return all
}

// install is the command that makes an alternative anew, with a person's choices: after
// the mode and the master's link come a name and a link for each slave, an empty line
// and, for each choice, its path, its priority and a path for each slave. One that was
// set by hand is set again, as else the highest priority decides. chkconfig's have a family
// before the priority.
func install(name string, record []string, to string) string {
	end := slices.Index(record, "")
	if end < 2 {
		return ""
	}
	slaves := (end - 2) / 2
	commands, set := []string{}, ""
	for i := end + 1; i+1+slaves < len(record) && record[i] != ""; i += 2 + slaves {
		if ofPackages(record[i]) { // whose scripts had a helper make it
			continue
		}
		command := fmt.Sprintf("update-alternatives --install %s %s %s %s", visible.Word(record[1]), name, visible.Word(record[i]), visible.Word(record[i+1][strings.LastIndex(record[i+1], "@")+1:]))
		for n := range slaves {
			if file := record[i+2+n]; file != "" {
				command += fmt.Sprintf(" --slave %s %s %s", visible.Word(record[3+2*n]), visible.Word(record[2+2*n]), visible.Word(file))
			}
		}
		if record[0] == "manual" && record[i] == to {
			set = fmt.Sprintf("update-alternatives --set %s %s", name, visible.Word(to))
		}
		commands = append(commands, command)
	}
	if set != "" {
		commands = append(commands, set)
	}
	return strings.Join(commands, " && ")
}

// ofPackages reports whether packages alone put files where a path is.
func ofPackages(name string) bool {
	return !strings.HasPrefix(name, "/usr/local/") && slices.ContainsFunc([]string{"/usr/", "/bin/", "/sbin/", "/lib/", "/etc/", "/run/"}, func(s string) bool { return strings.HasPrefix(name, s) })
}

// chosen are the links of alternatives, by the records of update-alternatives: after
// the mode and the master's link come a name and a link for each slave, to an empty
// line.
func chosen(fsys host.FS) (links []string) {
	for _, dir := range alternativeFolders {
		entries, _ := fsys.ReadDir(dir) // one of them is not there
		for _, e := range entries {
			l := lines(fsys, path.Join(dir, e.Name()))
			for i := 1; i < len(l) && l[i] != ""; i += 2 {
				links = append(links, l[i])
			}
		}
	}
	return links
}

func swap(fsys host.FS, a *assess.Assessment) (all []Notice) {
	for _, m := range a.Mounts {
		if m.Type == "swap" && strings.HasPrefix(m.Device, "/") && !strings.HasPrefix(m.Device, "/dev/") {
			command := ""
			if info, err := fsys.Stat(strings.TrimPrefix(m.Device, "/")); err == nil && info.Size() > 0 {
				command = fmt.Sprintf("dd if=/dev/zero of=%[1]s bs=1M count=%[2]d status=none && chmod 600 %[1]s && mkswap %[1]s && { grep -qF %[3]s /etc/fstab || echo %[3]s >>/etc/fstab; }", visible.Word(m.Device), (info.Size()+1<<20-1)>>20, visible.Word(m.Device+" none swap "+cmp.Or(strings.Join(m.Options, ","), "sw")+" 0 0"))
			}
			all = append(all, Notice{"swap", m.Device, "a file for swap, which fstab names", "make one on the target (mkswap, swapon), and its line in fstab", command})
		}
	}
	return all
}

// standing are types of mounts that every system has, or that its own devices hold.
var standing = []string{"", "none", "swap", "proc", "sysfs", "devpts", "devtmpfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "iso9660", "udf", "auto", "ntfs", "exfat", "f2fs", "zfs"}

// mounts are lines of fstab that name no device of the machine's own: folders that are
// seen elsewhere, images, shares of other machines, and file systems in memory. The
// target's fstab is its own but for these; what has a secret among its options is a
// person's to write.
func mounts(_ host.FS, a *assess.Assessment) (all []Notice) {
	for _, m := range a.Mounts {
		has := func(options ...string) bool {
			return slices.ContainsFunc(m.Options, func(o string) bool { return slices.Contains(options, o) })
		}
		device := strings.HasPrefix(m.Device, "/dev/") || strings.Contains(m.Device, "=")
		image := !device && strings.HasPrefix(m.Device, "/") && has("loop", "bind", "rbind")
		if m.Path == "/" || !image && (device || slices.Contains(standing, m.Type)) {
			continue
		}
		options := slices.Clone(m.Options)
		if image && !has("nofail", "noauto") {
			options = append(options, "nofail") // a start stops where the data are not there yet
		}
		line := strings.Join([]string{m.Device, escape.Replace(m.Path), m.Type, strings.Join(options, ","), "0 0"}, " ")
		command := ""
		if secret.Mask(line) == line && !strings.Contains(line, "password=") {
			command = fmt.Sprintf("grep -qF %[1]s /etc/fstab || { mkdir -p %[2]s && echo %[1]s >>/etc/fstab; }", visible.Word(line), visible.Word(m.Path))
		}
		all = append(all, Notice{"mount", m.Path, "fstab mounts " + secret.Mask(m.Device) + " there, which is no device of this machine's own", "add its line to the target's fstab, where the target reaches it", command})
	}
	return all
}

// written are options of mounts that people add to the line of a file system of the
// machine's own, and kernels still know (mount(8), ext4(5), xfs(5)); an ending = stands for
// any value.
var written = []string{
	"noatime", "nodiratime", "strictatime", "lazytime", "nosuid", "nodev", "noexec", "sync", "dirsync", "acl", "user_xattr",
	"quota", "usrquota", "grpquota", "prjquota", "uquota", "gquota", "pquota", "usrjquota=", "grpjquota=", "jqfmt=", "commit=",
}

// addOptions gives the line of a place in the target's fstab options that it lacks, where
// its file system is of the same type.
const addOptions = `awk -v at=%[1]s -v kind=%[2]s -v add=%[3]s '!/^[ \t]*#/ && $2 == at && $3 == kind { n = split(add, a, ","); for (i = 1; i <= n; i++) if (!index("," $4 ",", "," a[i] ",")) $4 = $4 "," a[i] } { print }' /etc/fstab >/etc/fstab.new && cat /etc/fstab.new >/etc/fstab && rm /etc/fstab.new`

// options are those of the machine's own file systems that people wrote into fstab.
func options(_ host.FS, a *assess.Assessment) (all []Notice) {
	for _, m := range a.Mounts {
		added := strings.Join(slices.DeleteFunc(slices.Clone(m.Options), func(o string) bool {
			name, _, valued := strings.Cut(o, "=")
			return !slices.Contains(written, o) && !(valued && slices.Contains(written, name+"=")) || visible.Text(o) != o || strings.Contains(o, `\`)
		}), ",")
		if at := escape.Replace(m.Path); added != "" && at == m.Path && slices.Contains([]string{"ext2", "ext3", "ext4", "xfs", "btrfs"}, m.Type) {
			all = append(all, Notice{
				"options", m.Path, fmt.Sprintf("fstab mounts it as %s with %s, which somebody wrote there", m.Type, added),
				"give the target's own line of this place the same, where its file system is of that type; it holds from the next boot", fmt.Sprintf(addOptions, visible.Word(at), m.Type, visible.Word(added)),
			})
		}
	}
	return all
}

// escape writes a place as fstab has it (fstab(5)); a device was read as it stands there.
var escape = strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`)

// tops are links in the root that no system has by itself.
func tops(fsys host.FS, _ *assess.Assessment) (all []Notice) {
	entries, _ := fsys.ReadDir(".") // the walk says where it can't be listed
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		to, _ := fsys.ReadLink(e.Name())
		base := strings.TrimSuffix(e.Name(), ".old")
		if strings.TrimPrefix(to, "/") == "usr/"+e.Name() || base == "vmlinuz" || base == "initrd.img" || strings.HasPrefix(strings.TrimPrefix(to, "/"), "usr/lib") {
			continue
		}
		all = append(all, Notice{"link", "/" + e.Name(), "a link in the root, to " + to, "make it on the target: ln -s", fmt.Sprintf("[ -e %[1]s ] || ln -sn %[2]s %[1]s", visible.Word("/"+e.Name()), visible.Word(to))})
	}
	return all
}

// ageing are the accounts of people whose passwords age or end. It says nothing of passwords.
func ageing(fsys host.FS, a *assess.Assessment) (all []Notice) {
	for _, l := range lines(fsys, "etc/shadow") {
		f := strings.Split(l, ":")
		system := slices.ContainsFunc(a.Users, func(u assess.User) bool { return u.Name == f[0] && u.System })
		if len(f) < 8 || system { // packages made it, and close it as they like
			continue
		}
		var said []string
		command, user := "chage", visible.Word(f[0])
		for _, rule := range []struct{ value, none, what, option string }{
			{f[3], "0", "at least %s days between changes", "-m"}, {f[4], "99999", "a change every %s days", "-M"}, {f[5], "7", "a warning %s days before", "-W"}, {f[6], "", "closed %s days after that", "-I"}, {f[7], "", "the account ends on day %s since 1970", "-E"},
		} {
			if days, err := strconv.ParseUint(rule.value, 10, 31); err == nil && rule.value != rule.none {
				said = append(said, fmt.Sprintf(rule.what, rule.value))
				command += fmt.Sprintf(" %s %d", rule.option, days)
			}
		}
		if said != nil {
			all = append(all, Notice{Ageing, "/etc/shadow", f[0] + ": " + strings.Join(said, ", "), "repeat it on the target: chage", "! getent passwd -- " + user + " >/dev/null || " + command + " -- " + user})
		}
	}
	return all
}

func hostName(_ host.FS, a *assess.Assessment) []Notice {
	if a.System.Hostname == "" {
		return nil
	}
	return []Notice{{"host name", "/etc/hostname", a.System.Hostname, "the role sets it: see that names and certificates lead to the target before it takes over", ""}}
}

// leaseFiles are what servers of addresses remember.
var leaseFiles = []string{
	"var/lib/dhcp/dhcpd.leases", "var/lib/dhcp/dhcpd6.leases", "var/lib/dhcpd/dhcpd.leases", "var/lib/dhcpd/dhcpd6.leases",
	"var/lib/kea/*.csv", "var/lib/misc/dnsmasq.leases", "var/lib/dnsmasq/dnsmasq.leases",
}

func leases(fsys host.FS, _ *assess.Assessment) (all []Notice) {
	for _, pattern := range leaseFiles {
		files, _ := fs.Glob(fsys, pattern) // the patterns are sound
		for _, file := range files {
			if info, err := fsys.Stat(file); err == nil && info.Size() > 0 {
				all = append(all, Notice{"leases", "/" + file, fmt.Sprintf("addresses that are given out, %d bytes", info.Size()), "the data's move brings it, where it has the folder; else copy it while neither server runs, or addresses are given out twice", ""})
			}
		}
	}
	return all
}

func lingering(fsys host.FS, _ *assess.Assessment) []Notice {
	entries, _ := fsys.ReadDir("var/lib/systemd/linger") // most machines have none
	return sliced.Map(entries, func(e fs.DirEntry) Notice {
		return Notice{"lingering", "/var/lib/systemd/linger/" + e.Name(), "services of " + e.Name() + " run without a session", "loginctl enable-linger " + e.Name(), fmt.Sprintf("loginctl enable-linger %s || { mkdir -p /var/lib/systemd/linger && touch %s; }", visible.Word(e.Name()), visible.Word("/var/lib/systemd/linger/"+e.Name()))}
	})
}

// once are the jobs of at that wait. The target's at may have its folder elsewhere.
func once(_ host.FS, a *assess.Assessment) (all []Notice) {
	for _, j := range a.Cron {
		at, ok := strings.CutPrefix(j.Schedule, "at ")
		if file := j.Evidence.Path; ok && file != "" {
			all = append(all, Notice{
				"job of at", file, strings.TrimSpace("it waits to run once, at " + at + " " + j.User), "bring it while it still waits; its user needs the same number there",
				`d=$(ls -d /var/spool/cron/atjobs /var/spool/atjobs /var/spool/at 2>/dev/null | head -n 1) && rsync -a "$SOURCE_SSH":` + visible.Word(file) + ` "$d"/ && chgrp --reference="$d" "$d"/` + visible.Word(path.Base(file)),
			})
		}
	}
	return all
}

// profiles are those of PAM that a person enabled: they are not made for every machine, or
// no package ships them. The target's own installation enables its default ones alone.
func profiles(fsys host.FS, nobody []Path) (all []Notice) {
	chosen := map[string]bool{}
	for _, stack := range []string{"account", "auth", "password", "session", "session-noninteractive"} {
		for _, line := range lines(fsys, "var/lib/pam/"+stack) {
			if name, ok := strings.CutPrefix(line, "Module: "); ok && name != "null" && name == path.Base(name) && name[0] != '-' {
				chosen[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		file := "usr/share/pam-configs/" + name
		text := lines(fsys, file)
		shipped := !slices.ContainsFunc(nobody, func(p Path) bool { return p.Path == "/"+file })
		if len(text) == 0 || shipped && slices.Contains(text, "Default: yes") {
			continue
		}
		what, bring := "a profile that is not enabled by itself, and is here", ""
		if !shipped {
			what, bring = "a profile that no package ships, and that is enabled", fmt.Sprintf(`rsync -a "$SOURCE_SSH":%[1]s %[1]s && `, visible.Word("/"+file))
		}
		all = append(all, Notice{"profile of PAM", "/" + file, what, "enable it on the target, and try to log in before you log out: pam-auth-update --enable " + name, bring + "pam-auth-update --package --enable " + visible.Word(name)})
	}
	return all
}

// history is what a program of versions keeps of /etc: the files of its repository are
// no configuration, and the target's begins anew.
func history(fsys host.FS, _ *assess.Assessment) (all []Notice) {
	for _, name := range []string{".git", ".hg", ".bzr", "_darcs"} {
		if info, err := fsys.Stat("etc/" + name); err == nil && info.IsDir() {
			place := "/etc/" + name
			all = append(all, Notice{"history", place, "what was changed in /etc, and when", "bring it: the target's begins anew; its next commit has what the move changed", fmt.Sprintf(`rsync -a --delete "$SOURCE_SSH":%[1]s/ %[1]s/`, place)})
		}
	}
	return all
}

// stacks are lines of PAM that a person put beside what packages' profiles make.
func stacks(fsys host.FS, _ *assess.Assessment) []Notice {
	return sliced.Map(baseline.PAM(fsys), func(f assess.Fact) Notice {
		return Notice{
			"line of PAM", f.Evidence.Path, fmt.Sprintf("line %d, which no package's profile makes: %s", f.Evidence.Line, secret.Mask(f.Value)),
			"bring it by a profile of pam-auth-update, and try to log in before you log out", profile(path.Base(f.Evidence.Path), strings.Fields(f.Value)),
		}
	})
}

// profile is the command that has pam-auth-update make a line anew. What decides who
// is let in is a person's to place among the others; a line with a secret is not shown.
func profile(stack string, line []string) string {
	if len(line) < 3 || strings.TrimPrefix(line[0], "-") != "session" || strings.HasPrefix(line[1], "[") || secret.Mask(strings.Join(line, " ")) != strings.Join(line, " ") {
		return ""
	}
	module := path.Base(line[2])
	name := strings.TrimSuffix(stack+"-"+module, ".so")
	text := []string{"Name: " + module + ", as on the old machine", "Default: yes", "Priority: 0", "Session-Type: Additional"}
	if stack == "common-session" {
		text = append(text, "Session-Interactive-Only: yes")
	}
	text = append(text, "Session:", "  "+strings.Join(line[1:], " "))
	return fmt.Sprintf("ls /usr/lib/*/security/%s >/dev/null && printf '%%s\\n' %s >%s && pam-auth-update --package", visible.Word(module), strings.Join(sliced.Map(text, visible.Word), " "), visible.Word("/usr/share/pam-configs/"+name))
}

// Bounds of what is shown of a unit that was edited, in lines and in bytes.
const (
	maxUnitLines = 40
	maxUnit      = 64 << 10
)

// edited are units of packages that a person changed where they stand: what they say
// is shown, for what of it is the person's is known to no package. Across families, the
// target's unit keeps what it runs, as whom, and by which files.
func edited(fsys host.FS, changed []Path, across bool) (all []Notice) {
	left := leftOfUnit
	if across {
		left = leftAcross
	}
	for _, p := range changed {
		kind := path.Ext(p.Path)
		if strings.HasPrefix(p.Path, "/etc/") || !slices.Contains([]string{".service", ".socket", ".timer", ".mount", ".path", ".slice", ".target"}, kind) || !strings.Contains(p.Path, "/systemd/") || len(all) == maxNotices {
			continue
		}
		b, err := host.ReadFile(fsys, strings.TrimPrefix(p.Path, "/"), maxUnit)
		if err != nil {
			continue // the walk says so
		}
		said := slices.DeleteFunc(strings.Split(secret.Mask(string(b)), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" || strings.HasPrefix(strings.TrimSpace(l), "#") })
		all = append(all, Notice{
			"edited unit", p.Path, fmt.Sprintf("a unit of the package %s that was edited in its place; it says: %s", p.Package, visible.Text(strings.Join(said[:min(len(said), maxUnitLines)], "; "))),
			"the command writes what it says and the target's does not as a drop-in, and shows it: take out what nobody wrote and an older version said (systemctl edit " + visible.Word(path.Base(p.Path)) + ")",
			fmt.Sprintf(dropin, visible.Word(p.Path), visible.Word(path.Base(p.Path)), left),
		})
	}
	return all
}

// dropin has a unit of the target say what the source's says in other lines, where its
// package has it there.
const dropin = `[ ! -e %[1]s ] || { d=/etc/systemd/system/%[2]s.d && mkdir -p "$d" && ssh "$SOURCE_SSH" cat %[1]s | awk -v left='%[3]s' '` + otherLines + `' %[1]s - >"$d"/source.conf && cat "$d"/source.conf && systemctl daemon-reload && systemctl try-restart %[2]s; }`

// The settings that stay the target's, as the beginnings of their names.
const (
	leftOfUnit = "^(Description|Documentation)"
	leftAcross = "^(Description|Documentation|Exec|Type|User|Group|PIDFile|EnvironmentFile|BusName|Listen|RuntimeDirectory)"
)

// otherLines is a program of awk that prints, as a drop-in, what the second of two units
// says in other lines, but for the settings that are left. A list of commands is replaced
// whole (systemd.service(5)), and not where one of their programs is missing.
const otherLines = `sub(/\\$/, " ") { held = held $0; next } { l = held $0; held = "" } l ~ /^[ \t]*([#;]|$)/ { next } l ~ /^\[/ { s = l; next } NR == FNR { has[s l]; next } ` +
	`s == "[Install]" { next } { k = l; sub(/[ \t]*=.*/, "", k) } k ~ left { next } { line[++n] = l; at[n] = s; key[n] = k; if (!((s l) in has)) other[s k] } ` +
	`k ~ /^Exec/ { p = l; sub(/^[^=]*=[ \t]*[-@:+!|]*/, "", p); sub(/[ \t].*/, "", p); if (p != "" && (getline x <p) < 0) missing[s k]; close(p) } ` +
	`END { for (i = 1; i <= n; i++) { w = at[i] key[i]; whole = key[i] ~ /^(Exec|Listen|On)/; if (!(w in other) || w in missing || !whole && (at[i] line[i]) in has) continue; ` +
	`if (at[i] != shown) print shown = at[i]; if (whole && !(w in begun)) { begun[w]; print key[i] "=" } print line[i] } }`

// tmpfiles are the paths that systemd makes by what the machine's packages say in
// tmpfiles.d.
func tmpfiles(fsys host.FS) (all []Rule) {
	files, _ := fs.Glob(fsys, "usr/lib/tmpfiles.d/*.conf") // the pattern is sound
	for _, file := range files {
		for _, l := range lines(fsys, file) {
			f := strings.Fields(l)
			if len(f) < 2 || strings.HasPrefix(f[0], "#") || !strings.HasPrefix(f[1], "/") || strings.ContainsAny(f[1], "%*?[") || !strings.ContainsAny(f[0][:1], "fdDvqQpLcb") {
				continue
			}
			all = append(all, Rule{State, path.Clean(f[1]), "made at each start", "tmpfiles.d(5): /" + file, Count{}})
		}
	}
	return all
}
