// Package role renders a plan as an Ansible role: what a person can read,
// change and run again. It is pure; contents of files come from its caller.
package role

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"svc/assess"
	"svc/backend/api/release"
	"svc/tools/migration"
)

// templates are the parts of a role that are the same for every machine, and
// those of each package manager, which follow them in the same file.
//
//go:embed static
var templates embed.FS

// managers are the package managers of families.
var managers = map[release.Family]string{
	release.Debian: "apt", release.Ubuntu: "apt", release.EL: "dnf", release.Fedora: "dnf", release.Amazon: "dnf", release.SUSE: "zypper",
}

// Files are the role's files by their path below the artifacts' folder:
// site.yml and role/….
type Files map[string][]byte

// Source gives what a role is made of beside its plan.
type Source struct {
	// Read gives the content of a file of the machine.
	Read func(path string) ([]byte, error)
	// Passwords are digests by user, where secrets are wanted; nil elsewhere.
	Passwords map[string]string
}

// Render makes the role. An error is one of reading a file.
func Render(p *migration.Plan, a *assess.Assessment, s Source) (Files, error) {
	out := Files{}
	target, _ := release.Lookup(p.Target)
	manager := managers[target.Family]
	if manager == "" {
		return nil, fmt.Errorf("no role can be written for %s: its package manager is not known", p.Target)
	}
	for _, folder := range []string{"static", "static/" + manager} {
		if err := out.addStatic(folder); err != nil {
			return nil, err
		}
	}
	files, err := out.addContents(p, s)
	if err != nil {
		return nil, err
	}
	v := variables(p, a, s)
	v.Files = files
	if manager == "dnf" {
		v.Archives = archivesOf(p)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What the role gives to the machine: from %s to %s.\n", p.Source, p.Target)
	if err := encode(&b, v); err != nil {
		return nil, err
	}
	out["role/defaults/main.yml"] = b.Bytes()
	return out, nil
}

// addStatic adds the tasks, handlers and descriptions of a folder; what is in a
// file already stays before them.
func (out Files) addStatic(folder string) error {
	entries, err := templates.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := templates.ReadFile(folder + "/" + e.Name())
		if err != nil {
			return err
		}
		target := placeOf(e.Name())
		out[target] = append(out[target], b...)
	}
	return nil
}

// placeOf is where a template stands in the artifacts' folder:
// meta_argument_specs.yml is role/meta/argument_specs.yml.
func placeOf(template string) string {
	if folder, name, ok := strings.Cut(template, "_"); ok {
		return path.Join("role", folder, name)
	}
	return template
}

// vars are the role's variables. All strings from the machine are text, never
// templates.
type vars struct {
	Archives    *archives `yaml:",inline"`
	Packages    []text    `yaml:"role_packages"`
	Recommends  bool      `yaml:"role_install_recommends"`
	Groups      []group   `yaml:"role_groups"`
	Users       []user    `yaml:"role_users"`
	Keys        []keyFile `yaml:"role_authorized_keys"`
	Directories []text    `yaml:"role_directories"`
	Files       []file    `yaml:"role_files"`
	Links       []link    `yaml:"role_links"`
	Removed     []text    `yaml:"role_removed_files"`
	Units       []unit    `yaml:"role_units"`
	TimeZone    text      `yaml:"role_time_zone"`
	Locale      text      `yaml:"role_locale"`
	Fingerprint text      `yaml:"role_fingerprint"`
}

// archives are what has to be enabled before packages can be installed.
type archives struct {
	Packages []text `yaml:"role_archive_packages"`
	Enable   []text `yaml:"role_archives"`
	Streams  []text `yaml:"role_module_streams"`
}

func archivesOf(p *migration.Plan) *archives {
	if a := p.Archives; a != nil {
		return &archives{texts(a.Packages), texts(a.Enable), texts(a.Streams)}
	}
	return &archives{[]text{}, []text{}, []text{}}
}

type group struct {
	Name text `yaml:"name"`
	GID  int  `yaml:"gid"`
}

type user struct {
	Name     text   `yaml:"name"`
	UID      int    `yaml:"uid"`
	Group    text   `yaml:"group"`
	Groups   []text `yaml:"groups"`
	Comment  text   `yaml:"comment"`
	Home     text   `yaml:"home"`
	Shell    text   `yaml:"shell"`
	System   bool   `yaml:"system"`
	Password text   `yaml:"password"`
}

// keyFile is a user's authorized keys. In a template, item.keys would be a
// method.
type keyFile struct {
	User    text `yaml:"user"`
	Group   text `yaml:"group"`
	Home    text `yaml:"home"`
	Content text `yaml:"content"` // of authorized_keys
}

type file struct {
	Source text `yaml:"src"`
	Dest   text `yaml:"dest"`
	Mode   text `yaml:"mode"`
	Owner  text `yaml:"owner"`
	Group  text `yaml:"group"`
}

