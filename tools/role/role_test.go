package role

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.yaml.in/yaml/v4"

	"svc/assess"
	"svc/tools/migration"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// plan is a small plan with everything that is hard to write down.
func plan() (*migration.Plan, *assess.Assessment) {
	config := func(from, to string, action migration.Action) migration.Config {
		return migration.Config{From: from, To: to, Action: action, Mode: "0644", Owner: "root", Group: "root"}
	}
	link := config("/etc/apache2/sites-enabled/a.conf", "/etc/apache2/sites-enabled/a.conf", migration.Copy)
	link.Link = "../sites-available/a.conf"
	p := &migration.Plan{
		Source: "debian-11", Target: "debian-13", Fingerprint: strings.Repeat("ab", 32), Install: []string{"apache2", "curl"},
		Configuration: []migration.Config{
			config("/etc/shop app/{{ x }}.ini", "/etc/shop app/{{ x }}.ini", migration.Copy),
			config("/etc/'quoted\" \\ #: é.conf", "/etc/'quoted\" \\ #: é.conf", migration.Copy),
			config("/etc/new\nline", "/etc/new\nline", migration.Convert),
			config("/etc/sudoers.d/x", "/etc/sudoers.d/x", migration.Copy),
			config("/etc/fstab", "", migration.LeftOut),
			config("/etc/cron.daily/x", "/etc/cron.daily/x", migration.Remove),
			link,
		},
		Services: []migration.Service{
			{Unit: "a.service", To: "a.service", State: "enabled", Apply: true},
			{Unit: "b.timer", To: "b.timer", State: "masked", Apply: true},
			{Unit: "c.service", To: "c.service", State: "enabled"},
			{Unit: "d.service", State: "enabled", Apply: true},
		},
		Accounts: migration.Accounts{
			Users: []assess.User{{
				Name: "anna", UID: 1000, GID: 1000, Comment: "{% raw %} Ännä, \"x\"", Home: "/home/anna", Shell: "/bin/bash", Groups: []string{"team"},
				AuthorizedKeys: []string{"ssh-ed25519 AAAA anna@x", `command="{{ evil }}" ssh-rsa BBBB`},
			}},
			Groups: []assess.Group{{Name: "anna", GID: 1000}, {Name: "team", GID: 1600}},
		},
	}
	a := &assess.Assessment{
		System: assess.System{TimeZone: "Europe/Vienna"}, Groups: []assess.Group{{Name: "anna", GID: 1000}},
	}
	return p, a
}

func render(t *testing.T, s Source) Files {
	t.Helper()
	p, a := plan()
	if s.Read == nil {
		s.Read = func(path string) ([]byte, error) { return []byte("content of " + path), nil }
	}
	files, err := Render(p, a, s)
	is.New(t).NoErr(err)
	return files
}

func TestGolden(t *testing.T) {
	is := is.New(t)
	got := render(t, Source{})["role/defaults/main.yml"]
	golden := filepath.Join("testdata", "defaults.yml")
	if *update {
		is.NoErr(os.MkdirAll("testdata", 0o755))
		is.NoErr(os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	is.NoErr(err)
	is.Equal(string(got), string(want)) // go test ./tools/role -update
}

// TestMachineTextIsNeverATemplate parses the variables as YAML: what Ansible
// would take for a template is marked as text.
func TestMachineTextIsNeverATemplate(t *testing.T) {
	is := is.New(t)
	var root yaml.Node
	is.NoErr(yaml.Unmarshal(render(t, Source{})["role/defaults/main.yml"], &root))
	marked := 0
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if strings.Contains(n.Value, "{{") || strings.Contains(n.Value, "{%") {
			is.Equal(n.Tag, "!unsafe")
			marked++
		}
		for _, c := range n.Content {
			visit(c)
		}
	}
	visit(&root)
	is.True(marked >= 3) // a path, a comment, a key
}

func TestFileNamesAreHarmless(t *testing.T) {
	is := is.New(t)
	harmless := regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)
	files := render(t, Source{})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		is.True(harmless.MatchString(name))
		is.True(fs.ValidPath(name))
	}
	is.Equal(string(files["role/files/"+fileName("/etc/new\nline", []byte("content of /etc/new\nline"))]), "content of /etc/new\nline")
}

func TestPasswordsOnlyWhereAsked(t *testing.T) {
	is := is.New(t)
	is.True(bytes.Contains(render(t, Source{})["role/defaults/main.yml"], []byte(`password: "!"`)))
	with := render(t, Source{Passwords: map[string]string{"anna": "$6$digest"}})["role/defaults/main.yml"]
	is.True(bytes.Contains(with, []byte(`password: "$6$digest"`)))
}

func TestAFileThatCannotBeReadStopsTheRole(t *testing.T) {
	is := is.New(t)
	p, a := plan()
	gone := errors.New("gone")
	_, err := Render(p, a, Source{Read: func(string) ([]byte, error) { return nil, gone }})
	is.True(errors.Is(err, gone))
}

// TestEveryFamily: the role of each package manager is YAML, installs by that
// manager, and declares every variable that it has and uses.
func TestEveryFamily(t *testing.T) {
	for target, module := range map[string]string{"debian-13": "builtin.apt", "rocky-9": "builtin.dnf", "fedora-42": "builtin.dnf", "sles-15": "general.zypper"} {
		t.Run(target, func(t *testing.T) {
			is := is.New(t)
			p, a := plan()
			p.Target = target
			p.Archives = &migration.Archives{Packages: []string{"epel-release"}, Enable: []string{"crb"}, Streams: []string{"php:8.2"}}
			files, err := Render(p, a, Source{Read: func(string) ([]byte, error) { return nil, nil }})
			is.NoErr(err)
			is.True(bytes.Contains(files["role/tasks/packages.yml"], []byte("ansible."+module)) || bytes.Contains(files["role/tasks/packages.yml"], []byte("community."+module)))
			declared := map[string]bool{}
			for _, m := range regexp.MustCompile(`(?m)^      (role_\w+):$`).FindAllSubmatch(files["role/meta/argument_specs.yml"], -1) {
				declared[string(m[1])] = true
			}
			var defaults map[string]any
			is.NoErr(yaml.Unmarshal(files["role/defaults/main.yml"], &defaults))
			is.Equal(slices.Sorted(maps.Keys(defaults)), slices.Sorted(maps.Keys(declared)))
			for _, text := range files {
				var any any
				is.NoErr(yaml.Unmarshal(text, &any))
			}
		})
	}
}

func TestATargetWithoutAPackageManager(t *testing.T) {
	p, a := plan()
	p.Target = "plan9-4"
	_, err := Render(p, a, Source{Read: func(string) ([]byte, error) { return nil, nil }})
	is.New(t).True(err != nil)
}

func FuzzFileName(f *testing.F) {
	f.Add("/etc/x", []byte("y"))
	f.Add("/", []byte{})
	f.Fuzz(func(t *testing.T, dest string, content []byte) {
		name := fileName(dest, content)
		if !fs.ValidPath("role/files/"+name) || strings.Contains(name, "/") || len(name) > 120 {
			t.Fatalf("%q becomes %q", dest, name)
		}
	})
}
