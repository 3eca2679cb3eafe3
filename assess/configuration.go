package assess

import (
	"bytes"
	"cmp"
	"crypto"
	_ "crypto/md5" // digests of packages, with those that follow
	_ "crypto/sha1"
	"crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess/host"
	"svc/assess/scripts"
)

// Bounds of the walk through /etc.
const (
	maxConfig = 64 << 20 // bytes of one file that is hashed
	maxKey    = 256 << 10
	maxFiles  = 25_000 // files below /etc
	maxDepth  = 32
)

// noise are the places of /etc that programs fill by themselves, over and over:
// they say nothing about a machine. A name that ends in / stands for all below.
var noise = []string{
	"alternatives/", "rc0.d/", "rc1.d/", "rc2.d/", "rc3.d/", "rc4.d/", "rc5.d/", "rc6.d/", "rcS.d/",
	"ssl/certs/ca-certificates.crt", "ssl/certs/java/", "ca-certificates/", "ld.so.cache", ".pwd.lock", ".updated", "mtab", "mailcap", "udev/hwdb.bin",
	"python3/debian_config", "apt/apt.conf.d/01autoremove", "runit/", "svc/",
	"console-setup/cached_", "dictionaries-common/", "blkid.tab", "os-release", "apparmor.d/local/", "postgresql-common/root.crt",
	"apt/apt.conf.d/01autoremove-", "dpkg/origins/",
	// EL, Fedora, SUSE and Alpine have their own.
	"rc.d/rc0.d/", "rc.d/rc1.d/", "rc.d/rc2.d/", "rc.d/rc3.d/", "rc.d/rc4.d/", "rc.d/rc5.d/", "rc.d/rc6.d/",
	"pki/ca-trust/extracted/", "pki/java/cacerts", "prelink.cache", "aliases.db", "selinux/targeted/", "selinux/minimum/", "selinux/mls/",
	"lvm/cache/", "lvm/archive/", "lvm/backup/", "blkid/", "authselect/", "crypto-policies/back-ends/", "crypto-policies/state/", "rpm/platform",
	"init.d/rc0.d/", "init.d/rc1.d/", "init.d/rc2.d/", "init.d/rc3.d/", "init.d/rc4.d/", "init.d/rc5.d/", "init.d/rc6.d/", "init.d/rcS.d/", "init.d/.depend.",
	"apk/world", "apk/arch", "apk/protected_paths.d/", "runlevels/",
}

// backups are what programs keep of the files of accounts.
var backups = []string{"etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-", "etc/subuid-", "etc/subgid-"}

// versionControl are folders of version control, etckeeper's among them: they have
// all that files ever said, also of those that are closed.
var versionControl = []string{".git", ".bzr", ".hg", ".svn", "_darcs", "CVS", "RCS", ".etckeeper"}

// linkNoise are folders in which the links, but not the files, are made by
// programs: certificates by digest, and the state of units, which is read apart.
var linkNoise = []string{"ssl/certs/", "systemd/system/", "systemd/user/"}

// machineOnly are files that hold for this very machine, or that the target's
// own installation makes: they are listed, and never carried over.
var machineOnly = []string{
	"ca-certificates.conf", "machine-id", "hostname", "fstab", "crypttab", "resolv.conf", "adjtime", "localtime", "motd",
	"passwd", "group", "shadow", "gshadow", "subuid", "subgid", "security/opasswd", "ssh/ssh_host_", "udev/rules.d/70-persistent-",
	"network/interfaces", "network/interfaces.d/", "network/run", "netplan/", "systemd/network/", "NetworkManager/system-connections/", "lvm/", "mdadm/",
	"iscsi/initiatorname.iscsi", "multipath/", "hostid", "dpkg/", "apt/sources.list", "apt/sources.list.d/", "apt/trusted.gpg", "apt/keyrings/", "shells",
	"cloud/", "initramfs-tools/", "default/grub", "default/grub.d/", "grub.d/", "kernel-img.conf", "ssl/private/ssl-cert-snakeoil.key", "ssl/certs/ssl-cert-snakeoil.pem",
	"sysconfig/network", "sysconfig/network/ifcfg-", "sysconfig/network/ifroute-", "sysconfig/network/routes", "sysconfig/network-scripts/", "sysconfig/hwconf", "sysconfig/kernel", "sysconfig/bootloader", "sysconfig/grub",
	"dracut.conf.d/", "grub.conf", "grub2.cfg", "grub2-efi.cfg", "modprobe.d/anaconda", "yum.repos.d/", "yum/vars/", "dnf/", "zypp/repos.d/", "zypp/services.d/", "zypp/credentials.d/", "apk/repositories", "apk/keys/",
	"pki/rpm-gpg/", "pki/consumer/", "pki/entitlement/", "pki/product/", "rhsm/", "sysconfig/rhn/", "pki/tls/private/localhost.key", "pki/tls/certs/localhost.crt", "openldap/certs/",
	"networks", "mysql/debian.cnf", "mysql/my.cnf", "pam.d/common-", "locale.gen", "default/locale", "timezone", "chrony/chrony.keys",
}

