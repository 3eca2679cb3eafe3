package data

import (
	"cmp"
	_ "embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/release"
	"svc/backend/tsv"
	"svc/tools/database"
)

// candidate is a place that may be there.
type candidate struct {
	path     string // absolute
	kind     Kind
	what     string
	name     string
	version  string
	evidence string
	names    []string // files of the folder that are all of the place; nil: all in it
}

//go:embed places.tsv
var placeRows string

// known are where programs keep data by default.
func known(*assess.Assessment, host.FS) (all []candidate) {
	for c := range tsv.Rows(placeRows, 4) {
		place := candidate{path: c[0], kind: Kind(c[1]), what: c[2]}
		if c[3] != "-" {
			place.names = strings.Fields(c[3])
		}
		all = append(all, place)
	}
	return all
}

// eachBelow are folders of which each one in it is a place.
var eachBelow = []struct {
	dir   string
	kind  Kind
	not   []string
	links bool // that stand there are people's
}{
	{"/srv", Served, nil, true},
	{"/opt", Software, []string{"containerd", "rh"}, true},
	{"/home", Home, []string{"lost+found"}, true},
	{"/mnt", Other, nil, true},
	{"/var/opt", Service, nil, true},
	{"/var/lib", Service, slices.Concat(systemState, managers()), false},
	{"/var/spool", Queue, []string{"abrt", "abrt-upload", "anacron", "cron", "at", "lpd", "mail", "plymouth", "repackage", "rsyslog", "up2date", "clientmqueue"}, false},
	{"/var", Other, []string{
		".updated", "account", "adm", "agentx", "backups", "cache", "crash", "db", "empty", "games", "gopher", "kerberos", "lib", "local", "lock", "log", "lost+found", "mail", "metrics", "nis", "opt", "preserve", "run", "snap", "spool", "tmp", "www", "yp",
	}, false},
	{"/", Other, systemFolders, false},
}

// systemFolders are those of the root that a system has itself, or that other
// rows look into.
var systemFolders = []string{
	"bin", "boot", "dev", "efi", "etc", "home", "lib", "lib32", "lib64", "libx32", "lost+found", "media", "mnt", "opt", "proc", "root", "run",
	"sbin", "srv", "sys", "tmp", "usr", "var", "snap", "afs", "selinux", "cdrom", "sysroot", "ostree", ".autorelabel",
}

// managers are the programs that install packages and keep their databases, of all families.
func managers() (names []string) {
	for _, c := range release.Families() {
		names = append(names, c.Database, c.Manager)
	}
	return names
}

// systemState are folders of /var/lib with what a system knows of itself: the
// target has its own.
var systemState = []string{
	"AccountsService", "NetworkManager", "PackageKit", "alternatives", "aptitude", "authselect", "blkid", "cloud", "color", "command-not-found", "dbus", "dhclient",
	"dhcp", "dhcpcd", "dhcpcd5", "dictionaries-common", "emacsen-common", "fontconfig", "fwupd", "games", "ghostscript", "gssproxy", "hardware", "initramfs-tools", "initscripts", "insserv",
	"ispell", "kdump", "logrotate", "locales", "machines", "man-db", "misc", "mlocate", "modules", "nfs", "ntp", "ntpsec", "chrony", "os-prober", "pam", "plocate", "polkit-1", "private", "portables", "python",
	"rhsm", "rpcbind", "rpm-state", "rsyslog", "selinux", "sgml-base", "shells.state", "shim-signed", "smartmontools", "snapd", "stateless", "sudo", "svc", "swtpm", "systemd", "tpm", "tuned", "ubuntu-advantage",
	"ubuntu-release-upgrader", "ucf", "udisks2", "unbound", "update-manager", "update-notifier", "update-rc.d", "upower", "urandom", "usbutils", "vim", "waagent", "xfsdump", "xml-core", "yum", "zypp", "YaST2", "ca-certificates", "iscsi", "lvm", "update-motd", "grub", "rfkill", "sss", "open-vm-tools", "xkb", "dkms", "apport", "landscape", "PolicyKit", "ieee-data", "libuuid", "rsyslog", "exim4", "postfix", "nfs-common", "sysstat", "texmf", "ureadahead",
}

// candidates lists the places that a machine may have, those that its
// configuration names first: the first of a path counts.
func candidates(a *assess.Assessment, fsys host.FS) []candidate {
	var all []candidate
	for _, list := range []func(*assess.Assessment, host.FS) []candidate{engines, mounted, sites, named, bound, exports, keys, known, homes, listed, loose} {
		all = append(all, list(a, fsys)...)
	}
	all = append(all, stated(a, fsys, all)...)
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.path, "/") || c.path == "/" && c.names == nil })
}

func engines(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, d := range a.Databases {
		all = append(all, candidate{path: d.Directory, kind: Database, what: d.Engine, name: database.DebianCluster(a.Databases, d), version: d.Version, evidence: d.Evidence.Path})
	}
	return all
}

// remoteTypes are file systems whose data are elsewhere.
var remoteTypes = []string{"nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "glusterfs", "fuse.glusterfs", "fuse.sshfs", "fuse.s3fs", "fuse.ceph", "lustre", "gpfs", "afs", "9p", "virtiofs", "ocfs2", "gfs2", "davfs", "fuse.davfs2", "beegfs"}

// diskTypes are file systems of a disk.
var diskTypes = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "reiserfs", "jfs", "f2fs", "auto", "bcachefs", "nilfs2"}

