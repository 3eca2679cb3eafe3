package config

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/secret"
	"svc/backend/sliced"
)

// People's ids begin here on every system of today, and where login.defs says so
// on older ones; nobody is the system's.
const (
	firstPerson = 1000
	nobody      = 65534
)

func peoplesIDs(m *assess.Machine) assess.People {
	p := assess.People{UID: firstPerson, GID: firstPerson}
	for s := range assess.ParseSettings("", m.Peek("etc/login.defs"), "") {
		n, err := strconv.Atoi(strings.TrimSpace(s.Value))
		switch {
		case err != nil || n < 100 || n > 60000: // a slip, or a trick
		case s.Key == "UID_MIN":
			p.UID = n
		case s.Key == "GID_MIN":
			p.GID = n
		}
	}
	return p
}

// ReadAccounts lists users and groups.
func ReadAccounts(m *assess.Machine) {
	m.Users, m.Groups, m.People = map[int]string{}, map[int]string{}, peoplesIDs(m)
	readShadow(m)
	member := readGroups(m)
	sudoers := sudoers(m)
	passwd, _ := m.Text("accounts.passwd", "etc/passwd")
	users := sliced.FilterMap(strings.Split(passwd, "\n"), parseUser)
	host.Expect(m.FS, host.Files, keyFiles(users))
	for _, u := range users {
		if _, twice := m.Users[u.UID]; !twice {
			m.Users[u.UID] = u.Name
		}
	}
	slices.SortFunc(users, func(a, b assess.User) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.Name, b.Name)) })
	for _, u := range users {
		u.System = isSystem(u.UID, m.People.UID)
		u.Groups = assess.List(member[u.Name])
		u.Locked = m.Shadowed[u.Name]
		u.Sudo = sudoers[u.Name] || slices.ContainsFunc(u.Groups, func(group string) bool { return sudoers["%"+group] })
		u.AuthorizedKeys = authorizedKeys(m, u)
		assess.Grow(m, "users", &m.A.Users, u)
	}
}

func parseUser(line string) (u assess.User, ok bool) {
	f := strings.Split(line, ":")
	if len(f) != 7 || f[0] == "" {
		return u, false
	}
	uid, err1 := strconv.Atoi(f[2])
	gid, err2 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || uid < 0 || gid < 0 {
		return u, false
	}
	return assess.User{Name: f[0], UID: uid, GID: gid, Comment: f[4], Home: f[5], Shell: f[6]}, true
}

func isSystem(id, first int) bool { return id < first || id == nobody }

// readShadow learns which passwords are locked; it keeps no digest.
func readShadow(m *assess.Machine) {
	shadow, ok := m.Text("accounts.shadow", "etc/shadow")
	if !ok {
		return
	}
	m.Shadowed = map[string]bool{}
	for line := range strings.Lines(shadow) {
		if f := strings.Split(line, ":"); len(f) > 2 {
			m.Shadowed[f[0]] = f[1] == "" || f[1][0] == '!' || f[1][0] == '*'
		}
	}
}

// readGroups lists the groups and gives each user's supplementary ones.
func readGroups(m *assess.Machine) map[string][]string {
	member := map[string][]string{}
	text, _ := m.Text("accounts.group", "etc/group")
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 4 {
			continue
		}
		gid, err := strconv.Atoi(f[2])
		if err != nil || gid < 0 {
			continue
		}
		g := assess.Group{Name: f[0], GID: gid, System: isSystem(gid, m.People.GID), Members: strings.FieldsFunc(f[3], func(r rune) bool { return r == ',' })}
		if _, twice := m.Groups[gid]; !twice {
			m.Groups[gid] = g.Name
		}
		for _, user := range g.Members {
			member[user] = append(member[user], g.Name)
		}
		m.A.Groups = append(m.A.Groups, g)
	}
	slices.SortFunc(m.A.Groups, func(a, b assess.Group) int { return cmp.Or(cmp.Compare(a.GID, b.GID), cmp.Compare(a.Name, b.Name)) })
	for _, groups := range member {
		slices.Sort(groups)
	}
	return member
}

// sudoers are the users and the %groups that sudo lets do something.
func sudoers(m *assess.Machine) map[string]bool {
	who := map[string]bool{}
	text, _ := m.Text("accounts.sudoers", "etc/sudoers") // none where it can't be read
	names, err := m.Files("etc/sudoers.d")
	m.Outcome("accounts.sudoers.d", "etc/sudoers.d", err)
	texts := append([]string{text}, sliced.Map(names, func(name string) string { return m.Peek(path.Join("etc/sudoers.d", name)) })...)
	for line := range strings.Lines(strings.Join(texts, "\n")) {
		f := strings.Fields(line)
		if len(f) >= 2 && strings.Contains(line, "=") && !strings.HasPrefix(f[0], "#") && !strings.HasPrefix(f[0], "Defaults") {
			who[f[0]] = true
		}
	}
	return who
}

// publicKey is a line of authorized_keys: options, the type, the key.
var publicKey = lazyregexp.New(`^([^#].*\s)?(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp[0-9]+|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)\s+AAAA[0-9A-Za-z+/=]+(\s|$)`)

// ShownKey is a line of authorized_keys as an assessment has it, or "". The key is
// made to be shown; the secrets in its options and its comment are masked.
func ShownKey(line string) string {
	line = strings.TrimSpace(line)
	at := publicKey.FindAllStringSubmatchIndex(line, 1)
	if at == nil {
		return ""
	}
	options, end := max(at[0][3], 0), at[0][1]
	before, after := secret.Mask(line[:options]), secret.Mask(line[end:])
	if before == line[:options] && after == line[end:] {
		return line // without a copy: a machine may have many
	}
	return before + line[options:end] + after
}

// keyFiles are those of all users.
func keyFiles(users []assess.User) (files []string) {
	for _, u := range users {
		files = append(files, u.KeyFiles()...)
	}
	return files
}

// authorizedKeys are the public keys that may log in as the user.
func authorizedKeys(m *assess.Machine, u assess.User) []string {
	keys := []string{}
	for _, file := range u.KeyFiles() {
		if !m.Exists(file) {
			continue
		}
		text, _ := m.Text("accounts.authorized-keys."+u.Name, file)
		for i, line := range strings.Split(text, "\n") {
			// A user may link the file to one that only root reads.
			shown := ShownKey(line)
			if shown == "" {
				continue
			}
			keys = append(keys, shown)
			if shown != strings.TrimSpace(line) {
				m.AddSecrets(assess.Secret{Kind: string(secret.Password), Evidence: assess.Evidence{Path: "/" + file, Line: i + 1}})
			}
		}
	}
	return keys
}
