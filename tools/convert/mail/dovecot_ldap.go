package mail

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// ldapQueries tells a file that says how a directory is asked for accounts.
var ldapQueries = lazyregexp.New(`(?m)^\s*(?:hosts|uris)\s*=`)

// ldapDefaults are what Dovecot 2.3 has where the file is silent; 2.4 has nothing there.
var ldapDefaults = []struct{ of, name, value string }{
	{"passdb", "pass_filter", "(&(objectClass=posixAccount)(uid=%u))"},
	{"passdb", "pass_attrs", "uid=user,userPassword=password"},
	{"userdb", "user_filter", "(&(objectClass=posixAccount)(uid=%u))"},
	{"userdb", "user_attrs", "homeDirectory=home,uidNumber=uid,gidNumber=gid"},
}

// ldapPage is such a file with what it is asked for.
type ldapPage struct {
	*convert.Page
	asked map[string]bool // passdb, userdb
}

// dovecotLDAP writes a file of a directory in the form of Dovecot 2.4, which has it among
// its settings: how the directory is reached, and sections for its questions. A section
// that nothing asks for would be one more place of accounts.
func dovecotLDAP(p *convert.Page, files []convert.File) {
	l, said := ldapPage{p, map[string]bool{}}, map[string]bool{}
	for _, f := range files {
		for _, m := range ldapDatabases.FindAllStringSubmatch(f.Text, -1) {
			l.asked[m[1]] = l.asked[m[1]] || strings.Contains(m[2], p.From)
		}
	}
	for i := range p.Lines {
		m := dovecotAssignment.FindStringSubmatch(strings.TrimSpace(p.Lines[i]))
		switch {
		case p.Idle(i):
		case m == nil || strings.HasSuffix(p.Lines[i], `\`):
			p.Refuse(i, "Dovecot 2.4 has no such line here.")
		default:
			said[m[1]] = true
			l.setting(i, m[1], strings.Trim(m[2], `"`))
		}
	}
	for _, d := range ldapDefaults {
		if !said[d.name] && l.asked[d.of] {
			p.Lines = append(p.Lines, "")
			l.setting(len(p.Lines)-1, d.name, d.value)
		}
	}
	p.Lines = append(p.Lines, "")
}

// ldapDatabases are places of accounts in a directory.
var ldapDatabases = lazyregexp.New(`(?m)^\s*(passdb|userdb)\s*\{([^}]*\bdriver\s*=\s*ldap\b[^}]*)\}`)

// setting writes one setting.
func (l ldapPage) setting(i int, name, value string) {
	word := convert.WordsOf("dovecot-ldap")[name]
	kind, setting, within := strings.Cut(word.Now, " ")
	switch {
	case within && !l.asked[kind]:
		l.Drop(i, "Nothing asks the directory for it.")
	case setting == "fields" || setting == "iterate_fields":
		l.fields(i, kind, setting, value)
	case within:
		l.Replace(i, kind+" ldap {\n  "+setting+" = "+dovecotVariables.Replace(value)+"\n}", "Dovecot 2.4 has a section for it.")
	case name == "hosts":
		l.Replace(i, "ldap_uris = ldap://"+strings.Join(strings.Fields(value), " ldap://"), "Dovecot 2.4 names servers by their addresses.")
	case word.Now != "":
		l.Replace(i, word.Now+" = "+ldapValue(postfixPlaces.Move(value)), "Dovecot 2.4 has another name for it.")
	case word.Why != "":
		l.Drop(i, word.Why)
	default:
		l.Refuse(i, "Dovecot 2.4 has this under another name and at another place.")
	}
}

// ldapValue is a value that is no comment to Dovecot 2.4.
func ldapValue(value string) string {
	if strings.Contains(value, "#") {
		return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
	}
	return value
}

// ldapField is an attribute and what it is: ATTRIBUTE=FIELD, which may have a value around
// the attribute's; without an attribute the value is everybody's.
var ldapField = lazyregexp.Whole(`([A-Za-z0-9;-]*)=([a-z_]+)(?:=(.*))?`)

// fields puts what a directory says of an account into a section.
func (l ldapPage) fields(i int, kind, section, value string) {
	var lines []string
	for field := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(field) == "" {
			continue
		}
		what, now, why := ldapFieldNow(strings.TrimSpace(field))
		if why != "" {
			l.Refuse(i, why)
			return
		}
		lines = append(lines, "    "+what+" = "+now)
	}
	if lines == nil {
		l.Drop(i, "It names no field.")
		return
	}
	l.Replace(i, kind+" ldap {\n  "+section+" {\n"+strings.Join(lines, "\n")+"\n  }\n}", "Dovecot 2.4 has a section of fields.")
}

// ldapFieldNow is a field with its value in the form of Dovecot 2.4, or why there is none.
func ldapFieldNow(field string) (what, now, why string) {
	m := ldapField.FindStringSubmatch(field)
	if m == nil || m[1] == "" && m[3] == "" || ldapDefault.MatchString(m[3]) {
		return "", "", "Dovecot 2.4 has fields of another form."
	}
	what, now = m[2], "%{ldap:"+m[1]+"}"
	if m[3] != "" {
		now = strings.ReplaceAll(dovecotVariables.Replace(m[3]), "%$", now)
	}
	switch of := strings.TrimPrefix(what, "userdb_"); {
	case of == "mail":
		return "", "", "Dovecot 2.4 wants mail_driver and mail_path in the place of mail."
	case of == "quota_rule":
		rule := ldapQuota.FindStringSubmatch(now)
		if rule == nil {
			return "", "", "Dovecot 2.4 wants quota_storage_size with a unit in the place of quota_rule."
		}
		return strings.TrimSuffix(what, of) + "quota_storage_size", rule[2] + quotaUnit(rule[1], rule[3]), ""
	}
	return what, now, ""
}

var (
	// ldapDefault is an attribute with what is taken where it lacks.
	ldapDefault = lazyregexp.New(`%\{ldap:[^}:]*:`)
	// ldapQuota is a rule for all mailboxes whose number an attribute has.
	ldapQuota = lazyregexp.Whole(`\*:(bytes|storage)=(%\{ldap:[A-Za-z0-9;-]+\}|[0-9]+)([KMG])?`)
)
