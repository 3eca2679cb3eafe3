package discover_test

import "strconv"

// system makes the folder a machine, with the programs by which it is read.
func (m *machine) system() {
	m.Files(m.root, map[string]string{
		"etc/os-release":      "ID=debian\nVERSION_ID=12\n",
		"etc/machine-id":      "0123456789abcdef0123456789abcdef\n",
		"etc/passwd":          "root:x:0:0::/root:/bin/sh\nwww-data:x:33:33::/:/bin/false\nanna:x:1000:1000::/home/anna:/bin/sh\n",
		"etc/group":           "root:x:0:\nwww-data:x:33:\nanna:x:1000:\n",
		"var/lib/dpkg/status": "Package: base-files\nStatus: install ok installed\nVersion: 12\nArchitecture: amd64\n",
	})
	m.Shell(0, `cd "$1"
		mkdir -p etc/lvm/backup srv home bin dev proc tmp usr/bin
		mknod -m 666 dev/null c 1 3
		for program in sh bash stat head cat dd id readlink find xargs getfattr; do
			program=$(command -v "$program")
			install -D "$program" "$1$program"
			for lib in $(ldd "$program" | grep -o '/[^ ]*'); do
				[ -e "$1$lib" ] || install -D "$lib" "$1$lib"
			done
		done
		for shell in sh bash; do # root's login shell, by the host's passwd
			[ -e bin/$shell ] || ln -s /usr/bin/$shell bin/$shell
		done`, m.root)
}

// hostile are names that a listing may take for something else.
var hostile = []string{" ", "-rf", "'", `"`, `\`, "*", "[a]", "tab\t", "end\n", "\xc3\x28", "`id`", "#", "__", "-\n-", "find: 'x'"}

// data makes what no package brings back.
func (m *machine) data() {
	for _, name := range hostile {
		m.Files(m.at("srv/shop"), map[string]string{name: name})
	}
	m.Files(m.root, map[string]string{
		"srv/\xff place/file":                    "odd\n",
		"home/loose":                             "loose\n", // beside the folders
		"var/lib/docker/volumes/shop-db/_data/f": "volume\n",
		"var/mail/anna":                          "mail\n",
		"data/cluster/PG_VERSION":                "15\n",
		"data/www/index.html":                    "page\n",
		"etc/postgresql/15/main/postgresql.conf": "data_directory = '/data/cluster'\n",
		"etc/nginx/nginx.conf":                   "",
		"etc/nginx/sites-enabled/shop":           "server { server_name shop.example; root /data/www; }\n",
		"etc/fstab":                              "/dev/mapper/svce2e-data /data ext4 defaults 0 2\nnas:/pool /mnt/pool nfs defaults 0 0\n",
		"srv/shop/setuid":                        "x",
		"srv/shop/capable":                       "x",
	})
	m.Shell(0, `cd "$1"
		mkdir -p deep/er/still $'new\nline' $'\xff\xfe' '**' mounted ../../mnt/pool ../../home/anna
		ln ./-rf deep/hard
		ln -s /etc/shadow absolute
		ln -s $'new\nline/none' broken
		truncate -s 50M sparse
		printf '%.0s0123456789' $(seq 1000) >dense
		mkfifo pipe
		python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
		chmod 6755 setuid
		setcap cap_net_raw+ep capable
		setfattr -n user.note -v 'a b' dense
		setfattr -n user.$'\xfe\n#' -v x $'end\n'
		setfattr -n security.selinux -v system_u:object_r:httpd_sys_content_t:s0 '#'
		setfacl -m u:33:rx dense
		setfacl -d -m u:1000:rwx deep
		touch -d '2001-02-03 04:05:06' ./* deep/hard
		touch -d '2020-02-03 04:05:06' dense
		cd ../../home
		ln loose ../srv/-loose
		ln loose ../srv/loose
		setfacl -m u:33:r loose
		git init -q --bare anna/code.git
		svnadmin create anna/code.svn
		ln "$1/dense" anna/dense # a file of two places counts in one
		chown -R 1000:1000 anna
		chown 33:33 "$1/-rf"`, m.at("srv/shop"))
}

// volumes makes a group of LVM with a volume in it, where there is no device-mapper: LVM
// writes its metadata alone, and the copy of it that the machine keeps.
func (m *machine) volumes() {
	said := m.Shell(0, `lvm_() {
			lvm "$@" --driverloaded n --config "devices{use_devicesfile=0} activation{monitoring=0 udev_sync=0 udev_rules=0} backup{archive=0 backup_dir=\"$backup\"}"
		}
		backup=$2
		truncate -s 300M "$1"
		device=$(losetup -f --show "$1")
		trap 'losetup -d "$device"' EXIT
		{ lvm_ pvcreate -y "$device" && lvm_ vgcreate svce2e "$device" && lvm_ lvcreate -an -Zn -Wn -y -L 100m -n data svce2e; } >&2
		lvm_ vgs --noheadings --nosuffix --units b -o vg_free svce2e`, m.Path("physical.img"), m.at("etc/lvm/backup"))
	free, err := strconv.ParseInt(said.Line(), 10, 64)
	m.is.NoErr(err)
	m.free = free
}
