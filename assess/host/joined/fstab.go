package joined

import (
	"path"
	"slices"
	"strings"
)

// fstabLine is a file system that the machine mounts when it starts.
type fstabLine struct {
	device  string // as the line has it
	path    string // without the leading slash; "." is the root
	options []string
}

// parseFstab gives the lines of what is mounted by itself, those of a folder
// before those of the folders in it.
func parseFstab(text string) []fstabLine {
	var lines []fstabLine
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") || !strings.HasPrefix(f[1], "/") {
			continue
		}
		l := fstabLine{device: unescape.Replace(f[0]), path: path.Join(".", path.Clean(unescape.Replace(f[1]))[1:])}
		if len(f) > 3 {
			l.options = strings.Split(f[3], ",")
		}
		if !slices.Contains(l.options, "noauto") || slices.Contains(l.options, "x-systemd.automount") {
			lines = append(lines, l)
		}
	}
	slices.SortStableFunc(lines, func(a, b fstabLine) int { return depth(a.path) - depth(b.path) })
	return lines
}

// unescape undoes what fstab needs for spaces.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)

func depth(name string) int {
	if name == "." {
		return 0
	}
	return 1 + strings.Count(name, "/")
}

// option is the value of an option such as subvol.
func (l fstabLine) option(name string) (string, bool) {
	for _, o := range l.options {
		if key, value, ok := strings.Cut(o, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// tags are the kinds of names that a device has beside that of its node.
var tags = map[string]string{
	"/dev/disk/by-uuid/": "UUID=", "/dev/disk/by-label/": "LABEL=",
	"/dev/disk/by-partuuid/": "PARTUUID=", "/dev/disk/by-partlabel/": "PARTLABEL=",
}

// deviceName is the one form of a device's name; it is not ok for what is no
// disk, such as a share of the network.
func deviceName(device string) (string, bool) {
	for dir, tag := range tags {
		if name, ok := strings.CutPrefix(device, dir); ok {
			device = tag + strings.ReplaceAll(name, `\x20`, " ")
		}
	}
	tag, value, ok := strings.Cut(device, "=")
	if !ok {
		return device, strings.HasPrefix(device, "/dev/")
	}
	value = strings.Trim(value, `"'`)
	if tag == "UUID" || tag == "PARTUUID" {
		value = strings.ToLower(value)
	}
	return tag + "=" + value, slices.Contains([]string{"UUID", "LABEL", "PARTUUID", "PARTLABEL"}, tag)
}

// mapperName is the name of a logical volume's node in /dev/mapper, where a dash
// that stands between the two parts is told from those in them.
func mapperName(group, volume string) string {
	double := strings.NewReplacer("-", "--")
	return double.Replace(group) + "-" + double.Replace(volume)
}

// firstDisks are the nodes that Linux gives the first disk, and what stands
// before a partition's number; which one it is depends on the machine.
var firstDisks = map[string]string{
	"/dev/sda": "", "/dev/vda": "", "/dev/xvda": "", "/dev/hda": "", "/dev/nvme0n1": "p", "/dev/mmcblk0": "p",
}
