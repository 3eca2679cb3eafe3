package data

import (
	"path"
	"slices"
	"strings"

	"svc/assess/conf"
	"svc/assess/host"
)

// unitFolder has the units of people's own.
const unitFolder = "etc/systemd/system"

// views are the folders at which a machine shows what stands elsewhere on it, by binds of
// fstab and of units. On its disk they are empty: a copy of one would delete on the target,
// through its own mount, what was copied to where it stands.
func (f *finder) views() (all []string) {
	for _, m := range f.a.Mounts {
		if bind(m.Options) {
			all = append(all, path.Clean(m.Path))
		}
	}
	for _, s := range f.a.Services {
		if strings.HasSuffix(s.Name, ".mount") && s.State == "enabled" {
			all = append(all, f.viewOfUnit(s.Name)...)
		}
	}
	return all
}

// viewOfUnit is the folder of a unit that binds one; none where it mounts a device.
func (f *finder) viewOfUnit(name string) []string {
	const most = 64 << 10
	b, err := host.ReadFile(f.fs, path.Join(unitFolder, name), most)
	if err != nil {
		return nil // a package's, which mounts what the system has
	}
	says := map[string]string{}
	for l := range conf.INI(string(b)) {
		if l.Section == "Mount" {
			says[strings.TrimSpace(l.Key)] = l.Value
		}
	}
	if where := says["Where"]; bind(strings.Split(says["Options"], ",")) && path.IsAbs(where) {
		return []string{path.Clean(where)}
	}
	return nil
}

func bind(options []string) bool {
	return slices.Contains(options, "bind") || slices.Contains(options, "rbind")
}

// shown says in which view a folder is; empty where it is in none.
func shown(views []string, full string) string {
	i := slices.IndexFunc(views, func(view string) bool { return full == view || strings.HasPrefix(full, view+"/") })
	if i < 0 {
		return ""
	}
	return views[i]
}
