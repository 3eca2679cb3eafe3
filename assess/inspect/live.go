package inspect

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/services"
	"svc/backend/pkgversion"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// readRunning asks a machine that runs for what its disk does not say. All but
// the states of units is read of /proc and /sys; those come of host.ListUnits,
// the one program that is run for it.
func readRunning(m *assess.Machine, ctx context.Context, h host.Host) {
	if !h.Live() {
		return
	}
	r := running{m: m, Running: &assess.Running{}}
	r.readKernel()
	r.readModules()
	r.readMounts()
	r.readUnits(ctx, h)
	r.readProcesses()
	r.order()
	m.A.Running = r.Running
}

// running is a Running in the making.
type running struct {
	*assess.Running
	m *assess.Machine
}

// Bounds of what the kernel tells, in bytes and in processes.
const (
	maxKernelFile = 16 << 20
	maxProcesses  = 20_000
)

// text reads a file of the kernel and notes how that ended under what.
func (r *running) text(what, name string) string {
	b, err := host.ReadFile(r.m.FS, name, maxKernelFile)
	r.outcome(what, name, err)
	return string(b)
}

func (r *running) outcome(what, name string, err error) {
	detail := "/" + name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		detail = assess.Quoted(err)
	}
	r.Sources = append(r.Sources, assess.Source{What: what, State: assess.StateOf(err), Detail: detail})
}

func (r *running) readKernel() {
	r.Kernel = assess.FirstLine(r.text("running.kernel", "proc/sys/kernel/osrelease"))
	r.BootedAt = bootTime(r.text("running.boot", "proc/stat"))
	r.SELinux = cmp.Or(map[string]string{"1": "enforcing", "0": "permissive"}[assess.FirstLine(r.text("running.selinux", "sys/fs/selinux/enforce"))], "disabled")
	r.AppArmor = cmp.Or(map[string]string{"Y": "enabled"}[assess.FirstLine(r.text("running.apparmor", "sys/module/apparmor/parameters/enabled"))], "disabled")
	r.Draws = portRange(r.m.Peek("proc/sys/net/ipv4/ip_local_port_range"))
}

// portRange are the two ports of ip_local_port_range; none where it says no such.
func portRange(text string) []int {
	var first, last int
	if n, err := fmt.Sscan(text, &first, &last); n != 2 || err != nil || first < 1 || last < first || last > 65535 {
		return nil
	}
	return []int{first, last}
}

// bootTime is the line btime of /proc/stat: seconds since 1970.
func bootTime(stat string) string {
	for line := range strings.Lines(stat) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			seconds, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32)
			if err != nil {
				return ""
			}
			return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339)
		}
	}
	return ""
}

func (r *running) readModules() {
	for line := range strings.Lines(r.text("running.modules", "proc/modules")) {
		if f := strings.Fields(line); len(f) > 0 {
			r.Modules = append(r.Modules, f[0])
		}
	}
}

// kernelTypes are file systems that hold nothing of anybody's.
var kernelTypes = []string{
	"autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs", "fusectl", "fuse.gvfsd-fuse",
	"fuse.lxcfs", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs", "selinuxfs", "sysfs", "tracefs",
}

// readMounts takes the mounts of the first process; only root may see those,
// but a user sees the own.
func (r *running) readMounts() {
	name := "proc/1/mountinfo"
	b, err := host.ReadFile(r.m.FS, name, maxKernelFile)
	if err != nil {
		name = "proc/self/mountinfo"
		b, err = host.ReadFile(r.m.FS, name, maxKernelFile)
	}
	r.outcome("running.mounts", name, err)
	for line := range strings.Lines(string(b)) {
		mount, ok := parseMountInfo(line)
		scratch := mount.Type == "tmpfs" && slices.ContainsFunc([]string{"/run", "/dev", "/sys"}, func(dir string) bool {
			return mount.Path == dir || strings.HasPrefix(mount.Path, dir+"/")
		})
		if ok && !scratch && !slices.Contains(kernelTypes, mount.Type) {
			mount.Evidence = assess.Evidence{Path: "/proc/mounts", Line: 0} // the number of a process or a line says nothing tomorrow
			r.Mounts = append(r.Mounts, mount)
		}
	}
}

