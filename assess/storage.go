package assess

import (
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// readStorage notes how the machine's disks are laid out and how it boots.
func (m *machine) readStorage() {
	m.volumes()
	m.iscsi()
	m.multipath()
	m.bootLoaders()
}

// volumes notes LVM's groups and volumes, by the copy of their description that
// LVM keeps.
func (m *machine) volumes() {
	names, err := m.files("etc/lvm/backup")
	m.outcome("storage.lvm", "etc/lvm/backup", err)
	for _, name := range names {
		file := path.Join("etc/lvm/backup", name)
		text, _ := m.text("storage.lvm."+name, file)
		for _, v := range parseLVM("/"+file, text) {
			m.fact("storage", "lvm", name+"/"+v.Key, v.Evidence)
		}
	}
}

// parseLVM gives the names of the logical volumes: the blocks that stand in
// logical_volumes.
func parseLVM(file, text string) (volumes []Setting) {
	depth, inside := 0, 0
	for n, line := range numberedLines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		switch {
		case strings.HasSuffix(line, "{"):
			depth++
			name := strings.TrimSpace(strings.TrimSuffix(line, "{"))
			switch {
			case name == "logical_volumes":
				inside = depth
			case inside > 0 && depth == inside+1:
				volumes = append(volumes, Setting{name, "", Evidence{file, n}})
			}
		case line == "}":
			if depth == inside {
				inside = 0
			}
			depth = max(0, depth-1)
		}
	}
	return volumes
}

// iscsi notes the targets that the machine logs in to.
func (m *machine) iscsi() {
	for _, dir := range []string{"var/lib/iscsi/nodes", "etc/iscsi/nodes"} {
		targets, err := m.files(dir)
		m.outcome("storage.iscsi", dir, err)
		for _, target := range targets {
			portals, _ := m.files(path.Join(dir, target)) // an empty one is no target
			for _, portal := range portals {
				host, _, _ := strings.Cut(portal, ",")
				m.fact("storage", "iscsi", target+" at "+host, Evidence{"/" + path.Join(dir, target, portal), 0})
			}
		}
	}
}

func (m *machine) multipath() {
	if text, ok := m.text("storage.multipath", "etc/multipath.conf"); ok && hasSettings(text) {
		m.fact("storage", "multipath", "configured", Evidence{"/etc/multipath.conf", 0})
	}
}

// loaders are boot loaders by the files that they start from.
var loaders = []struct{ kind, file string }{
	{"grub2", "boot/grub2/grub.cfg"},
	{"grub2", "boot/grub/grub.cfg"},
	{"grub-legacy", "boot/grub/grub.conf"},
	{"grub-legacy", "boot/grub/menu.lst"},
	{"extlinux", "boot/extlinux.conf"},
	{"extlinux", "boot/extlinux/extlinux.conf"},
	{"syslinux", "boot/syslinux/syslinux.cfg"},
	{"lilo", "etc/lilo.conf"},
	{"zipl", "etc/zipl.conf"},
	{"systemd-boot", "boot/loader/loader.conf"},
	{"systemd-boot", "boot/efi/loader/loader.conf"},
}

// efiFolders are where the EFI's partition has vendors' loaders.
var efiFolders = []string{"boot/efi/EFI", "efi/EFI", "boot/EFI"}

// bootLoaders notes what boots the machine, and with which arguments where
// that stands in a file of the loader alone.
func (m *machine) bootLoaders() {
	found := false
	for _, l := range loaders {
		if !m.exists(l.file) {
			continue
		}
		found = true
		m.fact("boot", "loader", l.kind, Evidence{"/" + l.file, 0})
		if l.kind != "grub2" {
			m.kernelArguments(l.file)
		}
	}
	for _, dir := range efiFolders {
		names, err := m.files(dir)
		for _, name := range names {
			m.fact("boot", "efi", name, Evidence{"/" + path.Join(dir, name), 0})
		}
		if stateOf(err) == SourceUnreadable {
			m.outcome("boot.efi", dir, err)
		}
	}
	state := SourceAbsent
	if found {
		state = SourceOK
	}
	m.source("boot.loader", state, "/boot")
}

// kernelLine is a line that starts a kernel with arguments.
var kernelLine = lazyregexp.New(`(?i)^(?:kernel|append|options|linux)\s+(.*)$`)

// kernelArguments notes the first arguments that a loader's file has.
func (m *machine) kernelArguments(file string) {
	text, _ := m.text("boot."+path.Base(file), file)
	for n, line := range numberedLines(text) {
		if f := kernelLine.FindStringSubmatch(line); f != nil && strings.Contains(f[1], "=") {
			m.fact("boot", "arguments", f[1], Evidence{"/" + file, n})
			return
		}
	}
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
