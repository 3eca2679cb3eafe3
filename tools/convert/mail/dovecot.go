package mail

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// DovecotPlaces are where the families keep what Dovecot's settings name.
var DovecotPlaces = convert.HomesOf("dovecot").Debian()

// dovecotSwitches are switches with what Dovecot 2.4 has for yes and for no.
var dovecotSwitches = map[string]struct{ yes, no, why string }{
	"disable_plaintext_auth":    {"auth_allow_cleartext = no", "auth_allow_cleartext = yes", "Dovecot 2.4 says it the other way round."},
	"ssl_prefer_server_ciphers": {"ssl_server_prefer_ciphers = server", "ssl_server_prefer_ciphers = client", "Dovecot 2.4 has another name for it."},
}

// dovecotVariables are variables of one letter with what Dovecot 2.4 calls them.
var dovecotVariables = strings.NewReplacer(
	"%Lu", "%{user | lower}", "%Ln", "%{user | username | lower}", "%Ld", "%{user | domain | lower}", "%u", "%{user}", "%n", "%{user | username}", "%d", "%{user | domain}",
	"%h", "%{home}", "%s", "%{protocol}", "%r", "%{remote_ip}", "%l", "%{local_ip}", "%m", "%{mechanism}", "%w", "%{password}",
)

// dovecotOwner are variables of the owner of a shared folder, in the place of its mail;
// dovecotOwnerPrefix are those in its name.
var (
	dovecotOwner       = strings.NewReplacer("%%u", "%{owner_user}", "%%n", "%{owner_username}", "%%d", "%{owner_domain}", "%%h", "%{owner_home}")
	dovecotOwnerPrefix = strings.NewReplacer("%%u", "$user", "%%n", "$username", "%%d", "$domain")
)

// dovecotAssignment is a setting of a line.
var dovecotAssignment = lazyregexp.New(`^([A-Za-z0-9_]+)\s*=\s*(.*)$`)

// Dovecot rewrites the settings of Dovecot 2.2 and 2.3 in the form of 2.4:
// places of mail, certificates, variables, passdb and userdb, what asks SQL or LDAP for them,
// and the plugins for sieve and quota. What has no plain counterpart is refused.
func Dovecot(in convert.Input) (r convert.Result) {
	inherited, spaces, databases := dovecotInherited(in.Files), dovecotNamed(in.Files), map[string]int{}
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		if sqlQueries.MatchString(f.Text) {
			dovecotSQL(p)
			r.Close(p, f.Path)
			continue
		}
		if ldapQueries.MatchString(f.Text) && strings.HasSuffix(f.Path, ".ext") {
			dovecotLDAP(p, in.Files)
			r.Close(p, f.Path)
			continue
		}
		d := &dovecotPage{Page: p, databases: databases, spaces: spaces, inherited: inherited, rules: imapSieves(f.Text), text: f.Text}
		for i, line := range p.Active() {
			d.enter(line)
			d.line(i)
			d.leave(line)
		}
		if f.Path == "/etc/dovecot/dovecot.conf" {
			p.Lines = append([]string{"dovecot_config_version = 2.4.0", "dovecot_storage_version = 2.4.0"}, p.Lines...)
			p.Changes = append(p.Changes, convert.Change{Line: 0, Was: "", Now: "dovecot_config_version = 2.4.0; dovecot_storage_version = 2.4.0", Why: "Dovecot 2.4 wants to know whose form the file has."})
		}
		r.Close(p, f.Path)
	}
	dovecotRecipients(in, &r)
	return r
}

// dovecotPage is a file with the sections in which a line stands.
type dovecotPage struct {
	*convert.Page
	sections  []string                     // the first words of those that are open
	databases map[string]int               // passdb and userdb of all files, how many of a driver, which names the first
	dropped   bool                         // the section of dictionaries is
	spaces    map[string]bool              // namespaces of all files by the names that they have or were given
	inherited map[string]bool              // parts of a place of mail that come from elsewhere
	rules     map[string]map[string]string // scripts that run where mail is moved
	text      string                       // as it was
}

