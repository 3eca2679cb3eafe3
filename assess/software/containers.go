package software

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
)

// maxContainers bounds each kind of a container engine's things.
const maxContainers = 1000

// ReadContainers lists what container engines have: containers, images,
// volumes, and the files that people start them by. Nothing is taken of their
// environment: it has passwords.
func ReadContainers(m *assess.Machine) {
	docker(m, "var/lib/docker")
	for _, dir := range m.Glob("/var/lib/containers/storage", "/home/*/.local/share/containers/storage") {
		podman(m, dir[1:])
	}
	lxc(m)
	composeFiles(m)
	quadlets(m)
	slices.SortFunc(m.A.Containers, func(a, b assess.Container) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Evidence.Path, b.Evidence.Path))
	})
}

func addContainer(m *assess.Machine, engine, kind, name, image, file string) {
	m.A.Containers = append(m.A.Containers, assess.Container{Engine: engine, Kind: kind, Name: name, Image: image, Evidence: assess.Evidence{Path: file, Line: 0}})
}

// entries are the names in an engine's folder, of which most are closed to
// others.
func entries(m *assess.Machine, what, dir string) []string {
	names, err := m.Files(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Outcome(what, dir, err)
	}
	return names[:min(len(names), maxContainers)]
}

// dockerContainer is what of a container's description matters here.
type dockerContainer struct {
	Name   string
	Config struct{ Image string }
}

func docker(m *assess.Machine, dir string) {
	for _, id := range entries(m, "containers.docker", path.Join(dir, "containers")) {
		file := path.Join(dir, "containers", id, "config.v2.json")
		var c dockerContainer
		if decode(m, "containers.docker."+id[:min(12, len(id))], file, &c) {
			addContainer(m, "docker", "container", strings.TrimPrefix(c.Name, "/"), c.Config.Image, "/"+file)
		}
	}
	for _, driver := range entries(m, "containers.docker", path.Join(dir, "image")) {
		file := path.Join(dir, "image", driver, "repositories.json")
		var r struct {
			Repositories map[string]map[string]string
		}
		if decode(m, "containers.docker.images", file, &r) {
			dockerImages(m, r.Repositories, "/"+file)
		}
	}
	for _, name := range entries(m, "containers.docker", path.Join(dir, "volumes")) {
		if name != "metadata.db" && name != "backingFsBlockDev" {
			addContainer(m, "docker", "volume", name, "", "/"+path.Join(dir, "volumes", name))
		}
	}
}

// dockerImages adds images by their tags; a digest is the name of one that has
// a tag too, or has lost it.
func dockerImages(m *assess.Machine, repositories map[string]map[string]string, file string) {
	for _, repository := range assess.SortedKeys(repositories) {
		for _, reference := range assess.SortedKeys(repositories[repository]) {
			if !strings.Contains(reference, "@") {
				addContainer(m, "docker", "image", reference, "", file)
			}
		}
	}
}

// decode reads a JSON file of an engine.
func decode(m *assess.Machine, what, file string, into any) bool {
	b, err := host.ReadFile(m.FS, file, assess.MaxFile)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Source(what, assess.StateOf(err), fmt.Sprintf("/%s: %v", file, err))
	}
	return err == nil
}

// podmanThing is an image or container in the lists of podman's storage.
type podmanThing struct{ Names []string }

func podman(m *assess.Machine, dir string) {
	for _, kind := range []string{"image", "container"} {
		for _, driver := range []string{"overlay", "vfs", "btrfs"} {
			file := path.Join(dir, driver+"-"+kind+"s", kind+"s.json")
			var things []podmanThing
			if !decode(m, "containers.podman", file, &things) {
				continue
			}
			for _, t := range things[:min(len(things), maxContainers)] {
				for _, name := range t.Names {
					addContainer(m, "podman", kind, name, "", "/"+file)
				}
			}
		}
	}
	for _, name := range entries(m, "containers.podman", path.Join(dir, "volumes")) {
		addContainer(m, "podman", "volume", name, "", "/"+path.Join(dir, "volumes", name))
	}
}

// lxc lists the containers of LXC, LXD and systemd-nspawn by their folders.
func lxc(m *assess.Machine) {
	for _, e := range []struct{ engine, dir string }{
		{"lxc", "var/lib/lxc"}, {"lxd", "var/lib/lxd/containers"}, {"lxd", "var/snap/lxd/common/lxd/containers"}, {"nspawn", "var/lib/machines"}, {"libvirt", "etc/libvirt/qemu"},
	} {
		for _, name := range entries(m, "containers."+e.engine, e.dir) {
			if name != "networks" && name != "autostart" && !strings.HasPrefix(name, ".") {
				addContainer(m, e.engine, "container", strings.TrimSuffix(name, ".xml"), "", "/"+path.Join(e.dir, name))
			}
		}
	}
}

// composePatterns are where the files of compose usually stand.
var composePatterns = []string{
	"/opt/*compose.y*ml", "/opt/*/*compose.y*ml", "/opt/*/*/*compose.y*ml", "/srv/*compose.y*ml", "/srv/*/*compose.y*ml", "/srv/*/*/*compose.y*ml", "/root/*compose.y*ml", "/root/*/*compose.y*ml",
	"/home/*/*compose.y*ml", "/home/*/*/*compose.y*ml", "/etc/docker/*compose.y*ml", "/etc/docker/compose/*/*compose.y*ml", "/var/lib/docker-compose/*/*compose.y*ml",
}

// composeNames are what compose looks for.
var composeNames = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

// composeFile is what of such a file matters here.
type composeFile struct {
	Services map[string]struct{ Image string }
}

func composeFiles(m *assess.Machine) {
	for _, file := range m.Glob(composePatterns...) {
		if !slices.Contains(composeNames, path.Base(file)) {
			continue
		}
		var f composeFile
		text, _ := m.Text("containers.compose", file[1:])
		if err := assess.DecodeYAML(text, &f); err != nil {
			m.Source("containers.compose", assess.SourceCorrupt, fmt.Sprintf("%s: %v", file, err))
			continue
		}
		for _, name := range assess.SortedKeys(f.Services) {
			addContainer(m, "compose", "compose", name, f.Services[name].Image, file)
		}
	}
}

// quadlets lists the containers that podman makes units of.
func quadlets(m *assess.Machine) {
	for _, file := range m.Glob("/etc/containers/systemd/*.container", "/usr/share/containers/systemd/*.container", "/home/*/.config/containers/systemd/*.container") {
		text, _ := m.Text("containers.quadlet", file[1:])
		v := assess.IniValues(text)
		addContainer(m, "podman", "unit", cmp.Or(assess.First(v["container.containername"]), strings.TrimSuffix(path.Base(file), ".container")), assess.First(v["container.image"]), file)
	}
}