// parseMountInfo reads a line of /proc/PID/mountinfo: id, parent, device number,
// root, mount point, options, optional fields, "-", type, source, options.
func parseMountInfo(line string) (mount assess.Mount, ok bool) {
	before, after, ok := strings.Cut(line, " - ")
	f, rest := strings.Fields(before), strings.Fields(after)
	if !ok || len(f) < 6 || len(rest) < 2 {
		return mount, false
	}
	return assess.Mount{Device: unescapeMount(rest[1]), Path: unescapeMount(f[4]), Type: rest[0], Options: strings.Split(f[5], ",")}, true
}

// readUnits asks systemd, where it is what started the machine.
func (r *running) readUnits(ctx context.Context, h host.Host) {
	if _, err := r.m.FS.Stat("run/systemd/system"); err != nil {
		r.outcome("running.units", "run/systemd/system", err)
		return
	}
	b, err := host.Run(ctx, h, host.ListUnits)
	switch {
	case err != nil:
		r.outcome("running.units", "usr/bin/systemctl", err)
	case len(bytes.TrimSpace(b)) == 0:
		r.Sources = append(r.Sources, assess.Source{What: "running.units", State: assess.SourceUnreadable, Detail: "systemctl says nothing"})
	default:
		r.outcome("running.units", "usr/bin/systemctl", nil)
	}
	for line := range strings.Lines(string(b)) {
		if u, ok := parseRunningUnit(line); ok {
			r.Units = append(r.Units, u)
		}
	}
}

// parseRunningUnit reads a line of systemctl: name, load state, state, sub-state,
// description. Older versions mark a unit that failed in front of its name.
func parseRunningUnit(line string) (u assess.RunningUnit, ok bool) {
	f := strings.Fields(strings.TrimLeft(line, "*● "))
	if len(f) < 4 || !slices.Contains(services.UnitKinds, path.Ext(f[0])) {
		return u, false
	}
	u = assess.RunningUnit{Name: f[0], State: f[2], Sub: f[3]}
	kept := []string{".path", ".service", ".timer"}
	return u, u.State == "failed" || u.State != "inactive" && slices.Contains(kept, path.Ext(u.Name))
}

// protocols are the kernel's lists of sockets, and the state in which one of
// each listens: for UDP that is one that is bound to no peer.
var protocols = []struct{ name, listens string }{{"tcp", "0A"}, {"tcp6", "0A"}, {"udp", "07"}, {"udp6", "07"}}

// readProcesses finds the sockets on which the machine listens, the programs
// that hold them, and the database servers among all that runs.
func (r *running) readProcesses() {
	holders := map[string][]int{} // indexes of sockets by inode
	for _, p := range protocols {
		for line := range strings.Lines(r.text("running.sockets."+p.name, "proc/net/"+p.name)) {
			if s, inode, ok := parseSocket(line, p.listens); ok {
				s.Protocol = p.name
				holders[inode] = append(holders[inode], len(r.Sockets))
				r.Sockets = append(r.Sockets, s)
			}
		}
	}
	processes := r.processes()
	for pid, inodes := range r.heldSockets(processes, holders) {
		program := r.program(pid)
		for _, inode := range inodes {
			for _, i := range holders[inode] {
				r.Sockets[i] = better(r.Sockets[i], program)
			}
		}
	}
	r.lockManager()
	r.readDatabases(processes)
}

// lockPorts are where the lock manager of NFS, which is in the kernel, has the ports that
// it was set to; 0 has one drawn. They are there where it is loaded (lockd's nlm_tcpport).
var lockPorts = map[string]string{"tcp": "proc/sys/fs/nfs/nlm_tcpport", "udp": "proc/sys/fs/nfs/nlm_udpport"}

