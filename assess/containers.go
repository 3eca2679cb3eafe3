package assess

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
)

// maxContainers bounds each kind of a container engine's things.
const maxContainers = 1000

// readContainers lists what container engines have: containers, images,
// volumes, and the files that people start them by. Nothing is taken of their
// environment: it has passwords.
func (m *machine) readContainers() {
	m.docker("var/lib/docker")
	for _, dir := range append([]string{"/var/lib/containers/storage"}, m.glob("/home/*/.local/share/containers/storage")...) {
		m.podman(dir[1:])
	}
	m.lxc()
	m.composeFiles()
	m.quadlets()
	slices.SortFunc(m.a.Containers, func(a, b Container) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Evidence.Path, b.Evidence.Path))
	})
}

func (m *machine) addContainer(engine, kind, name, image, file string) {
	m.a.Containers = append(m.a.Containers, Container{engine, kind, name, image, Evidence{file, 0}})
}

// entries are the names in an engine's folder, of which most are closed to
// others.
func (m *machine) entries(what, dir string) []string {
	names, err := m.files(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.outcome(what, dir, err)
	}
	return names[:min(len(names), maxContainers)]
}

// dockerContainer is what of a container's description matters here.
type dockerContainer struct {
	Name   string
	Config struct{ Image string }
}

func (m *machine) docker(dir string) {
	for _, id := range m.entries("containers.docker", path.Join(dir, "containers")) {
		file := path.Join(dir, "containers", id, "config.v2.json")
		var c dockerContainer
		if m.decode("containers.docker."+id[:min(12, len(id))], file, &c) {
			m.addContainer("docker", "container", strings.TrimPrefix(c.Name, "/"), c.Config.Image, "/"+file)
		}
	}
	for _, driver := range m.entries("containers.docker", path.Join(dir, "image")) {
		file := path.Join(dir, "image", driver, "repositories.json")
		var r struct {
			Repositories map[string]map[string]string
		}
		if m.decode("containers.docker.images", file, &r) {
			m.dockerImages(r.Repositories, "/"+file)
		}
	}
	for _, name := range m.entries("containers.docker", path.Join(dir, "volumes")) {
		if name != "metadata.db" && name != "backingFsBlockDev" {
			m.addContainer("docker", "volume", name, "", "/"+path.Join(dir, "volumes", name))
		}
	}
}

// dockerImages adds images by their tags; a digest is the name of one that has
// a tag too, or has lost it.
func (m *machine) dockerImages(repositories map[string]map[string]string, file string) {
	for _, repository := range sortedKeys(repositories) {
		for _, reference := range sortedKeys(repositories[repository]) {
			if !strings.Contains(reference, "@") {
				m.addContainer("docker", "image", reference, "", file)
			}
		}
	}
}

// decode reads a JSON file of an engine.
func (m *machine) decode(what, file string, into any) bool {
	b, err := host.ReadFile(m.fs, file, maxFile)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.source(what, stateOf(err), fmt.Sprintf("/%s: %v", file, err))
	}
	return err == nil
}

// podmanThing is an image or container in the lists of podman's storage.
type podmanThing struct {
	Names []string
	Image string
}

func (m *machine) podman(dir string) {
	for _, kind := range []string{"image", "container"} {
		for _, driver := range []string{"overlay", "vfs", "btrfs"} {
			file := path.Join(dir, driver+"-"+kind+"s", kind+"s.json")
			var things []podmanThing
			if !m.decode("containers.podman", file, &things) {
				continue
			}
			for _, t := range things[:min(len(things), maxContainers)] {
				for _, name := range t.Names {
					m.addContainer("podman", kind, name, "", "/"+file)
				}
			}
		}
	}
	for _, name := range m.entries("containers.podman", path.Join(dir, "volumes")) {
		m.addContainer("podman", "volume", name, "", "/"+path.Join(dir, "volumes", name))
	}
}

// lxc lists the containers of LXC, LXD and systemd-nspawn by their folders.
func (m *machine) lxc() {
	for _, e := range []struct{ engine, dir string }{
		{"lxc", "var/lib/lxc"}, {"lxd", "var/lib/lxd/containers"}, {"lxd", "var/snap/lxd/common/lxd/containers"}, {"nspawn", "var/lib/machines"}, {"libvirt", "etc/libvirt/qemu"},
	} {
		for _, name := range m.entries("containers."+e.engine, e.dir) {
			if name != "networks" && name != "autostart" && !strings.HasPrefix(name, ".") {
				m.addContainer(e.engine, "container", strings.TrimSuffix(name, ".xml"), "", "/"+path.Join(e.dir, name))
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

func (m *machine) composeFiles() {
	for _, place := range composePlaces {
		for _, file := range m.glob(place + "*compose.y*ml") {
			if !slices.Contains(composeNames, path.Base(file)) {
				continue
			}
			text, _ := m.text("containers.compose", file[1:])
			services, err := parseCompose(text)
			if err != nil {
				m.source("containers.compose", SourceCorrupt, fmt.Sprintf("%s: %v", file, err))
			}
			for _, name := range sortedKeys(services) {
				m.addContainer("compose", "compose", name, services[name], file)
			}
		}
	}
}

// parseCompose gives the images by the services that run them.
func parseCompose(text string) (map[string]string, error) {
	var f composeFile
	if err := decodeYAML(text, &f); err != nil {
		return nil, err
	}
	images := map[string]string{}
	for name, s := range f.Services {
		images[name] = s.Image
	}
	return images, nil
}

// quadlets lists the containers that podman makes units of.
func (m *machine) quadlets() {
	for _, pattern := range []string{"/etc/containers/systemd/*.container", "/usr/share/containers/systemd/*.container", "/home/*/.config/containers/systemd/*.container"} {
		for _, file := range m.glob(pattern) {
			text, _ := m.text("containers.quadlet", file[1:])
			v := iniValues(text)
			m.addContainer("podman", "unit", cmp.Or(first(v["container.containername"]), strings.TrimSuffix(path.Base(file), ".container")), first(v["container.image"]), file)
		}
	}
}