// systemMounts are what a system is installed on.
var systemMounts = []string{"/", "/boot", "/boot/efi", "/efi", "/usr", "/var", "/var/log", "/var/log/audit", "/var/tmp", "/tmp", "/home", "/opt", "/srv", "/root", "/var/lib", "/usr/local"}

func mounts(a *assess.Assessment) []assess.Mount {
	if a.Running != nil {
		return slices.Concat(a.Running.Mounts, a.Mounts)
	}
	return a.Mounts
}

// mounted names disks of their own last: what is known of a place beside that
// counts more.
func mounted(a *assess.Assessment, _ host.FS) []candidate {
	var all, disks []candidate
	for _, m := range mounts(a) {
		switch {
		case slices.Contains(m.Options, "bind") || strings.HasPrefix(m.Path, "/media/"):
		case slices.Contains(remoteTypes, m.Type) || slices.Contains(m.Options, "_netdev"): // a disk of iSCSI too
			all = append(all, candidate{path: m.Path, kind: Remote, what: m.Device, evidence: m.Evidence.Path})
		case slices.Contains(diskTypes, m.Type) && !slices.Contains(systemMounts, path.Clean(m.Path)):
			disks = append(disks, candidate{path: m.Path, kind: Disk, what: m.Device, evidence: m.Evidence.Path})
		}
	}
	disks = slices.DeleteFunc(disks, func(c candidate) bool { return len(sameSite(a, c.path)) > 0 })
	return append(all, disks...)
}

// sameSite are the sites and databases whose folder is a mount itself.
func sameSite(a *assess.Assessment, dir string) (found []candidate) {
	for _, c := range slices.Concat(sites(a, nil), engines(a, nil)) {
		if path.Clean(c.path) == path.Clean(dir) {
			found = append(found, c)
		}
	}
	return found
}

// shippedRoots are folders of packages that a site may serve as they came.
var shippedRoots = []string{"/usr", "/etc", "/var/lib"}

func sites(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, w := range a.WebServers {
		for _, s := range w.Sites {
			if s.Root != "" && !slices.ContainsFunc(shippedRoots, func(dir string) bool { return below(s.Root, dir) && !below(s.Root, "/usr/local") }) {
				all = append(all, candidate{path: s.Root, kind: Web, what: s.Name, evidence: s.Evidence.Path})
			}
		}
	}
	return all
}

func exports(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, f := range a.Facts {
		if f.Area == "exports" {
			all = append(all, candidate{path: f.Key, kind: Served, what: "exported by NFS", evidence: f.Evidence.Path})
		}
	}
	return all
}

// keyParents hold keys of the whole system: certificates of them are named, the
// folder is none of a service's own.
var keyParents = []string{"/etc", "/etc/ssl", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki", "/etc/ssh"}

func keys(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, c := range a.Certificates {
		dir := path.Dir(c.Key)
		if c.Key != "" && !slices.Contains(keyParents, dir) && !below(dir, "/etc/letsencrypt") {
			all = append(all, candidate{path: dir, kind: Keys, what: "private keys", evidence: c.Path})
		}
	}
	return all
}

// homes are those of people; of a service's account only outside the system.
func homes(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, u := range a.Users {
		if !u.System && u.Home != "" && !slices.Contains(systemMounts, path.Clean(u.Home)) {
			all = append(all, candidate{path: u.Home, kind: Home, what: u.Name, evidence: "/etc/passwd"})
		}
	}
	return all
}

// entriesOf are those of a folder; where they can't be had, unlisted says so.
func entriesOf(fsys host.FS, dir string) ([]fs.DirEntry, error) {
	return fsys.ReadDir(cmp.Or(strings.Trim(dir, "/"), "."))
}

// listed are the folders that stand in those of eachBelow.
func listed(_ *assess.Assessment, fsys host.FS) (all []candidate) {
	for _, e := range eachBelow {
		entries, _ := entriesOf(fsys, e.dir)
		for _, d := range entries {
			if (d.IsDir() || d.Type() != 0) && !slices.Contains(e.not, d.Name()) {
				all = append(all, candidate{path: path.Join(e.dir, d.Name()), kind: e.kind, what: d.Name()})
			}
		}
	}
	return all
}

// systemFiles stand beside the folders of the root, or of a file system.
var systemFiles = []string{".autorelabel", ".dockerenv", ".updated", "aquota.group", "aquota.user", "swap.img", "swapfile"}

// loose are the files that stand beside the folders of those of eachBelow: each
// such folder is a place of these alone.
func loose(_ *assess.Assessment, fsys host.FS) (all []candidate) {
	for _, e := range eachBelow {
		c := candidate{path: e.dir, kind: e.kind, what: "files beside its folders"}
		entries, _ := entriesOf(fsys, e.dir)
		for _, d := range entries {
			ours := d.Type().IsRegular() || e.links && d.Type()&fs.ModeSymlink != 0
			if ours && !slices.Contains(e.not, d.Name()) && !slices.Contains(systemFiles, d.Name()) {
				c.names = append(c.names, d.Name())
			}
		}
		if c.names != nil {
			all = append(all, c)
		}
	}
	return all
}