// templates are the files that installation copies into /etc and then forgets:
// one that is still equal to its template is nobody's work.
var templates = map[string]string{
	"/etc/profile": "usr/share/base-files/profile",
	"/etc/motd":    "usr/share/base-files/motd",

	"/etc/nsswitch.conf":        "usr/share/libc-bin/nsswitch.conf",
	"/etc/inputrc":              "usr/share/readline/inputrc",
	"/etc/adduser.conf":         "usr/share/adduser/adduser.conf",
	"/etc/environment":          "",
	"/etc/hosts.allow":          "",
	"/etc/hosts.deny":           "",
	"/etc/security/opasswd":     "",
	"/etc/ca-certificates.conf": "",
}

// readConfiguration lists what of /etc is not as packages made it.
func (m *machine) readConfiguration() {
	w := &walk{m: m}
	w.dir("etc", 0)
	m.outcome("configuration.etc", "etc", w.failed)
	m.missing(w)
	found := make([]*ConfigFile, len(w.files))
	next := make([]int, len(w.files))
	for i := range next {
		next[i] = i
	}
	inParallel(m.ctx, next, func(i int) { found[i] = m.compare(w.files[i]) })
	for _, f := range found {
		if f != nil {
			m.a.Configuration = append(m.a.Configuration, *f)
		}
	}
	slices.SortFunc(m.a.Configuration, func(a, b ConfigFile) int { return cmp.Compare(a.Path, b.Path) })
	m.readMadeBy()
}

// readMadeBy says which links of /etc the installation of a package makes: its
// maintainer script names them. What is in a file that one names may be a person's
// work; a link has nothing in it.
func (m *machine) readMadeBy() {
	links := map[string]*ConfigFile{}
	for i := range m.a.Configuration {
		if c := &m.a.Configuration[i]; c.Link != "" && c.State == ConfigUnowned {
			links[c.Path] = c
		}
	}
	if len(links) == 0 {
		return
	}
	wanted := scripts.Looking(slices.Sorted(maps.Keys(links)), nil)
	names, _ := m.files(scripts.Dir) // its state is noted where the lists are read
	files := []string{}
	for _, name := range names {
		if strings.HasSuffix(name, ".postinst") {
			files = append(files, path.Join(scripts.Dir, name))
		}
	}
	scripts.Each(m.ctx, m.fs, files, func(script string, text []byte) {
		for _, link := range wanted.In(text) {
			if bytes.Contains(text, []byte(path.Base(links[link].Link))) { // else it was led elsewhere
				links[link].MadeBy = cmp.Or(links[link].MadeBy, scripts.PackageOf(script))
			}
		}
	})
}

// walk collects the files and links below a folder, without following links.
type walk struct {
	m      *machine
	files  []found
	failed error
}

// found is a file or link of /etc.
type found struct {
	path string // with a leading slash
	kind fs.FileMode
}

func (w *walk) dir(dir string, depth int) {
	entries, err := w.m.fs.ReadDir(dir)
	if err != nil {
		if depth == 0 || !errors.Is(err, fs.ErrNotExist) {
			w.failed = cmp.Or(w.failed, err)
		}
		return
	}
	w.m.disabled(dir, entries)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch isLink := e.Type()&fs.ModeSymlink != 0; {
		case len(w.files) >= maxFiles || depth >= maxDepth:
			w.failed = fmt.Errorf("/%s: more than %d files or %d folders deep; the rest was not looked at", dir, maxFiles, maxDepth)
			return
		case slices.Contains(versionControl, e.Name()):
			w.m.versioned = append(w.m.versioned, "/"+name)
		case slices.Contains(backups, name), matches(noise, "/"+name), isLink && matches(linkNoise, "/"+name), newer(name):
		case e.IsDir():
			w.m.etcFolder(name, e)
			w.dir(name, depth+1)
		default:
			w.files = append(w.files, found{"/" + name, e.Type()})
		}
	}
}