// lockManager notes which ports the kernel's lock manager drew: no program holds them, and
// they are of the range from which the kernel draws. Where there are several of a protocol,
// or programs that are hidden, nothing tells which these are.
func (r *running) lockManager() {
	if slices.ContainsFunc(r.Sources, func(s assess.Source) bool {
		return s.What == "running.processes" && s.State != assess.SourceOK
	}) {
		return
	}
	for _, p := range protocols {
		if assess.FirstLine(r.m.Peek(lockPorts[strings.TrimSuffix(p.name, "6")])) != "0" {
			continue
		}
		var nobodys []int
		for i, s := range r.Sockets {
			if s.Protocol == p.name && s.Program == "" && s.DrawnByKernel(r.Running) {
				nobodys = append(nobodys, i)
			}
		}
		if len(nobodys) == 1 {
			r.Sockets[nobodys[0]].Drawn = true
		}
	}
}

// parseSocket reads a line of /proc/net/tcp and its like: number, local address,
// remote address, state, …, and in the tenth field the inode.
func parseSocket(line, listens string) (s assess.Socket, inode string, ok bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != listens {
		return s, "", false
	}
	address, port, _ := strings.Cut(f[1], ":")
	n, err := strconv.ParseUint(port, 16, 16)
	ip, ok := parseKernelAddress(address)
	if err != nil || !ok || n == 0 {
		return s, "", false
	}
	return assess.Socket{Address: ip.String(), Port: int(n)}, f[9], true
}

// parseKernelAddress reads an address as the kernel prints it: words of 32 bits,
// each in the machine's order of bytes, which is little-endian on all that is
// known here.
func parseKernelAddress(s string) (netip.Addr, bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b)%4 != 0 {
		return netip.Addr{}, false
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	return netip.AddrFromSlice(b)
}

// process is a process that is no thread of the kernel.
type process struct {
	pid string
	exe string // path of its executable
}

// processes are all whose executable this user may see: of those of others
// only root may.
func (r *running) processes() (all []process) {
	entries, err := r.m.FS.ReadDir("proc")
	links := sliced.FilterMap(entries, func(e fs.DirEntry) (string, bool) {
		_, err := strconv.ParseUint(e.Name(), 10, 32)
		return path.Join("proc", e.Name(), "exe"), err == nil
	})
	links = links[:min(len(links), maxProcesses)]
	host.Expect(r.m.FS, host.Links, links)
	hidden := false
	for _, link := range links {
		exe, err := r.m.FS.ReadLink(link)
		if err == nil {
			all = append(all, process{path.Base(path.Dir(link)), exe})
		}
		hidden = hidden || errors.Is(err, fs.ErrPermission)
	}
	if hidden {
		r.Sources = append(r.Sources, assess.Source{What: "running.processes", State: assess.SourceUnreadable, Detail: "the kernel hides the programs of other users from this one"})
	} else {
		r.outcome("running.processes", "proc", err)
	}
	return all
}

// heldSockets are the inodes of the wanted sockets that each process holds.
func (r *running) heldSockets(processes []process, wanted map[string][]int) map[process][]string {
	held := map[process][]string{}
	if len(wanted) == 0 {
		return held
	}
	folders := sliced.Map(processes, func(p process) string { return path.Join("proc", p.pid, "fd") })
	host.Expect(r.m.FS, host.Folders, folders)
	for i, p := range processes {
		entries, err := r.m.FS.ReadDir(folders[i])
		if err != nil {
			continue // it ended, or is somebody else's: processes says so
		}
		for _, e := range entries {
			target, _ := r.m.FS.ReadLink(path.Join(folders[i], e.Name())) // closed by now
			if inode, ok := strings.CutPrefix(target, "socket:["); ok && wanted[strings.TrimSuffix(inode, "]")] != nil {
				held[p] = append(held[p], strings.TrimSuffix(inode, "]"))
			}
		}
	}
	var details []string
	for p := range held {
		details = append(details, path.Join("proc", p.pid, "comm"), path.Join("proc", p.pid, "cgroup"))
	}
	host.Expect(r.m.FS, host.Files, details)
	return held
}

// program describes a process as the holder of a socket.
func (r *running) program(p process) assess.Socket {
	unit := unitOf(r.m.Peek(path.Join("proc", p.pid, "cgroup")))
	return assess.Socket{
		Program: assess.FirstLine(r.m.Peek(path.Join("proc", p.pid, "comm"))),
		Path:    strings.TrimSuffix(p.exe, replaced),
		Unit:    unit,
		Package: services.UnitPackage(r.m, unit),
	}
}

