// Package role renders a plan as an Ansible role: what a person can read,
// change and run again. It is pure; contents of files come from its caller.
package role

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/config"
	"svc/backend/release"
	"svc/backend/secret"
	"svc/backend/sliced"
	"svc/tools/migration"
	"svc/tools/migration/valid"
)

// templates are the parts of a role that are the same for every machine, those of what
// starts services, and those of each package manager, which follow them in a file of the
// same name.
//
//go:embed static
var templates embed.FS

// Files are the role's files by their path below the artifacts' folder:
// site.yml and role/….
type Files map[string][]byte

// Source gives what a role is made of beside its plan.
type Source struct {
	// Read gives the content of a file of the machine.
	Read func(path string) ([]byte, error)
	// Described gives mode and owner of a regular file or a folder of the machine, by names.
	Described func(path string) (f assess.Folder, folder, ok bool)
	// Passwords are digests by user, where secrets are wanted; nil elsewhere.
	Passwords map[string]string
	// Fixes are what a person adds.
	Fixes []Fix
}

// Render makes the role. An error is one of reading a file.
func Render(p *migration.Plan, a *assess.Assessment, s Source) (Files, error) {
	out := Files{}
	manager := family(p).Conventions().Manager
	if _, err := fs.Stat(templates, "static/"+manager+"/role/tasks/packages.yml"); err != nil {
		return nil, fmt.Errorf("no role can be written for %s: its package manager is not known", p.Target)
	}
	for _, folder := range []string{"static/every", "static/" + string(family(p).Conventions().Init), "static/" + manager} {
		if err := out.addStatic(folder); err != nil {
			return nil, err
		}
	}
	files, err := out.addContents(p, a, s)
	if err != nil {
		return nil, err
	}
	out["role/defaults/main.yml"], err = encode(append(variables(p, a, s, files), out.addFixes(s.Fixes)...))
	return out, err
}

// addStatic adds the tasks, plugins and descriptions of a folder; what is in a
// file already stays before them.
func (out Files) addStatic(folder string) error {
	below, err := fs.Sub(templates, folder)
	if err != nil {
		return err
	}
	return fs.WalkDir(below, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(below, name)
		out[name] = append(out[name], b...)
		return err
	})
}

// variables are the variables of the plan.
func variables(p *migration.Plan, a *assess.Assessment, s Source, files []file) record {
	primary := primaryGroups(a)
	return append(ofManager(p), record{
		{"role_packages", texts(p.Install)},
		{"role_install_recommends", boolean(p.System.Recommends)},
		{"role_dependencies", texts(p.System.Dependencies)},
		{"role_groups", each(p.Accounts.Groups, func(g assess.Group) value {
			return record{{"name", text(g.Name)}, {"gid", number(g.GID)}, {"system", boolean(g.System)}}
		})},
		{"role_users", each(p.Accounts.Users, func(u assess.User) value {
			return record{
				{"name", text(u.Name)},
				{"uid", number(u.UID)},
				{"group", text(primary[u.GID])},
				{"groups", texts(u.Groups)},
				{"comment", text(u.Comment)},
				{"home", text(u.Home)},
				{"shell", text(u.Shell)},
				{"system", boolean(u.System)},
				{"password", text(cmp.Or(s.Passwords[u.Name], "!"))}, // no password works, as keys may
			}
		})},
		{"role_members", each(p.Accounts.Members, func(m migration.Member) value { // accounts of packages that are in further groups
			return record{{"name", text(m.User)}, {"groups", texts(m.Groups)}}
		})},
		{"role_directories", each(directories(p, files), func(f migration.Folder) value {
			return record{{"path", text(f.Path)}, {"mode", text(f.Mode)}, {"owner", text(f.Owner)}, {"group", text(f.Group)}, {"own", boolean(f.Own)}}
		})},
		{"role_files", each(files, func(f file) value {
			r := record{{"src", text(f.src)}, {"dest", text(f.dest)}, {"mode", text(f.mode)}, {"owner", text(f.owner)}, {"group", text(f.group)}}
			if f.spare {
				r = append(r, member{"spare", boolean(true)})
			}
			return r
		})},
		{"role_links", each(sliced.Filter(p.Configuration, isLink), func(c migration.Config) value {
			return record{{"path", text(c.To)}, {"target", text(c.Link)}, {"awaits", boolean(c.Awaits)}}
		})},
		{"role_disabled_links", texts(p.Disabled)},
		{"role_log_files", each(p.Logs, func(f migration.Folder) value {
			return record{{"path", text(f.Path)}, {"mode", text(f.Mode)}, {"owner", text(f.Owner)}, {"group", text(f.Group)}}
		})},
		{"role_removed_files", each(sliced.Filter(p.Configuration, func(c migration.Config) bool { return c.Action == migration.Remove }), func(c migration.Config) value { return text(c.To) })},
		{"role_units", each(sliced.Filter(p.Services, isSet), func(s migration.Service) value {
			return record{{"name", text(s.To)}, {"was", text(s.Unit)}, {"state", text(s.State)}, {"own", boolean(s.Local)}}
		})},
		{"role_host_name", text(p.System.HostName)},
		{"role_time_zone", text(p.System.TimeZone)},
		{"role_locale", text(p.System.Locale)},
		{"role_fingerprint", text(p.Fingerprint)},
	}...)
}

