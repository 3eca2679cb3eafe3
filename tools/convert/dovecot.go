package convert

import (
	"strings"

	"svc/backend/api/lazyregexp"
)

// dovecotPlaces are where the families keep what Dovecot's settings name.
var dovecotPlaces = places{
	{"/etc/pki/dovecot/certs/dovecot.pem", "/etc/dovecot/private/dovecot.pem"},
	{"/etc/pki/dovecot/private/dovecot.pem", "/etc/dovecot/private/dovecot.key"},
	{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	{"/etc/pki/tls/certs", "/etc/ssl/certs"},
	{"/etc/pki/tls/private", "/etc/ssl/private"},
	{"/usr/lib64/dovecot", "/usr/lib/dovecot/modules"},
	{"/usr/libexec/dovecot", "/usr/lib/dovecot"},
}

// dovecotFiles are settings of a file, which Dovecot 2.4 names as such.
var dovecotFiles = map[string]string{
	"ssl_cert": "ssl_server_cert_file", "ssl_key": "ssl_server_key_file", "ssl_ca": "ssl_server_ca_file", "ssl_dh": "ssl_server_dh_file",
}

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

// dovecotDrivers are the drivers of passdb and userdb that need no arguments.
var dovecotDrivers = map[string]bool{"pam": true, "passwd": true, "shadow": true, "prefetch": true, "static": true, "passwd-file": true}

// dovecotAssignment is a setting of a line.
var dovecotAssignment = lazyregexp.New(`^([A-Za-z0-9_]+)\s*=\s*(.*)$`)

// dovecot rewrites the settings of Dovecot 2.2 and 2.3 in the form of 2.4:
// places of mail, certificates, variables, passdb and userdb. What has no plain
// counterpart, such as plugin sections and SQL, is refused.
func dovecot(in Input) (r Result) {
	for _, f := range in.Files {
		p := open(f, "#")
		for i := range p.active() {
			dovecotLine(p, i)
		}
		if f.Path == "/etc/dovecot/dovecot.conf" {
			p.lines = append([]string{"dovecot_config_version = 2.4.0", "dovecot_storage_version = 2.4.0"}, p.lines...)
			p.changes = append(p.changes, Change{0, "", "dovecot_config_version = 2.4.0; dovecot_storage_version = 2.4.0", "Dovecot 2.4 wants to know whose form the file has."})
		}
		r.close(p, f.Path)
	}
	return r
}

func dovecotLine(p *page, i int) {
	line := strings.TrimSpace(p.lines[i])
	switch m := dovecotAssignment.FindStringSubmatch(line); {
	case strings.HasPrefix(line, "plugin "), strings.HasPrefix(line, "dict "):
		p.refuse(i, "Dovecot 2.4 has no such section: each of its settings has another name and place.")
	case strings.HasPrefix(line, "passdb {"), strings.HasPrefix(line, "userdb {"):
		dovecotDatabase(p, i)
	case line == "namespace {":
		p.refuse(i, "Dovecot 2.4 wants a name here.")
	case m != nil:
		dovecotSetting(p, i, m[1], m[2])
	}
}

func dovecotSetting(p *page, i int, name, value string) {
	file := dovecotFiles[name]
	bare, _, _ := strings.Cut(value, " #")
	switch bare = strings.TrimSpace(bare); {
	case file != "" && strings.HasPrefix(value, "<"):
		moved := postfixPlaces.move(strings.TrimSpace(value[1:]))
		p.replace(i, file+" = "+moved, "Dovecot 2.4 has another name for it.")
	case name == "mail_location":
		dovecotLocation(p, i, value)
	case dovecotSwitches[name].why != "":
		s := dovecotSwitches[name]
		if now := map[string]string{"yes": s.yes, "no": s.no}[bare]; now != "" {
			p.replace(i, now, s.why)
		} else {
			p.refuse(i, "It is neither yes nor no.")
		}
	case name == "ssl_dh_parameters_length" || name == "ssl_parameters_regenerate":
		p.drop(i, "Dovecot 2.3 has it no more.")
	case name == "mail_plugins":
		words := strings.Fields(strings.ReplaceAll(bare, "$mail_plugins", ""))
		if len(words) == 0 {
			p.drop(i, "It adds nothing.")
			return
		}
		p.replace(i, "mail_plugins {\n  "+strings.Join(words, " = yes\n  ")+" = yes\n}", "Dovecot 2.4 adds to a list by a section.")
	case name == "driver" || name == "args": // done with their section
	case !known()["dovecot"][name]:
		p.refuse(i, "Dovecot 2.4 does not know this setting.")
	default:
		p.replace(i, name+" = "+postfixPlaces.move(dovecotVariables.Replace(value)), "Dovecot 2.4 has longer names for its variables.")
	}
}

// dovecotLocation splits a place of mail: driver:path:KEY=path….
func dovecotLocation(p *page, i int, value string) {
	parts := strings.Split(dovecotVariables.Replace(value), ":")
	if value == "" {
		p.drop(i, "It is found out by itself.")
		return
	}
	if len(parts) < 2 {
		p.refuse(i, "It names no format of mail.")
		return
	}
	lines := []string{"mail_driver = " + parts[0], "mail_path = " + parts[1]}
	keys := map[string]string{"INBOX": "mail_inbox_path", "INDEX": "mail_index_path", "CONTROL": "mail_control_path"}
	for _, part := range parts[2:] {
		key, path, _ := strings.Cut(part, "=")
		if keys[key] == "" {
			p.refuse(i, "Dovecot 2.4 has "+key+" in another form.")
			return
		}
		lines = append(lines, keys[key]+" = "+path)
	}
	p.replace(i, strings.Join(lines, "\n"), "Dovecot 2.4 has a setting for each part.")
}

// dovecotDatabase names a section by its driver, as Dovecot 2.4 wants it.
func dovecotDatabase(p *page, i int) {
	kind := strings.Fields(p.lines[i])[0]
	driver, driverLine, args, argsLine := "", i, "", i
	for n := i + 1; n < len(p.lines) && !strings.ContainsAny(p.lines[n], "{}"); n++ {
		switch m := dovecotAssignment.FindStringSubmatch(strings.TrimSpace(p.lines[n])); {
		case m == nil:
		case m[1] == "driver":
			driver, driverLine = m[2], n
		case m[1] == "args":
			args, argsLine = m[2], n
		}
	}
	form, ok := dovecotArgs(driver, args)
	if !dovecotDrivers[driver] || !ok {
		p.refuse(i, "Dovecot 2.4 has another form of this driver's arguments.")
		return
	}
	p.replace(i, kind+" "+driver+" {", "Dovecot 2.4 names the section by its driver.")
	p.drop(driverLine, "Dovecot 2.4 names the section by its driver.")
	if form != "" {
		p.replace(argsLine, form, "Dovecot 2.4 has a setting for each argument.")
	} else if args != "" {
		p.drop(argsLine, "It is the default.")
	}
}

// dovecotArgs are a driver's arguments as settings.
func dovecotArgs(driver, args string) (string, bool) {
	words := strings.Fields(dovecotVariables.Replace(args))
	switch {
	case args == "", driver == "pam" && args == "dovecot":
		return "", true
	case driver == "static" && !strings.Contains(args, "\""):
		fields := strings.Fields(args)
		for n, f := range fields {
			key, value, ok := strings.Cut(f, "=")
			if !ok {
				return "", false
			}
			fields[n] = key + " = " + dovecotVariables.Replace(value)
		}
		return "fields {\n  " + strings.Join(fields, "\n  ") + "\n}", true
	case driver == "passwd-file" && len(words) == 1:
		return "passwd_file_path = " + words[0], true
	}
	return "", false
}