// missing adds the files of packages that are not there any more.
func (m *machine) missing(w *walk) {
	there := make(map[string]bool, len(w.files))
	for _, f := range w.files {
		there[f.path] = true
	}
	for file, c := range m.dpkg.conffiles {
		if there[file] || c.obsolete || !strings.HasPrefix(file, "/etc/") {
			continue
		}
		// A folder on the way that can't be read says nothing about the file.
		if _, err := m.fs.Lstat(file[1:]); errors.Is(err, fs.ErrNotExist) {
			m.a.Configuration = append(m.a.Configuration, ConfigFile{Path: file, State: ConfigMissing, Package: c.pkg})
		}
	}
}

// compare gives the entry of a file that is not as its package made it, or nil.
func (m *machine) compare(f found) *ConfigFile {
	shipped, isConf := m.dpkg.conffiles[f.path]
	if !isConf && m.dpkg.owned[f.path] != "" {
		return nil // part of a package, and not meant to be edited
	}
	c := &ConfigFile{Path: f.path, Package: shipped.pkg, State: ConfigUnowned, Machine: matches(machineOnly, f.path) || phpLink(f)}
	if isConf {
		c.State, c.Shipped = ConfigChanged, shipped.named()
	}
	switch {
	case m.untouched(f.path):
		return nil
	case f.kind&fs.ModeSymlink != 0:
		return m.link(c, shipped)
	case !f.kind.IsRegular():
		return nil // a socket or pipe is nobody's configuration
	}
	return m.regular(c, shipped)
}

// link completes the entry of a link, or gives nil where it leads to where its
// package had it lead. Links have no owner or mode of their own that matters.
func (m *machine) link(c *ConfigFile, shipped conffile) *ConfigFile {
	target, err := m.fs.ReadLink(c.Path[1:])
	if err == nil && target == shipped.link {
		return nil
	}
	c.Link, c.Mode, c.Owner, c.Group = target, "0777", m.users[0], m.groups[0]
	if err != nil {
		c.State = ConfigUnreadable
	}
	return c
}