// ofManager are the variables that the tasks of a package manager take beside those of all.
func ofManager(p *migration.Plan) record {
	switch family(p).Conventions().Manager {
	case "dnf": // what has to be enabled before packages can be installed
		a := cmp.Or(p.Archives, &migration.Archives{})
		return record{{"role_archive_packages", texts(a.Packages)}, {"role_archives", texts(a.Enable)}, {"role_module_streams", texts(a.Streams)}}
	case "apt":
		return record{{"role_locales", texts(p.System.Locales)}, {"role_unwanted_packages", texts(p.System.Unwanted)}, {"role_clusters", each(p.Clusters, func(c migration.Cluster) value {
			return record{{"version", text(c.Version)}, {"name", text(c.Name)}, {"port", number(c.Port)}, {"directory", text(c.Directory)}}
		})}}
	}
	return nil
}

func family(p *migration.Plan) release.Family {
	target, _ := release.Lookup(p.Target)
	return target.Family
}

// primaryGroups are the names of groups that a system takes, by their ids.
func primaryGroups(a *assess.Assessment) map[int]string {
	names := map[int]string{}
	for _, g := range a.Groups {
		if valid.AccountName.MatchString(g.Name) {
			names[g.GID] = g.Name
		}
	}
	return names
}

// directories are the folders of the plan, and those above each file and link.
func directories(p *migration.Plan, files []file) (all []migration.Folder) {
	folders := map[string]migration.Folder{}
	need := func(name string) {
		if _, ok := folders[name]; !ok {
			folders[name] = migration.Folder{Path: name, Mode: "0755", Owner: "root", Group: "root"}
		}
	}
	for _, f := range p.Folders {
		folders[f.Path] = f
	}
	for _, f := range files {
		if f.folder != nil {
			folders[f.folder.Path] = *f.folder
		}
		need(path.Dir(f.dest))
	}
	for _, c := range p.Configuration {
		if isLink(c) {
			need(path.Dir(c.To))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(folders)) { // those above come first
		all = append(all, folders[name])
	}
	return all
}

// isSet reports whether the role sets the state of a unit.
func isSet(s migration.Service) bool {
	return s.Apply && s.To != "" && slices.Contains([]string{"enabled", "disabled", "masked"}, s.State)
}

// isLink reports whether the role makes a link of a file.
func isLink(c migration.Config) bool { return written(c) && c.Link != "" }

// written reports whether the role writes the file.
func written(c migration.Config) bool {
	return c.To != "" && (c.Action == migration.Copy || c.Action == migration.Convert || c.Action == migration.Merge)
}

// file is a file that the role writes.
type file struct {
	src, dest, mode, owner, group string
	spare                         bool              // it is written only where there is none
	folder                        *migration.Folder // of its own, where it has one
}

// addContents puts the contents of files below role/files, under names that no
// file system and no template engine stumbles over.
func (out Files) addContents(p *migration.Plan, a *assess.Assessment, s Source) (all []file, err error) {
	add := func(f file, content []byte) {
		f.src = fileName(f.dest, content)
		out["role/files/"+f.src] = content
		all = append(all, f)
	}
	for _, c := range p.Configuration {
		if !written(c) || c.Link != "" {
			continue
		}
		content, err := contentOf(c, s)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", c.From, err)
		}
		add(file{dest: c.To, mode: c.Mode, owner: c.Owner, group: c.Group, spare: c.Spare}, content)
	}
	primary := primaryGroups(a)
	for _, u := range p.Accounts.Users {
		if len(u.AuthorizedKeys) > 0 && u.Home != "" {
			dir := path.Join(u.Home, ".ssh")
			dest := path.Join(dir, "authorized_keys")
			folder := s.as(migration.Folder{Path: dir, Mode: "0700", Owner: u.Name, Group: cmp.Or(primary[u.GID], u.Name), Own: true})
			f := s.as(migration.Folder{Path: dest, Mode: "0600", Owner: u.Name, Group: folder.Group})
			add(file{dest: dest, mode: f.Mode, owner: f.Owner, group: f.Group, folder: &folder}, s.keyFile(u, dest))
		}
	}
	return all, nil
}

// as is a user's file or folder with the mode that it has on the source, as the data bring
// it, where it is the user's there.
func (s Source) as(f migration.Folder) migration.Folder {
	if s.Described == nil {
		return f
	}
	if on, _, ok := s.Described(f.Path); ok && on.Owner == f.Owner {
		f.Mode, f.Group = on.Mode, on.Group
	}
	return f
}

// keyFile is what the role writes as a user's authorized_keys: the source's file as it is,
// where nothing of it stays behind and it is the only one.
func (s Source) keyFile(u assess.User, name string) []byte {
	keys, own := s.keys(u), []string{}
	text, err := s.Read(name)
	stays := err != nil
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); config.ShownKey(line) != "" {
			own = append(own, line)
		} else {
			stays = stays || s.Passwords == nil && secret.Mask(line) != line
		}
	}
	if !stays && slices.Equal(own, keys) {
		return text
	}
	return []byte(strings.Join(keys, "\n") + "\n")
}

// keys are the lines of a user's authorized_keys that the role writes. One with a
// secret in its options stays behind as a whole, or goes along as it is: without its
// options a key may do more.
func (s Source) keys(u assess.User) (lines []string) {
	for _, line := range u.AuthorizedKeys {
		if !strings.Contains(line, secret.Masked) {
			lines = append(lines, line)
		} else if s.Passwords != nil {
			lines = append(lines, s.unmasked(u, line)...)
		}
	}
	return lines
}

// unmasked is a masked line as the machine has it.
func (s Source) unmasked(u assess.User, line string) (lines []string) {
	for _, file := range u.KeyFiles() {
		text, err := s.Read("/" + file)
		if err != nil {
			continue // the user has the other one
		}
		for l := range strings.Lines(string(text)) {
			if l = strings.TrimSpace(l); l != line && config.ShownKey(l) == line {
				return []string{l}
			}
		}
	}
	return nil
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
