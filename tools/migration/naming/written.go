package naming

import (
	"path"
	"slices"
	"strings"
)

// Written is a place below /var where services write, that a text of the target names.
type Written struct {
	Path string
	Was  string // what the source calls it
}

// whereServicesWrite are the folders of such places.
var whereServicesWrite = []string{"/var/log/", "/var/spool/", "/var/lib/", "/var/cache/"}

// WrittenIn are the places that a text names, by lines that say something, with those that
// lines call otherwise than on the source; changes are these, each as it was and is now. The
// folder of a place that has another name comes before it.
func WrittenIn(text string, changes [][2]string) (all []Written) {
	for _, change := range changes {
		was, now := Paths.FindAllString(change[0], -1), Paths.FindAllString(change[1], -1)
		for i := range min(len(was), len(now)) {
			if len(was) != len(now) || was[i] == now[i] || !servicesWrite(now[i]) {
				continue
			}
			if above := path.Dir(now[i]); above != path.Dir(was[i]) && servicesWrite(above) {
				all = append(all, Written{above, path.Dir(was[i])})
			}
			all = append(all, Written{now[i], was[i]})
		}
	}
	for n, line := range strings.Split(text, "\n") {
		if Silent(n, line) || !strings.Contains(line, "/var/") {
			continue
		}
		for _, name := range Paths.FindAllString(line, -1) {
			if above := path.Dir(name); servicesWrite(above) {
				all = append(all, Written{above, above})
			}
			if servicesWrite(name) {
				all = append(all, Written{name, name})
			}
		}
	}
	return all
}

func servicesWrite(name string) bool {
	return slices.ContainsFunc(whereServicesWrite, func(dir string) bool { return strings.HasPrefix(name, dir) })
}
