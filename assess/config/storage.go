package config

import (
	"path"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// ReadStorage notes how the machine's disks are laid out and how it boots.
func ReadStorage(m *assess.Machine) {
	volumes(m)
	iscsi(m)
	multipath(m)
	bootLoaders(m)
}

// volumes notes LVM's groups and volumes, by the copy of their description that
// LVM keeps.
func volumes(m *assess.Machine) {
	names, err := m.Files("etc/lvm/backup")
	m.Outcome("storage.lvm", "etc/lvm/backup", err)
	for _, name := range names {
		file := path.Join("etc/lvm/backup", name)
		text, _ := m.Text("storage.lvm."+name, file)
		for _, v := range parseLVM("/"+file, text) {
			m.Fact("storage", "lvm", name+"/"+v.Key, v.Evidence)
		}
	}
}

// parseLVM gives the names of the logical volumes: the blocks that stand in
// logical_volumes.
func parseLVM(file, text string) (volumes []assess.Setting) {
	depth, inside := 0, 0
	for n, line := range assess.NumberedLines(text) {
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
				volumes = append(volumes, assess.Setting{Key: name, Value: "", Evidence: assess.Evidence{Path: file, Line: n}})
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
func iscsi(m *assess.Machine) {
	for _, dir := range []string{"var/lib/iscsi/nodes", "etc/iscsi/nodes"} {
		targets, err := m.Files(dir)
		m.Outcome("storage.iscsi", dir, err)
		for _, target := range targets {
			portals, _ := m.Files(path.Join(dir, target)) // an empty one is no target
			for _, portal := range portals {
				host, _, _ := strings.Cut(portal, ",")
				m.Fact("storage", "iscsi", target+" at "+host, assess.Evidence{Path: "/" + path.Join(dir, target, portal), Line: 0})
			}
		}
	}
}

func multipath(m *assess.Machine) {
	if text, ok := m.Text("storage.multipath", "etc/multipath.conf"); ok && assess.HasSettings(text) {
		m.Fact("storage", "multipath", "configured", assess.Evidence{Path: "/etc/multipath.conf", Line: 0})
	}
}

// efiFolders are where the EFI's partition has vendors' loaders.
var efiFolders = []string{"boot/efi/EFI", "efi/EFI", "boot/EFI"}

// bootLoaders notes with which arguments the loaders of the table start the machine, where
// that stands in a file of theirs alone, and what the EFI has.
func bootLoaders(m *assess.Machine) {
	state := assess.SourceAbsent
	for _, f := range m.Facts("boot") {
		if f.Key != "loader" {
			continue
		}
		if state = assess.SourceOK; f.Value != "grub2" {
			kernelArguments(m, f.Evidence.Path[1:])
		}
	}
	for _, dir := range efiFolders {
		names, err := m.Files(dir)
		for _, name := range names {
			m.Fact("boot", "efi", name, assess.Evidence{Path: "/" + path.Join(dir, name), Line: 0})
		}
		m.Unreadable("boot.efi", dir, err)
	}
	m.Source("boot.loader", state, "/boot")
}

// kernelLine is a line that starts a kernel with arguments.
var kernelLine = lazyregexp.New(`(?i)^(?:kernel|append|options|linux)\s+(.*)$`)

// kernelArguments notes the first arguments that a loader's file has.
func kernelArguments(m *assess.Machine, file string) {
	text, _ := m.Text("boot."+path.Base(file), file)
	for n, line := range assess.NumberedLines(text) {
		if f := kernelLine.FindStringSubmatch(line); f != nil && strings.Contains(f[1], "=") {
			m.Fact("boot", "arguments", f[1], assess.Evidence{Path: "/" + file, Line: n})
			return
		}
	}
}