// named are the digests that were shipped, each with its algorithm.
func (c conffile) named() (all []string) {
	for _, digest := range c.digests {
		if c.hash.Available() && digest != "" {
			all = append(all, strings.ToLower(c.hash.String())+":"+digest)
		}
	}
	return all
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

// pristine reports whether a file has a digest that was shipped.
func (m *machine) pristine(name string, shipped conffile) bool {
	return shipped.hash.Available() && slices.Contains(shipped.digests, m.digest(name, shipped.hash.New()))
}

// regular completes the entry of a file, or gives nil where it is as shipped.
func (m *machine) regular(c *ConfigFile, shipped conffile) *ConfigFile {
	name := c.Path[1:]
	if m.pristine(name, shipped) {
		m.checkAccess(c.Path, shipped)
		return nil
	}
	info, err := m.fs.Stat(name)
	if err != nil {
		c.State = ConfigUnreadable
		return c
	}
	m.describe(c, info)
	unknown := len(shipped.digests) > 0 && !shipped.hash.Available()
	if c.SHA256 = m.digest(name, sha256.New()); c.SHA256 == "" || unknown {
		c.State = ConfigUnreadable
	}
	return c
}

// reaccessed are files whose content is as shipped, but not their owner or mode.
type reaccessed struct {
	sync.Mutex
	files []Evidence
	how   []string // in the same order
}

// checkAccess notes a file that has another owner or mode than its package gave
// it, where the package says which.
func (m *machine) checkAccess(file string, shipped conffile) {
	if shipped.access == (access{}) {
		return
	}
	info, err := m.fs.Stat(file[1:])
	if err != nil {
		return
	}
	uid, gid, _ := host.Owner(info)
	is := access{octal(info.Mode()), m.users[uid], m.groups[gid]}
	was := access{cmp.Or(shipped.access.mode, is.mode), cmp.Or(shipped.access.user, is.user), cmp.Or(shipped.access.group, is.group)}
	if is == was || is.user == "" || is.group == "" {
		return
	}
	m.reaccessed.Lock()
	defer m.reaccessed.Unlock()
	m.reaccessed.files = append(m.reaccessed.files, Evidence{file, 0})
	m.reaccessed.how = append(m.reaccessed.how, fmt.Sprintf("%s (%s, shipped as %s)", file, is, was))
}

// findVersionControl says which history of /etc stays behind.
func (m *machine) findVersionControl() {
	if len(m.versioned) == 0 {
		return
	}
	f := Finding{
		Key: "configuration.version-control", Severity: Info, Title: "The history of /etc stays behind",
		Summary:      fmt.Sprintf("%s: version control keeps every file as it was, shadow and private keys among them.", some(m.versioned)),
		Remediations: hints("Start a new history on the target (etckeeper init); keep the old one with the source's backup, closed to others."),
	}
	for _, dir := range m.versioned[:min(len(m.versioned), 20)] {
		f.Evidence = append(f.Evidence, Evidence{dir, 0})
	}
	m.finding(f)
}

// access is who may do what with a file; zero values are not known.
type access struct {
	mode        uint32 // as chmod takes it
	user, group string
}

func (a access) String() string { return fmt.Sprintf("%04o %s:%s", a.mode, a.user, a.group) }

// findAccess says which files are open to others than their packages meant.
func (m *machine) findAccess() {
	r := &m.reaccessed
	if len(r.files) == 0 {
		return
	}
	slices.Sort(r.how)
	slices.SortFunc(r.files, func(a, b Evidence) int { return cmp.Compare(a.Path, b.Path) })
	m.finding(Finding{
		Key: "configuration.access", Severity: Low, Title: "Configuration files have other owners or modes than their packages gave them",
		Summary:      fmt.Sprintf("%s: %s. What is in them is as shipped, so they are not carried over.", plural(len(r.files), "file"), some(r.how)),
		Remediations: hints("Set owner and mode on the target by hand, where they still matter."), Evidence: r.files[:min(len(r.files), 20)],
	})
}

// describe fills in owner, mode and size.
func (m *machine) describe(c *ConfigFile, info fs.FileInfo) {
	c.UID, c.GID, _ = host.Owner(info)
	c.Owner, c.Group = m.users[c.UID], m.groups[c.GID]
	c.Mode, c.Size = fmt.Sprintf("%04o", octal(info.Mode())), info.Size()
	c.Secret = m.secret(c.Path, info)
}

// untouched reports whether a file is as installation copied it. What no
// template tells apart counts as a person's.
func (m *machine) untouched(file string) bool {
	template, ok := templates[file]
	if !ok {
		return false
	}
	if template == "" {
		return !slices.ContainsFunc(strings.Split(m.peek(file[1:]), "\n"), func(line string) bool {
			line = strings.TrimSpace(line)
			return line != "" && line[0] != '#'
		})
	}
	return m.peek(file[1:]) == m.peek(template)
}

// newer tells the files that rpm and apk put beside one that was edited: what the
// package would have there.
func newer(name string) bool {
	return strings.HasSuffix(name, ".rpmnew") || strings.HasSuffix(name, ".apk-new")
}

// phpLink tells the links by which PHP's packages enable their modules: they
// make them anew for each version.
func phpLink(f found) bool {
	return f.kind&fs.ModeSymlink != 0 && strings.HasPrefix(f.path, "/etc/php/") && strings.Contains(f.path, "/conf.d/")
}

// octal is a mode as chmod takes it.
func octal(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}

// matches reports whether a path of /etc is in a list: as it stands, below a
// folder, or beginning with a name that ends in - or _.
func matches(list []string, file string) bool {
	rel := strings.TrimPrefix(file, "/etc/")
	return slices.ContainsFunc(list, func(entry string) bool {
		return rel == entry || strings.HasPrefix(rel, entry) && strings.ContainsRune("/-_", rune(entry[len(entry)-1]))
	})
}

// buffers are reused between files: a machine has hundreds.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// digest is a file's digest in hex, or "" where it can't be read.
func (m *machine) digest(name string, h hash.Hash) string {
	f, err := m.fs.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	n, err := io.CopyBuffer(h, struct{ io.Reader }{io.LimitReader(f, maxConfig+1)}, *buf)
	if err != nil || n > maxConfig {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