// namespace names a section after what it holds: the one with the inbox as Dovecot's own
// configuration calls it, others by how their folders begin, or by their type.
func (d *dovecotPage) namespace(i int) {
	of := d.settings(i)
	name := strings.ToLower(dovecotUnnamed.ReplaceAllString(of["prefix"], ""))
	if name == "" && of["type"] != "private" {
		name = of["type"]
	}
	if of["inbox"] == "yes" {
		name = "inbox"
	} else if name == "inbox" { // it would be one with Dovecot's own
		name = ""
	}
	if name == "" || d.spaces[name] {
		d.Refuse(i, "Dovecot 2.4 wants a name here.")
		return
	}
	d.spaces[name] = true
	d.Replace(i, "namespace "+name+" {", "Dovecot 2.4 wants a name here.")
}

// settings are those of the section that begins at a line, without those of sections in it.
func (d *dovecotPage) settings(i int) map[string]string {
	settings, depth := map[string]string{}, 0
	for _, line := range d.Lines[i:] {
		line = strings.TrimSpace(line)
		if depth += strings.Count(line, "{") - strings.Count(line, "}"); depth == 0 {
			break
		}
		if m := dovecotAssignment.FindStringSubmatch(line); depth == 1 && m != nil {
			settings[m[1]] = m[2]
		}
	}
	return settings
}

// dovecotNames are namespaces with a name.
var dovecotNames = lazyregexp.New(`(?m)^[ \t]*namespace[ \t]+(\w+)[ \t]*\{`)

// dovecotNamed are the names that no further namespace can get, which would be one with
// it. That of the inbox is none of them: it is often said in pieces.
func dovecotNamed(files []convert.File) map[string]bool {
	named := map[string]bool{}
	for _, f := range files {
		for _, m := range dovecotNames.FindAllStringSubmatch(f.Text, -1) {
			named[m[1]] = m[1] != "inbox"
		}
	}
	return named
}

// dovecotUnnamed is what a name of a section is not made of.
var dovecotUnnamed = lazyregexp.New(`[^A-Za-z0-9]`)

// enter notes the section that a line opens; leave those that it ends.
func (d *dovecotPage) enter(line string) {
	if strings.HasSuffix(line, "{") {
		d.sections = append(d.sections, strings.Fields(line)[0])
	}
}

func (d *dovecotPage) leave(line string) {
	if line == "}" && len(d.sections) > 0 {
		d.sections = d.sections[:len(d.sections)-1]
	}
}

// within is the section in which a line stands.
func (d *dovecotPage) within() string {
	if len(d.sections) == 0 {
		return ""
	}
	return d.sections[len(d.sections)-1]
}

