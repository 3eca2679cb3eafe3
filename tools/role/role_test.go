package role

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

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
		System:   migration.System{HostName: "web1", TimeZone: "Europe/Vienna", Recommends: true, Unwanted: []string{"whois"}, Dependencies: []string{"libapache2-mod-php"}},
		Folders:  []migration.Folder{{Path: "/var/log/named", Mode: "2750", Owner: "bind", Group: "adm"}},
		Disabled: []string{"/etc/apache2/sites-enabled/000-default.conf"},
		Clusters: []migration.Cluster{{Version: "17", Name: "reports", Port: 5433, Directory: "/srv/{{ x }}"}},
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
	a := &assess.Assessment{Groups: []assess.Group{{Name: "anna", GID: 1000}}}
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

// TestKeysAreAsOnTheSource: the role and the data's move write one file; what stays behind
// is in neither the role's.
func TestKeysAreAsOnTheSource(t *testing.T) {
	const file = "/home/anna/.ssh/authorized_keys"
	key, evil := "ssh-ed25519 AAAAC3 anna@x", `command="{{ evil }}" ssh-rsa BBBB`
	for text, whole := range map[string]bool{
		"# ours\n" + key + " \n\n" + `command="{{ evil }}" ssh-rsa AAAABBBB` + "\n": true,
		key + "\n": false, // the other one is in another file
		"# password=Vei7ahph4Xoh\n" + key + "\n" + `command="{{ evil }}" ssh-rsa AAAABBBB` + "\n": false,
	} {
		is := is.New(t)
		p, a := plan()
		p.Accounts.Users[0].AuthorizedKeys = []string{key, strings.Replace(evil, "BBBB", "AAAABBBB", 1)}
		files, err := Render(p, a, Source{
			Read: func(string) ([]byte, error) { return []byte(text), nil },
			Described: func(name string) (assess.Folder, bool, bool) {
				return assess.Folder{Path: name, Mode: "0644", Owner: "anna", Group: "team"}, false, name == file
			},
		})
		is.NoErr(err)
		names := slices.Collect(maps.Keys(files))
		i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, "-authorized_keys") })
		is.Equal(string(files[names[i]]) == text, whole)
		is.True(strings.Contains(string(files["role/defaults/main.yml"]), "dest: !unsafe \""+file+"\"\n    mode: \"0644\"\n    owner: \"anna\"\n    group: \"team\"")) // of the folder nothing is known
	}
}

// hostile draws strings that someone who owns the machine would choose.
var hostile = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{
			"{{ lookup('pipe','id') }}", "{% raw %}", "{#", "#jinja2:variable_start_string:'[['\n[[ x ]]", "#jinja2:x", "!vault |\n", "!unsafe", "---\n", "\n- x: y", ": ", " #", "'", `"`, `\`, "[", "{", "&a", "*a", "|", ">", "%",
			"\u0085", "\u2028", "\u2029", "\u202e", "\x1b[31m", "\x00", "\r", "\t", "\ufeff", "yes", "yes\n", "~", "1e3", "0644", "=", "<<", "true", "!", "&", "*", "",
		}),
		rapid.String(),
	), 0, 4).Draw(t, "parts")
	return strings.ToValidUTF8(strings.Join(parts, ""), "")
})

// fill gives every string of a value that can be set a hostile one, and every
// empty list an element.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile.Draw(t, "string"))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fill(t, v.Elem())
		}
	}
}

// otherThanText is what PyYAML takes for something else than a string, as far as
// hostile draws it.
var otherThanText = regexp.MustCompile(`^(yes|true|~|null||1e3|0o7|[0-9]+|=|<<|!|&|\*)\n?$`)

// TestMachineTextIsNeverATemplate renders plans in which every string is hostile:
// in what Ansible reads each is marked as text, comes back as it was, and names
// nothing.
func TestMachineTextIsNeverATemplate(t *testing.T) {
	names := regexp.MustCompile(`^[a-z_]+$`)
	var visit func(t *rapid.T, n *yaml.Node)
	visit = func(t *rapid.T, n *yaml.Node) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(n.Content); i += 2 {
				if !names.MatchString(n.Content[i].Value) {
					t.Fatalf("%q is a name", n.Content[i].Value)
				}
				visit(t, n.Content[i+1])
			}
		case yaml.ScalarNode:
			quoted := n.Tag == "!!str" && n.Style&yaml.DoubleQuotedStyle != 0 && !strings.ContainsAny(n.Value, "{#%$[")
			if n.Tag != "!unsafe" && n.Tag != "!!int" && n.Tag != "!!bool" && !quoted {
				t.Fatalf("%q is %s", n.Value, n.Tag)
			}
			if n.Tag == "!unsafe" && otherThanText.MatchString(n.Value) {
				t.Fatalf("%q is marked, and no string to Ansible", n.Value)
			}
		default:
			for _, c := range n.Content {
				visit(t, c)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p, a := plan()
		fill(t, reflect.ValueOf(p).Elem())
		fill(t, reflect.ValueOf(a).Elem())
		p.Target = rapid.SampledFrom([]string{"debian-13", "rocky-9", "sles-15"}).Draw(t, "target")
		for i := range p.Configuration {
			p.Configuration[i].Action, p.Configuration[i].Link = migration.Copy, hostile.Draw(t, "link")
		}
		for i := range p.Services {
			p.Services[i].Apply = true
		}
		files, err := Render(p, a, Source{Read: func(string) ([]byte, error) { return []byte(hostile.Draw(t, "content")), nil }})
		if err != nil {
			t.Fatal(err)
		}
		var root yaml.Node
		if err := yaml.Unmarshal(files["role/defaults/main.yml"], &root); err != nil {
			t.Fatal(err)
		}
		visit(t, &root)
		var packages struct {
			Names []string `yaml:"role_packages"`
		}
		if err := yaml.Unmarshal(files["role/defaults/main.yml"], &packages); err != nil || !slices.Equal(packages.Names, p.Install) {
			t.Fatalf("%q became %q: %v", p.Install, packages.Names, err)
		}
	})
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
	is.True(bytes.Contains(with, []byte(`password: !unsafe "$6$digest"`)))
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
			for name, text := range files {
				var any any
				is.True(path.Ext(name) != ".yml" || yaml.Unmarshal(text, &any) == nil)
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
