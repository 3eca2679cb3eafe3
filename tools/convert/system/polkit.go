package system

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"svc/assess/conf"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/tools/convert"
)

// polkitRules is the file of the target: where polkit's own way to read .pkla stands
// among its rules.
const polkitRules = "/etc/polkit-1/rules.d/49-localauthority.rules"

// localAuthority is the function that finds what of the entries holds.
//
//go:embed polkit.js
var localAuthority string

// adminsShipped are the last files by which packages of a family say who is asked as
// an administrator: one of a person before it is not heard.
func adminsShipped(in convert.Input) string {
	if convert.DebianFamily(in.Source) {
		return "51-debian-sudo.conf"
	}
	return "60-desktop-policy.conf"
}

// pklaEntry is an entry of a .pkla file as polkit.js takes it.
type pklaEntry struct {
	Name     string   `json:"name"`
	Who      []string `json:"who"`
	What     []string `json:"what"`
	Any      string   `json:"any,omitempty"`
	Inactive string   `json:"inactive,omitempty"`
	Active   string   `json:"active,omitempty"`
}

// pklaIdentity is whom an entry of a .pkla file may mean.
var pklaIdentity = lazyregexp.New(`^(unix-(user|group):[^\s\\]+|unix-netgroup:[^\s\\*?]+)$`)

// readsPkla reports whether the polkit of a machine reads .pkla files: one before 0.106,
// or a later one with its package for that.
func readsPkla(in convert.Input) bool {
	version := in.VersionOf("polkitd", "policykit-1", "polkit")
	_, byPackage := in.Installed["polkitd-pkla"]
	_, compatible := in.Installed["polkit-pkla-compat"]
	return byPackage || compatible || version != "" && pkgversion.Compare(pkgversion.RPM, version, "0.106") < 0
}

// polkitWriter collects what the files of a move say.
type polkitWriter struct {
	in     convert.Input
	result *convert.Result
	folder string // that of the last entry
	rules  strings.Builder
	admins []string
}

// Polkit makes a rule of what .pkla files allow and forbid, and of whom they have asked
// as administrators. They hold together, in their order: where one is not understood,
// all are left to a person.
func Polkit(in convert.Input) (r convert.Result) {
	if !readsPkla(in) {
		for _, f := range in.Files {
			r.Leave(f, "", "The source's polkit does not read it.")
		}
		return r
	}
	w := polkitWriter{in: in, result: &r}
	slices.SortFunc(in.Files, func(a, b convert.File) int {
		return cmp.Or(cmp.Compare(path.Base(path.Dir(a.Path)), path.Base(path.Dir(b.Path))), cmp.Compare(a.Path, b.Path))
	})
	for _, f := range in.Files {
		for i, line := range convert.Open(f, "#").Lines {
			if strings.HasPrefix(strings.TrimSpace(line), ";") {
				w.refuse(f, i+1, line, "It is no remark to polkit, which then reads nothing of the file.")
			}
		}
		if path.Ext(f.Path) == ".conf" {
			w.administrators(f)
			continue
		}
		w.entries(f)
	}
	if len(r.Refusals) > 0 {
		for _, f := range in.Files {
			if r.Refusals[f.Path] == nil {
				r.Refuse(f.Path, convert.Refusal{Why: "Another file of polkit is left to a person, and without it this one would allow or forbid something else."})
			}
		}
		return r
	}
	for _, f := range in.Files {
		r.Leave(f, "localAuthority", "It is said in "+polkitRules+".")
	}
	if text := w.text(); text != "" {
		r.Files = []convert.File{{Path: polkitRules, Text: text, From: in.Files[0].Path, Mode: "0644"}}
	}
	return r
}

// text is the file of the target, empty where nothing is said.
func (w *polkitWriter) text() (text string) {
	if w.rules.Len() > 0 {
		text = localAuthority + "polkit.addRule(function(action, subject) {\n\treturn localAuthority([[\n" + w.rules.String() + "\t]], action, subject);\n});\n"
	}
	if len(w.admins) > 0 {
		text += "polkit.addAdminRule(function(action, subject) {\n\treturn " + inJSON(w.admins) + ";\n});\n"
	}
	return text
}