func (d *dovecotPage) line(i int) {
	p, line := d.Page, strings.TrimSpace(d.Lines[i])
	switch m := dovecotAssignment.FindStringSubmatch(line); {
	case line == "plugin {", d.within() == "plugin" && line == "}":
		p.Drop(i, "Dovecot 2.4 has the settings of plugins in no section of theirs.")
	case d.within() == "plugin" && m != nil:
		d.plugin(i, m[1], m[2])
	case d.within() == "dict" && (d.dropped || line == "dict {" && d.quotaAlone(i)):
		d.dropped = line != "}"
		p.Drop(i, "Dovecot 2.4 counts quota in its own index, which needs no dictionary: doveadm quota recalc -A counts it anew.")
	case strings.HasPrefix(line, "plugin"), strings.HasPrefix(line, "dict "):
		p.Refuse(i, "Dovecot 2.4 has no such section: each of its settings has another name and place.")
	case strings.HasPrefix(line, "passdb {"), strings.HasPrefix(line, "userdb {"):
		d.database(i)
	case line == "namespace {":
		d.namespace(i)
	case line == "inet_listener {" && d.settings(i)["port"] != "":
		p.Replace(i, "inet_listener port-"+d.settings(i)["port"]+" {", "Dovecot 2.4 wants a name here.")
	case d.within() == "namespace" && m != nil && m[1] == "prefix" && strings.Contains(m[2], "%%"):
		p.Replace(i, "prefix = "+dovecotOwnerPrefix.Replace(m[2]), "Dovecot 2.4 has other names for the variables of a folder's owner.")
	case m != nil && (m[1] == "mail_location" || d.within() == "namespace" && m[1] == "location"):
		d.location(i, m[2])
	case m != nil && d.within() == "passdb" && m[1] == "pass":
		dovecotPass(p, i, m[2])
	case m != nil && (m[1] == "default_fields" || m[1] == "override_fields") && (d.within() == "passdb" || d.within() == "userdb"):
		dovecotFields(p, i, m[1], m[2])
	case m != nil && unlimited(m[1], m[2]) != m[2] && m[1] != "service_count":
		p.Replace(i, m[1]+" = "+unlimited(m[1], m[2]), "Dovecot 2.4 has a word for no limit.")
	case m != nil && convert.Known()["dovecot"][d.within()+"_"+m[1]]: // by its short name
		p.Replace(i, m[1]+" = "+dovecotVariables.Replace(m[2]), "Dovecot 2.4 has longer names for its variables.")
	case m != nil && convert.WordsOf("dovecot-settings")[d.within()+"_"+m[1]].Now != "":
		p.Replace(i, convert.WordsOf("dovecot-settings")[d.within()+"_"+m[1]].Now+" = "+unlimited(m[1], m[2]), "Dovecot 2.4 has another name for it.")
	case m != nil:
		dovecotSetting(p, i, m[1], m[2])
	}
}

// unlimited is the value of a setting: where 2.3 has no limit by 0, 2.4 has a word for it.
func unlimited(name, value string) string {
	if value == "0" && slices.Contains([]string{"service_count", "vsz_limit", "default_vsz_limit", "lmtp_user_concurrency_limit"}, name) {
		return "unlimited"
	}
	return value
}

// quotaAlone reports whether a section of dictionaries has none but those of quota.
func (d *dovecotPage) quotaAlone(i int) bool {
	for _, line := range d.Lines[i+1:] {
		switch m := dovecotAssignment.FindStringSubmatch(strings.TrimSpace(line)); {
		case strings.TrimSpace(line) == "}":
			return true
		case m != nil && !strings.Contains(m[1], "quota"):
			return false
		}
	}
	return false
}

// dovecotPass has the account looked up in the databases that follow, to which a master logs in.
func dovecotPass(p *convert.Page, i int, value string) {
	if value == "yes" {
		p.Replace(i, "result_success = continue", "Dovecot 2.4 has another name for it.")
		return
	}
	p.Drop(i, "Dovecot 2.4 does so by itself.")
}

// dovecotFields are fields of every account, which other databases may name too:
// those that count where nothing else says so have a name of their own.
func dovecotFields(p *convert.Page, i int, name, value string) {
	fields, ok := dovecotAssigned(value, map[string]string{"default_fields": ":default"}[name])
	if !ok {
		p.Refuse(i, "It is not made of names with values.")
		return
	}
	p.Replace(i, fields, "Dovecot 2.4 has a section of fields.")
}

// dovecotAssigned is a section of fields, of words such as uid=vmail.
func dovecotAssigned(value, suffix string) (string, bool) {
	words := strings.Fields(value)
	for n, word := range words {
		key, value, ok := strings.Cut(word, "=")
		of := strings.TrimPrefix(key, "userdb_")
		if !ok || strings.ContainsAny(word, `"'`) || strings.HasPrefix(of, "quota") || of == "mail" { // which have other names
			return "", false
		}
		words[n] = key + suffix + " = " + dovecotVariables.Replace(value)
	}
	return "fields {\n  " + strings.Join(words, "\n  ") + "\n}", true
}