// better is the socket with its holder. Of several holders it is the service
// rather than systemd, which holds the sockets that it starts services for, and
// otherwise always the same one.
func better(s, holder assess.Socket) assess.Socket {
	rank := func(s assess.Socket) string {
		order := map[string]string{"": "2", "systemd": "1"}
		return cmp.Or(order[s.Program], "0") + s.Program + s.Path + s.Unit
	}
	if s.Program == "" || rank(holder) < rank(s) {
		s.Program, s.Path, s.Unit, s.Package = holder.Program, holder.Path, holder.Unit, holder.Package
	}
	return s
}

// unitOf is the unit in a path of /proc/PID/cgroup: of systemd's own hierarchy,
// or the only one.
func unitOf(cgroup string) string {
	for line := range strings.Lines(cgroup) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controller, name, _ := strings.Cut(rest, ":")
		if controller != "" && controller != "name=systemd" {
			continue
		}
		for part := range strings.SplitSeq(name, "/") {
			if strings.HasSuffix(part, ".service") || strings.HasSuffix(part, ".scope") || strings.HasSuffix(part, ".socket") {
				return part
			}
		}
	}
	return ""
}

// replaced is what the kernel puts behind the path of an executable that was
// deleted, as an update does.
const replaced = " (deleted)"

// serverRows are the programs of database servers, and how the packages begin that
// they are from.
//
//go:embed servers.tsv
var serverRows string

var servers = sync.OnceValue(func() map[string][]string { return tsv.Words(serverRows) })

func (r *running) readDatabases(processes []process) {
	for _, p := range processes {
		exe, isReplaced := strings.CutSuffix(p.exe, replaced)
		words, ok := servers()[path.Base(exe)]
		if !ok {
			continue
		}
		d := assess.RunningDatabase{Engine: words[0], Path: exe, Replaced: isReplaced}
		if pkg := r.packageOf(exe, words[1:]); pkg != nil {
			d.Package, d.Version = pkg.Name, pkgversion.Upstream(pkg.Version)
		}
		if strings.HasPrefix(d.Package, "mariadb") || strings.HasPrefix(d.Package, "MariaDB") {
			d.Engine = "mariadb" // its older versions call the program mysqld
		}
		if !slices.Contains(r.Databases, d) {
			r.Databases = append(r.Databases, d)
		}
	}
}

// packageOf is the installed package that an executable is from: of those that
// stand side by side in versions, the one whose version is in the path.
func (r *running) packageOf(exe string, prefixes []string) *assess.Package {
	version := ""
	for part := range strings.SplitSeq(exe, "/") {
		part = strings.TrimPrefix(part, "pgsql-")
		if _, err := strconv.ParseFloat(part, 64); err == nil {
			version = part
		}
	}
	for _, prefix := range prefixes {
		names := []string{prefix}
		if version != "" {
			names = []string{prefix + "-" + version, prefix + strings.ReplaceAll(version, ".", "") + "-server"}
		} else if p := r.m.Installed(prefix + "-server"); p != nil {
			return p
		}
		for _, name := range names {
			if p := r.m.Installed(name); p != nil {
				return p
			}
		}
		if p := r.m.InstalledPrefix(prefix + "-"); p != nil && version == "" {
			return p
		}
	}
	return nil
}

// order sorts every list, and leaves none null.
func (r *running) order() {
	slices.SortFunc(r.Sockets, func(a, b assess.Socket) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Program, b.Program))
	})
	slices.SortFunc(r.Units, func(a, b assess.RunningUnit) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(r.Mounts, func(a, b assess.Mount) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Device, b.Device))
	})
	slices.Sort(r.Modules)
	slices.SortFunc(r.Databases, func(a, b assess.RunningDatabase) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Version, b.Version))
	})
	slices.SortFunc(r.Sources, func(a, b assess.Source) int { return cmp.Compare(a.What, b.What) })
	r.Sockets = slices.Compact(r.Sockets)
	noneNull(r.Running)
}
