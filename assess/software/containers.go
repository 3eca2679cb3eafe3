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
	for _, dir := range append([]string{"/var/lib/containers/storage"}, m.Glob("/home/*/.local/share/containers/storage")...) {
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
type podmanThing struct {
	Names []string
	Image string
}

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

// composePlaces are where the files of compose usually stand.
var composePlaces = []string{"/opt/", "/opt/*/", "/opt/*/*/", "/srv/", "/srv/*/", "/srv/*/*/", "/root/", "/root/*/", "/home/*/", "/home/*/*/", "/etc/docker/", "/etc/docker/compose/*/", "/var/lib/docker-compose/*/"}

// composeNames are what compose looks for.
var composeNames = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

// composeFile is what of such a file matters here.
type composeFile struct {
	Services map[string]struct{ Image string }
}

func composeFiles(m *assess.Machine) {
	for _, place := range composePlaces {
		for _, file := range m.Glob(place + "*compose.y*ml") {
			if !slices.Contains(composeNames, path.Base(file)) {
				continue
			}
			text, _ := m.Text("containers.compose", file[1:])
			services, err := parseCompose(text)
			if err != nil {
				m.Source("containers.compose", assess.SourceCorrupt, fmt.Sprintf("%s: %v", file, err))
			}
			for _, name := range assess.SortedKeys(services) {
				addContainer(m, "compose", "compose", name, services[name], file)
			}
		}
	}
}

// parseCompose gives the images by the services that run them.
func parseCompose(text string) (map[string]string, error) {
	var f composeFile
	if err := assess.DecodeYAML(text, &f); err != nil {
		return nil, err
	}
	images := map[string]string{}
	for name, s := range f.Services {
		images[name] = s.Image
	}
	return images, nil
}

// quadlets lists the containers that podman makes units of.
func quadlets(m *assess.Machine) {
	for _, pattern := range []string{"/etc/containers/systemd/*.container", "/usr/share/containers/systemd/*.container", "/home/*/.config/containers/systemd/*.container"} {
		for _, file := range m.Glob(pattern) {
			text, _ := m.Text("containers.quadlet", file[1:])
			v := assess.IniValues(text)
			addContainer(m, "podman", "unit", cmp.Or(assess.First(v["container.containername"]), strings.TrimSuffix(path.Base(file), ".container")), assess.First(v["container.image"]), file)
		}
	}
}