// entries are those of one .pkla file.
func (w *polkitWriter) entries(f convert.File) {
	names := []string{}
	entry, heading := pklaEntry{}, conf.Line{}
	closeEntry := func() {
		if !heading.Heading {
			return
		}
		if len(entry.Who) == 0 || len(entry.What) == 0 || entry.Any+entry.Inactive+entry.Active == "" {
			w.refuse(f, heading.N, "["+heading.Section+"]", "An entry says whom it means, for which actions, and a result.")
			return
		}
		if folder := path.Dir(f.Path); folder != w.folder {
			if w.folder != "" {
				w.rules.WriteString("\t], [\n")
			}
			w.folder = folder
		}
		w.rules.WriteString("\t\t" + inJSON(entry) + ",\n")
	}
	for line := range conf.INI(f.Text) {
		switch {
		case line.Heading:
			closeEntry()
			if slices.Contains(names, line.Section) {
				w.refuse(f, line.N, "["+line.Section+"]", "There are two entries by this name.")
			}
			names, entry, heading = append(names, line.Section), pklaEntry{Name: line.Section}, line
		case !line.Set || !heading.Heading || !w.says(&entry, line):
			w.refuse(f, line.N, strings.TrimSpace(line.Key+"="+line.Value), "It is nothing that an entry of polkit's may say.")
		}
	}
	closeEntry()
}

// says takes one line of an entry, and reports whether it is understood.
func (w *polkitWriter) says(e *pklaEntry, line conf.Line) bool {
	if strings.Contains(line.Value, `\`) {
		return false
	}
	result := map[string]*string{"ResultAny": &e.Any, "ResultInactive": &e.Inactive, "ResultActive": &e.Active}[strings.TrimSpace(line.Key)]
	switch key := strings.TrimSpace(line.Key); {
	case result != nil && *result == "":
		*result = line.Value
		return convert.Lists("pkla-results", line.Value)
	case key == "Identity" && e.Who == nil:
		e.Who = w.identities(line.Value)
		return e.Who != nil
	case key == "Action" && e.What == nil:
		e.What = listed(line.Value)
		return len(e.What) > 0
	}
	return false
}

// identities are those of a line, as the target calls them, or nil where one is none.
func (w *polkitWriter) identities(value string) (all []string) {
	for _, who := range listed(value) {
		if who != "default" && !pklaIdentity.MatchString(who) {
			return nil
		}
		kind, name, _ := strings.Cut(who, ":")
		switch {
		case convert.FromRPM(w.in) && kind != "unix-netgroup":
			name = convert.DebianAccount(name)
		case !convert.DebianFamily(w.in.Target) && kind == "unix-group" && name == "sudo":
			name = "wheel"
		}
		if who != "default" {
			who = kind + ":" + name
		}
		all = append(all, who)
	}
	return all
}

// administrators takes a file that says who is asked as an administrator; the last one
// holds.
func (w *polkitWriter) administrators(f convert.File) {
	for line := range conf.INI(f.Text) {
		switch {
		case line.Heading && line.Section == "Configuration":
		case line.Set && line.Section == "Configuration" && strings.TrimSpace(line.Key) == "AdminIdentities" && path.Base(f.Path) < adminsShipped(w.in):
			w.refuse(f, line.N, line.Key+"="+line.Value, "A file of a package comes after it, and says who is asked in its place.")
		case line.Set && line.Section == "Configuration" && strings.TrimSpace(line.Key) == "AdminIdentities":
			if w.admins = w.identities(line.Value); w.admins == nil || slices.Contains(w.admins, "default") || strings.ContainsAny(line.Value, `*?\`) {
				w.refuse(f, line.N, line.Key+"="+line.Value, "It is no list of users and groups.")
			}
		default:
			w.refuse(f, line.N, strings.TrimSpace(line.Key+"="+line.Value), "It is nothing that polkit's configuration may say.")
		}
	}
}

func (w *polkitWriter) refuse(f convert.File, n int, text, why string) {
	w.result.Refuse(f.Path, convert.Refusal{Line: n, Text: text, Why: why})
}

// listed are the words of a list that semicolons part.
func listed(value string) (all []string) {
	for word := range strings.SplitSeq(value, ";") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// inJSON is a value as JavaScript reads it; no sign of it ends a line there.
func inJSON(value any) string {
	b, _ := json.Marshal(value) // of texts alone
	return string(b)
}
