package hazards

import (
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// codeRoots are where people keep programs of their own.
var codeRoots = []string{
	"/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/libexec", "/usr/local/share", "/opt", "/srv", "/var/www", "/root", "/home", "/usr/lib/cgi-bin",
	"/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly", "/etc/init.d",
}

// Bounds of the search for programs: folders that are entered, how deep, files that are
// read, their bytes, and how many files without an ending a folder may have for these
// to be looked at, for a program's name often has none and data have many.
const (
	maxCodeFolders = 4000
	maxCodeDepth   = 8
	maxCode        = 3000
	maxCodeBytes   = 8 << 20
	maxUnnamed     = 200
)

// others are folders of what other people wrote, which is brought anew for each version.
var others = []string{"node_modules", "vendor", "__pycache__", "objects"}

// languages are what programs are written in, by the endings of their names and by what
// their first line names.
var languages = []struct {
	name    string
	endings []string
	runner  *lazyregexp.Regexp
}{
	{"python", []string{".py", ".pyw", ".wsgi"}, lazyregexp.New(`^#!.*\bpython[0-9.]*\b`)},
	{"perl", []string{".pl", ".pm", ".pmc", ".psgi"}, lazyregexp.New(`^#!.*\bperl[0-9.]*\b`)},
	{"ruby", []string{".rb", ".ru", ".rake"}, lazyregexp.New(`^#!.*\bruby[0-9.]*\b`)},
	{shell, []string{".sh", ".bash", ".ksh"}, lazyregexp.New(`^#!\s*\S*(/|\benv\s+(-\S+\s+)*)(ba|da|k|z|)sh\b`)},
	{"tcl", []string{".tcl"}, lazyregexp.New(`^#!.*\b(tclsh|wish|expect)[0-9.]*\b`)},
}

// shell is the language of jobs.
const shell = "shell"

// code are the programs of people in a language.
func (m *Machine) code(language string) []string {
	if m.programs == nil {
		m.programs = map[string][]string{}
		m.findCode()
	}
	return m.programs[language]
}

// findCode looks through the folders, the uppermost first, after the programs that stand
// among packages' own.
func (m *Machine) findCode() {
	left, bytes := maxCode, 0
	read := func(at string) {
		if left == 0 || bytes > maxCodeBytes {
			m.unread = at
			return
		}
		text := m.Files.Text(at)
		left, bytes = left-1, bytes+len(text)
		if language := languageOf(path.Base(at), text); language != "" {
			m.programs[language] = append(m.programs[language], at)
		}
	}
	folders := slices.Clone(codeRoots)
	for _, s := range m.Strays {
		switch {
		case s.Folder == "":
			read(s.Path)
		case !slices.Contains(folders, s.Folder):
			folders = append(folders, s.Folder)
		}
	}
	for n := 0; n < len(folders) && n < maxCodeFolders; n++ {
		folders = append(folders, m.below(folders[n], read)...)
	}
	if len(folders) > maxCodeFolders {
		m.unread = folders[maxCodeFolders]
	}
	for language, names := range m.programs {
		slices.Sort(names)
		m.programs[language] = slices.Compact(names)
	}
}

// below has what may be programs in a folder read, and gives the folders in it.
func (m *Machine) below(dir string, read func(file string)) (folders []string) {
	inside := sliced.Set(m.Files.Folders(dir))
	names := slices.Sorted(slices.Values(m.Files.Names(dir)))
	brought := m.brought(dir, names)
	bare := sliced.Count(names, func(name string) bool { return path.Ext(name) == "" })
	for _, name := range names {
		at := path.Join(dir, name)
		switch folder := inside[name]; {
		case folder && entered(dir, name) && !brought(name):
			folders = append(folders, at)
		case folder || !mayBeCode(name, bare) || m.Files.Link(at) != "":
		default:
			read(at)
		}
	}
	return folders
}

// brought tells which folders of one with Python's modules are of other people. In that
// of the whole machine these are what a distribution lists of its files, or what it is
// called by; people copy their own beside them. An environment is filled by pip alone.
func (m *Machine) brought(dir string, names []string) func(name string) bool {
	if !strings.HasSuffix(dir, "/site-packages") && !strings.HasSuffix(dir, "/dist-packages") {
		return func(string) bool { return false }
	}
	if !strings.HasPrefix(dir, "/usr/local/lib/") {
		return func(string) bool { return true }
	}
	theirs := map[string]bool{}
	for _, name := range names {
		if ending := path.Ext(name); ending != ".dist-info" && ending != ".egg-info" {
			continue
		}
		called, _, _ := strings.Cut(name, "-")
		theirs[name], theirs[called], theirs[strings.ToLower(called)] = true, true, true
		for _, list := range []string{"RECORD", "top_level.txt"} {
			for line := range strings.Lines(m.Files.Text(path.Join(dir, name, list))) {
				top, _, _ := strings.Cut(strings.TrimSpace(line), "/")
				theirs[top] = true
			}
		}
	}
	return func(name string) bool { return path.Ext(name) != "" || theirs[name] }
}

// entered reports whether a folder is one of people's own programs.
func entered(dir, name string) bool {
	return name[0] != '.' && !slices.Contains(others, name) && strings.Count(dir, "/") < maxCodeDepth
}

// mayBeCode reports whether a file of this name is worth a look.
func mayBeCode(name string, bare int) bool {
	ending := path.Ext(name)
	return ending == "" && bare <= maxUnnamed || ending == ".cgi" || ending == ".fcgi" || languageOf(name, "") != ""
}

// InShell reports whether a text is a program that says it is run by a shell.
func InShell(text string) bool { return languageOf("", text) == shell }

// languageOf is what a program is written in.
func languageOf(name, text string) string {
	first, _, _ := strings.Cut(text, "\n")
	for _, l := range languages {
		if slices.Contains(l.endings, path.Ext(name)) || l.runner.MatchString(first) {
			return l.name
		}
	}
	return ""
}