func dovecotSetting(p *convert.Page, i int, name, value string) {
	file, renamed := convert.WordsOf("dovecot-files")[name].Now, convert.WordsOf("dovecot-settings")[name]
	bare, _, _ := strings.Cut(value, " #")
	switch bare = strings.TrimSpace(bare); {
	case file != "" && strings.HasPrefix(value, "<"):
		moved := postfixPlaces.Move(strings.TrimSpace(value[1:]))
		p.Replace(i, file+" = "+moved, "Dovecot 2.4 has another name for it.")
	case dovecotSwitches[name].why != "":
		s := dovecotSwitches[name]
		if now := map[string]string{"yes": s.yes, "no": s.no}[bare]; now != "" {
			p.Replace(i, now, s.why)
		} else {
			p.Refuse(i, "It is neither yes nor no.")
		}
	case name == "ssl_dh_parameters_length" || name == "ssl_parameters_regenerate":
		p.Drop(i, "Dovecot 2.3 has it no more.")
	case name == "mail_plugins":
		dovecotPlugins(p, i, bare)
	case renamed.Now != "":
		p.Replace(i, renamed.Now+" = "+value, cmp.Or(renamed.Why, "Dovecot 2.4 has another name for it."))
	case renamed.Why != "":
		p.Drop(i, renamed.Why)
	case name == "driver" || name == "args": // done with their section
	case !convert.Known()["dovecot"][name]:
		p.Refuse(i, "Dovecot 2.4 does not know this setting.")
	default:
		p.Replace(i, name+" = "+postfixPlaces.Move(dovecotVariables.Replace(value)), "Dovecot 2.4 has longer names for its variables.")
	}
}

// dovecotLocations are the places of mail that count for all namespaces.
var dovecotLocations = lazyregexp.New(`(?m)^[ \t]*mail_location[ \t]*=[ \t]*(.*)$`)

// dovecotInherited are the parts that a place of mail gets from elsewhere if it is silent:
// in Dovecot 2.4 each is a setting by itself, which counts on in namespaces and in later
// files. The inbox is always among them, for Debian's own 10-mail.conf has one for mbox.
func dovecotInherited(files []convert.File) map[string]bool {
	inherited := map[string]bool{"INBOX": true}
	for _, f := range files {
		for _, m := range dovecotLocations.FindAllStringSubmatch(f.Text, -1) {
			for _, part := range strings.Split(m[1], ":") {
				key, _, _ := strings.Cut(part, "=")
				inherited[key] = true
			}
		}
	}
	return inherited
}

// dovecotInbox is where 2.3 had the inbox of a place of mail that doesn't name it. Dovecot
// 2.4 takes an empty one of maildir for a folder .INBOX, which is not where its mail is.
func dovecotInbox(driver, path string) string {
	return map[string]string{"maildir": path, "mbox": path + "/inbox"}[driver]
}

// dovecotLayout is how 2.3 lays out the folders of a place of mail that doesn't say it.
func dovecotLayout(driver string) string {
	if driver == "maildir" {
		return "maildir++"
	}
	return "fs"
}

// dovecotParts are those of a place of mail behind its path, by their names in 2.3, with the
// inbox that it has anyway; other is one that Dovecot 2.4 has in another form.
func dovecotParts(parts []string) (named map[string]string, other string) {
	named = map[string]string{"INBOX": dovecotInbox(parts[0], parts[1])}
	for _, part := range parts[2:] {
		key, path, _ := strings.Cut(part, "=")
		if convert.WordsOf("dovecot-mail")[key].Now == "" {
			return nil, key
		}
		named[key] = path
	}
	return named, ""
}

// location splits a place of mail: driver:path:KEY=path…. What it doesn't name is said
// where it would be inherited, for 2.3 took a place as a whole.
func (d *dovecotPage) location(i int, value string) {
	value, _, _ = strings.Cut(value, " #")
	value = strings.Trim(value, `" `)
	parts := strings.Split(dovecotVariables.Replace(dovecotOwner.Replace(value)), ":")
	if value == "" {
		d.Drop(i, "It is found out by itself.")
		return
	}
	if len(parts) < 2 {
		d.Refuse(i, "It names no format of mail.")
		return
	}
	named, other := dovecotParts(parts)
	if other != "" {
		d.Refuse(i, "Dovecot 2.4 has "+other+" in another form.")
		return
	}
	lines := []string{"mail_driver = " + parts[0], "mail_path = " + parts[1]}
	for _, key := range slices.Sorted(maps.Keys(convert.WordsOf("dovecot-mail"))) {
		path, ok := named[key]
		if !ok && key == "LAYOUT" {
			path = dovecotLayout(parts[0])
		}
		if ok || d.inherited[key] {
			lines = append(lines, strings.TrimSpace(convert.WordsOf("dovecot-mail")[key].Now+" = "+path))
		}
	}
	d.Replace(i, strings.Join(lines, "\n"), "Dovecot 2.4 has a setting for each part.")
}

