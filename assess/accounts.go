package assess

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/secret"
)

// People's ids begin here on every system of today, and where login.defs says so
// on older ones; nobody is the system's.
const (
	firstPerson = 1000
	nobody      = 65534
)

// people is where the ids of people begin: of users and of groups.
type people struct{ uid, gid int }

func (m *machine) peoplesIDs() people {
	p := people{firstPerson, firstPerson}
	for s := range parseSettings("", m.peek("etc/login.defs"), "") {
		n, err := strconv.Atoi(strings.TrimSpace(s.Value))
		switch {
		case err != nil || n < 100 || n > 60000: // a slip, or a trick
		case s.Key == "UID_MIN":
			p.uid = n
		case s.Key == "GID_MIN":
			p.gid = n
		}
	}
	return p
}

// readAccounts lists users and groups.
func (m *machine) readAccounts() {
	m.users, m.groups, m.people = map[int]string{}, map[int]string{}, m.peoplesIDs()
	m.readShadow()
	member := m.readGroups()
	sudoers := m.sudoers()
	passwd, _ := m.text("accounts.passwd", "etc/passwd")
	host.Expect(m.fs, host.Files, keyFiles(passwd))
	for line := range strings.Lines(passwd) {
		u, ok := parseUser(strings.TrimRight(line, "\n"))
		if !ok {
			continue
		}
		if _, twice := m.users[u.UID]; !twice {
			m.users[u.UID] = u.Name
		}
		u.System = isSystem(u.UID, m.people.uid)
		u.Groups = list(member[u.Name])
		u.Locked = m.shadowed[u.Name]
		u.Sudo = sudoers[u.Name] || slices.ContainsFunc(u.Groups, func(group string) bool { return sudoers["%"+group] })
		u.AuthorizedKeys = m.authorizedKeys(u)
		m.a.Users = append(m.a.Users, u)
	}
	slices.SortFunc(m.a.Users, func(a, b User) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.Name, b.Name)) })
}

func parseUser(line string) (u User, ok bool) {
	f := strings.Split(line, ":")
	if len(f) != 7 || f[0] == "" {
		return u, false
	}
	uid, err1 := strconv.Atoi(f[2])
	gid, err2 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || uid < 0 || gid < 0 {
		return u, false
	}
	return User{Name: f[0], UID: uid, GID: gid, Comment: f[4], Home: f[5], Shell: f[6]}, true
}

func isSystem(id, first int) bool { return id < first || id == nobody }

// readShadow learns which passwords are locked; it keeps no digest.
func (m *machine) readShadow() {
	shadow, ok := m.text("accounts.shadow", "etc/shadow")
	if !ok {
		return
	}
	m.shadowed = map[string]bool{}
	for line := range strings.Lines(shadow) {
		if f := strings.Split(line, ":"); len(f) > 2 {
			m.shadowed[f[0]] = f[1] == "" || f[1][0] == '!' || f[1][0] == '*'
		}
	}
}

// readGroups lists the groups and gives each user's supplementary ones.
func (m *machine) readGroups() map[string][]string {
	member := map[string][]string{}
	text, _ := m.text("accounts.group", "etc/group")
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 4 {
			continue
		}
		gid, err := strconv.Atoi(f[2])
		if err != nil || gid < 0 {
			continue
		}
		g := Group{Name: f[0], GID: gid, System: isSystem(gid, m.people.gid), Members: strings.FieldsFunc(f[3], func(r rune) bool { return r == ',' })}
		if _, twice := m.groups[gid]; !twice {
			m.groups[gid] = g.Name
		}
		for _, user := range g.Members {
			member[user] = append(member[user], g.Name)
		}
		m.a.Groups = append(m.a.Groups, g)
	}
	slices.SortFunc(m.a.Groups, func(a, b Group) int { return cmp.Or(cmp.Compare(a.GID, b.GID), cmp.Compare(a.Name, b.Name)) })
	for _, groups := range member {
		slices.Sort(groups)
	}
	return member
}

// sudoers are the users and the %groups that sudo lets do something.
func (m *machine) sudoers() map[string]bool {
	who := map[string]bool{}
	texts := []string{}
	if text, ok := m.text("accounts.sudoers", "etc/sudoers"); ok {
		texts = append(texts, text)
	}
	names, err := m.files("etc/sudoers.d")
	m.outcome("accounts.sudoers.d", "etc/sudoers.d", err)
	for _, name := range names {
		texts = append(texts, m.peek(path.Join("etc/sudoers.d", name)))
	}
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

// KeyFiles are where sshd looks for the user's keys by itself.
func (u User) KeyFiles() []string {
	home := strings.TrimPrefix(path.Clean("/"+u.Home), "/")
	if home == "" || !fs.ValidPath(home) {
		return nil
	}
	return []string{path.Join(home, ".ssh/authorized_keys"), path.Join(home, ".ssh/authorized_keys2")}
}

// keyFiles are those of all users.
func keyFiles(passwd string) (files []string) {
	for line := range strings.Lines(passwd) {
		if u, ok := parseUser(strings.TrimRight(line, "\n")); ok {
			files = append(files, u.KeyFiles()...)
		}
	}
	return files
}

// authorizedKeys are the public keys that may log in as the user.
func (m *machine) authorizedKeys(u User) []string {
	keys := []string{}
	for _, file := range u.KeyFiles() {
		if !m.exists(file) {
			continue
		}
		text, _ := m.text("accounts.authorized-keys."+u.Name, file)
		for i, line := range strings.Split(text, "\n") {
			// A user may link the file to one that only root reads.
			shown := ShownKey(line)
			if shown == "" {
				continue
			}
			keys = append(keys, shown)
			if shown != strings.TrimSpace(line) {
				m.addSecrets(Secret{string(secret.Password), Evidence{"/" + file, i + 1}})
			}
		}
	}
	return keys
}
