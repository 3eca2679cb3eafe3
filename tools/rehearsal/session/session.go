// Package session says what a person finds who logs in: groups, umask, limits, where
// programs are looked for, the language, the variables that are set; and what of it another
// machine does not give. It is pure.
package session

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// maxAsked bounds the accounts that are asked about.
const maxAsked = 40

// shells are those that take what Words says.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}

// Accounts are those that people log in by.
func Accounts(a *assess.Assessment) (names []string) {
	for _, u := range a.Users {
		person := !u.System && u.UID != 65534 || u.UID == 0
		if person && slices.Contains(shells, path.Base(u.Shell)) && !strings.HasPrefix(u.Name, "-") && len(names) < maxAsked {
			names = append(names, u.Name)
		}
	}
	return names
}

// script prints a line for each thing; of variables the names alone, whose values may be secret.
const script = `echo "=umask $(umask)"; echo "=groups $(id -Gn)"; echo "=path $PATH"; echo "=language ${LC_ALL:-${LANG-}}"; locale 2>&1 >/dev/null | sed "s/^/=unknown /"; env | sed -n "s/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/=variable \1/p"; ulimit -a | sed "s/^/=soft /"; ulimit -Ha | sed "s/^/=hard /"`

// Words ask what an account's login gives, through PAM and the files of its shell.
func Words(account string) []string {
	return []string{"su", "-l", account, "-c", script}
}

// Said is what a login gives.
type Said struct {
	Umask, Language string
	Unknown         bool // the machine does not have the language
	Groups, Path    []string
	Variables       []string
	Limits          map[string]string // by their names in a shell: soft open files
}

// Bounds of an answer: lines, and things of a kind.
const maxLines = 400

// limit is a line of ulimit: open files (-n) 1024.
var limit = lazyregexp.New(`^(\w+) (.*?)\s+(?:\(.*?(-\w)\)\s+)?(\d+|unlimited)$`)

// bounded are limits that a sandbox has of its own: of files and of cores.
var bounded = lazyregexp.New(`^(core|file)`)

// Parse reads what a login says; false where it says nothing.
func Parse(text string) (s Said, ok bool) {
	s.Limits = map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		kind, rest, found := strings.Cut(strings.TrimSpace(line), " ")
		if n++; n > maxLines || !strings.HasPrefix(kind, "=") || !found && kind != "=language" {
			continue
		}
		switch kind[1:] {
		case "umask":
			s.Umask, ok = strings.TrimLeft(rest, "0"), true
		case "groups":
			s.Groups = strings.Fields(rest)
		case "path":
			s.Path = strings.Split(rest, ":")
		case "language":
			s.Language = rest
		case "unknown":
			s.Unknown = true
		case "variable":
			s.Variables = append(s.Variables, rest)
		case "soft", "hard":
			if m := limit.FindStringSubmatch(kind[1:] + " " + rest); m != nil && !bounded.MatchString(m[2]) {
				s.Limits[m[1]+" limit of "+strings.TrimSpace(m[2])] = m[4]
			}
		}
	}
	return s, ok
}

// passing are variables that say where and when one logged in.
var passing = lazyregexp.New(`^(XDG_|SSH_|DBUS_|SHLVL$|OLDPWD$|PWD$|_$|MAIL$|LC_|LANG)`)

// Lost is what a login gave, and gives no more on a machine; there tells of folders
// whether the machine that gave it has them.
func Lost(before, after Said, there func(folder string) bool) (all []string) {
	if before.Umask != after.Umask {
		all = append(all, fmt.Sprintf("umask is 0%s, and was 0%s", after.Umask, before.Umask))
	}
	lost := func(kind string, was, is []string, counts func(string) bool) {
		for _, one := range was {
			if !slices.Contains(is, one) && counts(one) {
				all = append(all, kind+" "+one)
			}
		}
	}
	lost("not in the group", before.Groups, after.Groups, func(string) bool { return true })
	lost("PATH is without", before.Path, after.Path, there)
	lost("not set:", before.Variables, after.Variables, func(name string) bool { return !passing.MatchString(name) })
	switch {
	case before.Language != after.Language && before.Language != "":
		all = append(all, fmt.Sprintf("the language is %q, and was %q", after.Language, before.Language))
	case after.Unknown && !before.Unknown:
		all = append(all, fmt.Sprintf("the machine does not have the language %q", after.Language))
	}
	for _, name := range slices.Sorted(maps.Keys(before.Limits)) {
		if is, known := after.Limits[name]; known && is != before.Limits[name] {
			all = append(all, fmt.Sprintf("the %s is %s, and was %s", name, is, before.Limits[name]))
		}
	}
	return all
}