// dovecotDatabase names a section by its driver, as Dovecot 2.4 wants it.
func (d *dovecotPage) database(i int) {
	p := d.Page
	kind := strings.Fields(p.Lines[i])[0]
	driver, driverLine, args, argsLine := "", i, "", i
	for n := i + 1; n < len(p.Lines) && !strings.ContainsAny(p.Lines[n], "{}"); n++ {
		switch m := dovecotAssignment.FindStringSubmatch(strings.TrimSpace(p.Lines[n])); {
		case m == nil:
		case m[1] == "driver":
			driver, driverLine = m[2], n
		case m[1] == "args":
			args, argsLine = m[2], n
		}
	}
	if (driver == "sql" || driver == "ldap") && sqlFiles.MatchString(args) && d.databases[kind+driver] == 0 {
		d.databases[kind+driver]++
		head := kind + " " + driver + " {"
		if !slices.ContainsFunc(p.Lines[argsLine+1:], func(line string) bool { return strings.Contains(line, args) }) {
			head = "!include " + args + "\n" + head // at the last of its sections, so that all keep their order
		}
		p.Replace(i, head, "Dovecot 2.4 has the queries among its settings: the file has their sections.")
		p.Drop(driverLine, "Dovecot 2.4 names the section by its driver.")
		p.Drop(argsLine, "The file is included.")
		return
	}
	form, ok := dovecotArgs(driver, args)
	if !convert.Lists("dovecot-drivers", driver) || !ok {
		p.Refuse(i, "Dovecot 2.4 has another form of this driver's arguments.")
		return
	}
	if d.databases[kind+driver]++; d.databases[kind+driver] > 1 { // of one name they would be one
		p.Replace(i, fmt.Sprintf("%s %s-%d {", kind, driver, d.databases[kind+driver]), "There are several of this driver: Dovecot 2.4 tells them by their names.")
	} else {
		p.Replace(i, kind+" "+driver+" {", "Dovecot 2.4 names the section by its driver.")
		p.Drop(driverLine, "Dovecot 2.4 names the section by its driver.")
	}
	if form != "" {
		p.Replace(argsLine, form, "Dovecot 2.4 has a setting for each argument.")
	} else if args != "" {
		p.Drop(argsLine, "It is the default.")
	}
}

// dovecotArgs are a driver's arguments as settings.
func dovecotArgs(driver, args string) (string, bool) {
	words := strings.Fields(args) // variables have spaces
	switch {
	case args == "", driver == "pam" && args == "dovecot":
		return "", true
	case driver == "static":
		return dovecotAssigned(args, "")
	case driver == "passwd-file" && len(words) > 0 && strings.HasPrefix(words[len(words)-1], "/"):
		return dovecotPasswdFile(words[:len(words)-1], words[len(words)-1])
	}
	return "", false
}

// dovecotPasswdFile is a file of accounts, with what may stand before it.
func dovecotPasswdFile(options []string, file string) (string, bool) {
	lines := []string{"passwd_file_path = " + dovecotVariables.Replace(file)}
	for _, option := range options {
		switch key, value, _ := strings.Cut(option, "="); key {
		case "scheme":
			lines = append(lines, "default_password_scheme = "+value)
		case "username_format":
			lines = append(lines, "auth_username_format = "+dovecotVariables.Replace(value))
		default:
			return "", false
		}
	}
	return strings.Join(lines, "\n"), true
}
