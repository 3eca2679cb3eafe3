# What a hostile machine does as root when it is started, in a rehearsal: each line tries a way
# out. It is nothing to run anywhere else.
[ -x /usr/local/bin/escape ] || exit 1
exec >/var/lib/escape 2>&1
echo h >/proc/sysrq-trigger && echo OUT sysrq
echo /tmp/x >/proc/sys/kernel/core_pattern && echo OUT core
echo 1 >/proc/sys/kernel/panic_on_oops && echo OUT panic
echo 3 >/proc/sys/vm/drop_caches && echo OUT drop_caches
head -c 1 /proc/kcore && echo OUT kcore
head -c 1 /dev/kmsg && echo OUT kmsg
mknod /root/disk b 254 0 && echo OUT mknod
for d in vda sda nvme0n1 mem fuse kvm; do [ ! -e /dev/$d ] || echo OUT "device $d"; done
mkdir -p /root/m
for kind in memory pids devices; do mount -t cgroup -o $kind cgroup /root/m && echo /x >/root/m/release_agent && echo OUT "release_agent of $kind"; done
mount -t cgroup -o pids cgroup /root/m && echo max >/root/m/pids.max && echo OUT pids.max
mount -t cgroup -o none,name=svc-e2e cgroup /root/m && echo OUT hierarchy
for file in pids.max memory.max cpu.max cgroup.max.descendants; do echo max >/sys/fs/cgroup/$file && echo OUT "cgroup $file"; done
echo $$ >/sys/fs/cgroup/../cgroup.procs && echo OUT "cgroup above"
mount -o remount,rw /sys && echo 1 >/sys/kernel/mm/ksm/run && echo OUT sys
for kind in debugfs tracefs securityfs; do mount -t $kind x /root/m && echo OUT $kind; done
mount -o remount,bind,rw /mnt/svc-source && touch /mnt/svc-source/written && echo OUT source
mount -o remount,bind,dev,suid,exec /mnt/svc-source && echo OUT "source's flags"
umount /dev/null && ls -d /dev/vd* && echo OUT "the host's devices"
ls /proc/1/root/var/lib/svc-e2e-host && echo OUT host
ls /proc/1/cwd/svc-e2e-host /proc/self/fd/*/svc-e2e-host && echo OUT folder
grep -ls 'svc-e2e-[p]rocess' /proc/[0-9]*/cmdline && echo OUT process
nsenter -t 1 -m ls /var/lib/svc-e2e-host && echo OUT nsenter
[ ! -S /run/docker.sock ] || echo OUT docker
ip link 2>/dev/null | grep -q eth0 && echo OUT network
(echo >/dev/tcp/1.1.1.1/53) && echo OUT tcp
insmod /x.ko && echo OUT module
date -s 2001-01-01 && echo OUT clock
kill -9 1 # no signal of its own reaches the first process
echo done