type link struct {
	Path   text `yaml:"path"`
	Target text `yaml:"target"`
}

type unit struct {
	Name    text `yaml:"name"`
	Enabled bool `yaml:"enabled"`
	Masked  bool `yaml:"masked"`
}

// text is a string that Ansible must not take for a template.
type text string

// MarshalYAML implements yaml.Marshaler.
func (t text) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: string(t), Style: yaml.DoubleQuotedStyle, Tag: "!!str"}
	if strings.Contains(string(t), "{{") || strings.Contains(string(t), "{%") || strings.Contains(string(t), "{#") {
		n.Tag, n.Style = "!unsafe", yaml.TaggedStyle|yaml.DoubleQuotedStyle
	}
	return n, nil
}

func texts(all []string) []text {
	out := []text{}
	for _, s := range all {
		out = append(out, text(s))
	}
	return out
}

func encode(b *bytes.Buffer, v any) error {
	b.WriteString("---\n")
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing the role's variables: %w", err)
	}
	return e.Close()
}

// variables are the variables of the plan, but for the files.
func variables(p *migration.Plan, a *assess.Assessment, s Source) vars {
	v := vars{
		Packages: texts(p.Install), Recommends: true, Groups: []group{}, Users: []user{}, Keys: []keyFile{}, Links: []link{}, Removed: []text{}, Units: []unit{}, TimeZone: text(a.System.TimeZone), Locale: text(a.System.Locale), Fingerprint: text(p.Fingerprint),
	}
	names := map[int]string{}
	for _, g := range a.Groups {
		names[g.GID] = g.Name
	}
	for _, g := range p.Accounts.Groups {
		v.Groups = append(v.Groups, group{text(g.Name), g.GID})
	}
	for _, u := range p.Accounts.Users {
		v.addUser(u, names[u.GID], s.Passwords[u.Name])
	}
	v.addConfiguration(p)
	for _, unitPlan := range p.Services {
		if unitPlan.Apply && unitPlan.To != "" {
			v.Units = append(v.Units, unit{text(unitPlan.To), unitPlan.State == "enabled", unitPlan.State == "masked"})
		}
	}
	return v
}

// addUser adds a user; without a digest no password works, as keys may.
func (v *vars) addUser(u assess.User, primary, password string) {
	if password == "" {
		password = "!"
	}
	v.Users = append(v.Users, user{
		Name: text(u.Name), UID: u.UID, Group: text(primary), Groups: texts(u.Groups), Comment: text(u.Comment),
		Home: text(u.Home), Shell: text(u.Shell), System: u.System, Password: text(password),
	})
	if len(u.AuthorizedKeys) > 0 {
		v.Keys = append(v.Keys, keyFile{text(u.Name), text(primary), text(u.Home), text(strings.Join(u.AuthorizedKeys, "\n") + "\n")})
	}
}

// addConfiguration adds folders, links and removals.
func (v *vars) addConfiguration(p *migration.Plan) {
	dirs := []string{}
	for _, c := range p.Configuration {
		switch {
		case c.Action == migration.Remove:
			v.Removed = append(v.Removed, text(c.To))
			continue
		case !written(c):
			continue
		case c.Link != "":
			v.Links = append(v.Links, link{text(c.To), text(c.Link)})
		}
		dirs = append(dirs, path.Dir(c.To))
	}
	slices.Sort(dirs)
	v.Directories = texts(slices.Compact(dirs))
}

// written reports whether the role writes the file.
func written(c migration.Config) bool {
	return c.To != "" && (c.Action == migration.Copy || c.Action == migration.Convert || c.Action == migration.Merge)
}

// addContents puts the contents of files below role/files, under names that no
// file system and no template engine stumbles over.
func (out Files) addContents(p *migration.Plan, s Source) ([]file, error) {
	files := []file{}
	for _, c := range p.Configuration {
		if !written(c) || c.Link != "" {
			continue
		}
		content, err := contentOf(c, s)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", c.From, err)
		}
		name := fileName(c.To, content)
		out["role/files/"+name] = content
		files = append(files, file{text(name), text(c.To), text(c.Mode), text(c.Owner), text(c.Group)})
	}
	return files, nil
}

// contentOf is what the role writes: what a file was converted to, or what it has
// on the source.
func contentOf(c migration.Config, s Source) ([]byte, error) {
	if c.Text != nil {
		return []byte(*c.Text), nil
	}
	return s.Read(c.From)
}

// fileName is a name that says what the file is, made unique by its content.
func fileName(dest string, content []byte) string {
	digest := sha256.Sum256(append([]byte(dest+"\x00"), content...))
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, path.Base(dest))
	return hex.EncodeToString(digest[:6]) + "-" + plain[:min(len(plain), 80)]
}
