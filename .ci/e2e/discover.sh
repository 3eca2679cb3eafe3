#!/usr/bin/env bash
# Finds the data of a machine with hostile names, attributes, holes, links and
# mounts by all three ways to it: its root, a disk image, and a real sshd whose
# machine has the usual programs. What is counted is compared with what Python,
# getfattr and du count. Needs root. Prints a line for each check and ends with
# "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/sshd.sh
. .ci/e2e/sshd.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e
mkdir -p "$cache"
work=$(mktemp -d "$cache/discover.XXXXXX") # sshd wants no folder that others may write on the way
machine=$work/machine
pids=()

cleanup() {
	local pid
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	umount -q -l "$machine/proc" "$machine/srv/shop/mounted" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# system makes the folder a machine, with the programs by which it is read.
system() {
	local program lib
	mkdir -p "$machine"/{etc/lvm/backup,var/lib/dpkg,srv,home,bin,dev,proc,tmp,usr/bin}
	printf 'ID=debian\nVERSION_ID=12\n' >"$machine/etc/os-release"
	printf 'Package: base-files\nStatus: install ok installed\nVersion: 12\nArchitecture: amd64\n' >"$machine/var/lib/dpkg/status"
	printf '0123456789abcdef0123456789abcdef\n' >"$machine/etc/machine-id"
	printf 'root:x:0:0::/root:/bin/sh\nwww-data:x:33:33::/:/bin/false\nanna:x:1000:1000::/home/anna:/bin/sh\n' >"$machine/etc/passwd"
	printf 'root:x:0:\nwww-data:x:33:\nanna:x:1000:\n' >"$machine/etc/group"
	mknod -m 666 "$machine/dev/null" c 1 3
	for program in sh bash stat head cat dd id readlink find xargs getfattr; do
		program=$(command -v "$program")
		install -D "$program" "$machine$program"
		for lib in $(ldd "$program" | grep -o '/[^ ]*'); do
			[ -e "$machine$lib" ] || install -D "$lib" "$machine$lib"
		done
	done
	[ -e "$machine/bin/sh" ] || ln -s /usr/bin/sh "$machine/bin/sh"
	[ -e "$machine/bin/bash" ] || ln -s /usr/bin/bash "$machine/bin/bash" # root's login shell, by the host's passwd
}

# data: what no package brings back.
data() {
	local s=$machine/srv/shop name
	mkdir -p "$s/deep/er/still" "$s/"$'new\nline' "$s/"$'\xff\xfe' "$s/**" "$s/mounted"
	# shellcheck disable=SC1003,SC2016 # these are the names meant
	for name in ' ' '-rf' "'" '"' '\' '*' '[a]' $'tab\t' $'end\n' $'\xc3\x28' '`id`' '#' '//' $'-\n-' "find: 'x'"; do
		printf '%s' "$name" >"$s/${name//\//_}"
	done
	ln "$s/-rf" "$s/deep/hard"
	ln -s /etc/shadow "$s/absolute"
	ln -s $'new\nline/none' "$s/broken"
	truncate -s 50M "$s/sparse"
	printf '%.0s0123456789' $(seq 1000) >"$s/dense"
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$s/socket"
	mkfifo "$s/pipe"
	printf x >"$s/setuid" && chmod 6755 "$s/setuid"
	printf x >"$s/capable" && setcap cap_net_raw+ep "$s/capable"
	setfattr -n user.note -v 'a b' "$s/dense"
	setfattr -n user.$'\xfe\n#' -v x "$s/"$'end\n'
	setfattr -n security.selinux -v system_u:object_r:httpd_sys_content_t:s0 "$s/#"
	setfacl -m u:33:rx "$s/dense" && setfacl -d -m u:1000:rwx "$s/deep"
	touch -d '2001-02-03 04:05:06' "$s"/* "$s/deep/hard" && touch -d '2020-02-03 04:05:06' "$s/dense"
	mkdir -p "$machine/srv/"$'\xff place' && echo odd >"$machine/srv/"$'\xff place/file'
	echo loose >"$machine/home/loose" && ln "$machine/home/loose" "$machine/srv/-loose" && ln "$machine/home/loose" "$machine/srv/loose" && setfacl -m u:33:r "$machine/home/loose" # beside the folders
	mkdir -p "$machine/home/anna" && git init -q --bare "$machine/home/anna/code.git" && svnadmin create "$machine/home/anna/code.svn"
	ln "$s/dense" "$machine/home/anna/dense" # a file of two places counts in one
	chown -R 1000:1000 "$machine/home/anna" && chown 33:33 "$s/-rf"
	mkdir -p "$machine/var/lib/docker/volumes/shop-db/_data" && echo volume >"$machine/var/lib/docker/volumes/shop-db/_data/f"
	mkdir -p "$machine/var/mail" && echo mail >"$machine/var/mail/anna"
	mkdir -p "$machine/data/cluster" "$machine/data/www" "$machine/etc/postgresql/15/main" "$machine/etc/nginx/sites-enabled"
	echo 15 >"$machine/data/cluster/PG_VERSION"
	echo "data_directory = '/data/cluster'" >"$machine/etc/postgresql/15/main/postgresql.conf"
	printf 'server { server_name shop.example; root /data/www; }\n' >"$machine/etc/nginx/sites-enabled/shop" && : >"$machine/etc/nginx/nginx.conf" && echo page >"$machine/data/www/index.html"
	printf '/dev/mapper/svce2e-data /data ext4 defaults 0 2\nnas:/pool /mnt/pool nfs defaults 0 0\n' >"$machine/etc/fstab" && mkdir -p "$machine/mnt/pool"
}

# lvm_ runs LVM where there is no device-mapper: it writes its metadata alone, and
# the copy of it that the machine keeps.
lvm_() {
	lvm "$@" --driverloaded n --config "devices{use_devicesfile=0} activation{monitoring=0 udev_sync=0 udev_rules=0} backup{archive=0 backup_dir=\"$machine/etc/lvm/backup\"}" 2>>"$work/lvm.log"
}

# volumes makes a group with a volume in it; free is what LVM says is left.
volumes() {
	local device
	truncate -s 300M "$work/physical.img"
	device=$(losetup -f --show "$work/physical.img")
	lvm_ pvcreate -y "$device" >/dev/null && lvm_ vgcreate svce2e "$device" >/dev/null && lvm_ lvcreate -an -Zn -Wn -y -L 100m -n data svce2e >/dev/null
	free=$(lvm_ vgs --noheadings --nosuffix --units b -o vg_free svce2e | tr -d ' ')
	losetup -d "$device"
}

# found WAY FLAG…: what is found by a way.
found() {
	local way=$1
	shift
	exits "data is found by $way" 0 svc data discover "$@" --json
	cp "$work/stdout" "$work/$way.json"
}

# counted WAY: each place's counts are those that Python has of the folder.
counted() {
	check "by $1, what is counted is what Python counts" python3 - "$machine" "$work/$1.json" "$1" <<-'PY'
		import base64, collections, json, os, stat, sys
		root, found, way = sys.argv[1].encode(), json.load(open(sys.argv[2])), sys.argv[3]
		places = {base64.b64decode(p["raw_path"]) if "raw_path" in p else p["path"].encode(): p for p in found["places"]}
		owner, further = {}, collections.Counter()  # an inode, with all its names, is the first place's by path
		def below(top):
		    device = os.lstat(root + top).st_dev
		    if "names" in places[top]:
		        for name in places[top]["names"]: yield top + b"/" + name.encode(), device
		        return
		    open_ = [top]
		    while open_:
		        dir = open_.pop()
		        yield dir, device
		        for name in os.listdir(root + dir):
		            path = dir + b"/" + name
		            if path in places: continue
		            st = os.lstat(root + path)
		            if stat.S_ISDIR(st.st_mode) and st.st_dev == device: open_.append(path)
		            else: yield path, device
		for top, p in sorted(places.items()):
		    if p["kind"] == "remote": continue
		    n = collections.Counter(); newest = 0; users = collections.Counter()
		    for path, device in below(top):
		        st = os.lstat(root + path)
		        if st.st_dev != device: n["mounts"] += 1; continue
		        kind = stat.S_IFMT(st.st_mode)
		        n[{stat.S_IFREG: "files", stat.S_IFDIR: "folders", stat.S_IFLNK: "links"}.get(kind, "others")] += 1
		        n["sockets"] += kind == stat.S_IFSOCK
		        if kind == stat.S_IFREG:
		            newest = max(newest, int(st.st_mtime))
		            n["setuid"] += bool(st.st_mode & 0o6000)
		        if kind != stat.S_IFLNK:
		            names = os.listxattr(root + path, follow_symlinks=False)
		            n["acls"] += any(a.startswith("system.posix_acl_") for a in names)
		            n["attributes"] += any(a.startswith("user.") for a in names)
		            n["labels"] += "security.selinux" in names
		            n["privileged"] += "security.capability" in names
		        if kind == stat.S_IFREG and st.st_nlink > 1:
		            if (st.st_dev, st.st_ino) in owner:
		                further[owner[st.st_dev, st.st_ino]] += 1; continue
		            owner[st.st_dev, st.st_ino] = top
		        if kind == stat.S_IFREG:
		            n["bytes"] += st.st_size; n["sparse"] += st.st_blocks * 512 < st.st_size
		        n["allocated"] += st.st_blocks * 512; users[st.st_uid] += 1
		    n["mounts"] = n["mounts"]
		    got = {k: len(p[k]) if k == "mounts" else p[k] for k in n}
		    for k in ("setuid", "sockets", "others"): got[k] = p[k]
		    if way.endswith("image"): got.pop("allocated", 0), n.pop("allocated", 0) # another file system takes other blocks
		    want = {k: n[k] for k in got}
		    assert got == want, (top, {k: (got[k], want[k]) for k in got if got[k] != want[k]})
		    assert {u["id"]: u["files"] for u in p["users"]} == dict(users), (top, p["users"], users)
		    assert (p.get("newest", "")[:10] or None) == (__import__("datetime").datetime.fromtimestamp(newest, __import__("datetime").timezone.utc).strftime("%Y-%m-%d") if newest else None), top
		    assert p["unread"] == 0, p["unread_paths"]
		assert len(places) > (5 if way.endswith("image") else 8), places.keys()
		assert {t: p["hard_links"] for t, p in places.items() if p["hard_links"]} == dict(further), further
	PY
}

# says WAY EXPRESSION: of the places by their paths, p, and of the whole, d.
says() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); p = {x["path"]: x for x in d["places"]}; sys.exit(not eval(sys.argv[2]))' "$work/$1.json" "$2" || { python3 -m json.tool "$work/$1.json" | head -150 && return 1; }; }

needs sshd:openssh-server ssh:openssh-client setfacl:acl setfattr:attr setcap:libcap2-bin python3:python3 mke2fs:e2fsprogs mkfs.btrfs:btrfs-progs mkfs.xfs:xfsprogs git:git svnadmin:subversion lvm:lvm2 strace:strace

CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
system
data
volumes

# The image first: it has what is on the disk alone.
truncate -s 400M "$work/disk.img"
mke2fs -q -F -t ext4 -d "$machine" "$work/disk.img"
found image --image "$work/disk.img"
counted image
check "a disk that is not on the image is said" says image 'any(n["what"] == "/data" and "not on this image" in n["why"] for n in d["notes"])'
check "an image: its attributes are known" says image 'p["/srv/shop"]["known"]["attributes"] and p["/srv/shop"]["acls"] == 2 and p["/srv/shop"]["labels"] == 1'
for kind in btrfs xfs; do
	truncate -s 400M "$work/$kind.img"
	"mkfs.$kind" -q "$work/$kind.img"
	mkdir -p "$work/mounted" && mount -o loop "$work/$kind.img" "$work/mounted"
	cp -a "$machine/." "$work/mounted"
	umount "$work/mounted"
	found "$kind image" --image "$work/$kind.img"
	counted "$kind image"
	rm "$work/$kind.img"
done

mount -t proc proc "$machine/proc"
truncate -s 8M "$work/other.img" && mke2fs -q -F -t ext4 "$work/other.img" && mount -o loop "$work/other.img" "$machine/srv/shop/mounted" && echo elsewhere >"$machine/srv/shop/mounted/file"
found root --root "$machine"
counted root
strace -f -qq -e trace=openat,openat2,open -o "$work/opens" "$work/svc" data discover --root "$machine" --json >/dev/null
check "folders of data are listed, and none of their files opened" python3 - "$work/opens" <<-'PY'
	import re, sys
	opens = [l for l in open(sys.argv[1], errors="replace") if re.search(r'open(at2?)?\([^"]*"(srv|home|var/mail|var/lib/docker/volumes)', l)]
	assert len(opens) > 10, len(opens)
	read = [l for l in opens if "O_DIRECTORY" not in l and "O_PATH" not in l]
	assert not read, read
PY
serve_ssh "ChrootDirectory $machine"
pids+=("$sshd")
destination=root@127.0.0.1:$port
python3 -c 'import sys, time; f = open(sys.argv[1]); time.sleep(600)' "$machine/srv/shop/dense" &
pids+=($!)
found ssh --ssh "$destination"
counted ssh

check "a database is where its configuration says" says root 'p["/data/cluster"]["what"] == "postgresql" and p["/data/cluster"]["version"] == "15"'
check "a snapshot of LVM has the room that LVM says is free" says root "p['/data']['snapshot']['kind'] == 'lvm' and p['/data']['snapshot']['free'] == $free and $free == 196 << 20"
check "a site is where the web server's says" says root 'p["/data/www"]["kind"] == "web" and p["/data/www"]["within"] == "/data"'
check "volumes of containers are a place" says root 'p["/var/lib/docker/volumes"]["kind"] == "containers" and p["/var/lib/docker/volumes"]["files"] == 1'
check "what is mounted from elsewhere stays there" says root 'p["/mnt/pool"]["kind"] == "remote" and p["/mnt/pool"]["files"] == 0'
check "repositories of git and svn are seen" says root '{(r["path"], r["kind"]) for r in p["/home/anna"]["repositories"]} == {("/home/anna/code.git", "git"), ("/home/anna/code.svn", "svn")}'
check "over ssh too" says ssh '{(r["path"], r["kind"]) for r in p["/home/anna"]["repositories"]} == {("/home/anna/code.git", "git"), ("/home/anna/code.svn", "svn")}'
check "owners have the machine's names" says ssh '{u["name"] for u in p["/home/anna"]["users"]} >= {"anna"} and {u["name"] for u in p["/srv/shop"]["users"]} == {"root", "www-data"}'
check "a mount in a place is named and not entered" says ssh 'p["/srv/shop"]["mounts"] == ["/srv/shop/mounted"]'
check "open files are counted over ssh, and by whom" says ssh 'p["/srv/shop"]["known"]["open_files"] and p["/srv/shop"]["open_files"] == 1 and "python3" in p["/srv/shop"]["open_by"][0]'
check "attributes are known over ssh, where getfattr is" says ssh 'p["/srv/shop"]["known"]["attributes"] and p["/srv/shop"]["acls"] == 2 and p["/srv/shop"]["labels"] == 1 and p["/srv/shop"]["privileged"] == 1'
rm "$machine$(command -v getfattr)"
found without --ssh "$destination"
check "and said to be unknown where it is not" says without 'not p["/srv/shop"]["known"]["attributes"] and p["/srv/shop"]["known"]["inodes"]'
rm "$machine$(command -v xargs)"
umount "$machine/srv/shop/mounted" # in a chroot the kernel names mounts by the host's paths
found unmounted --root "$machine"
found listings --ssh "$destination"
check "without xargs, listings have the same files" python3 - "$work/unmounted.json" "$work/listings.json" <<-'PY'
	import json, sys
	keys = ("path", "kind", "files", "folders", "links", "others", "odd_names", "sockets", "unread", "newest")
	a, b = ({p["path"]: [p.get(k) for k in keys] for p in json.load(open(f))["places"]} for f in sys.argv[1:])
	assert a == b, [(a.get(k), b.get(k)) for k in a.keys() | b.keys() if a.get(k) != b.get(k)]
PY
exits "a plan over ssh is made" 0 svc data plan --ssh "$destination" --target debian-13 --out "$work/out" --source-offline --confirm
check "and carries names of any bytes" grep -rqF "PLACE=\$'/srv/\\xff place'" "$work/out/places"
finish
