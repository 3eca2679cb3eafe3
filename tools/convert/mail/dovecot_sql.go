package mail

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/convert"
)

// sqlFiles are the files of queries that come along with Dovecot's own.
var sqlFiles = lazyregexp.Whole(`/etc/dovecot/[^/\s]+\.ext`)

// sqlQueries tells such a file.
var sqlQueries = lazyregexp.New(`(?m)^\s*(password_query|user_query|iterate_query)\s*=`)

// dovecotSQL writes a file of queries in the form of Dovecot 2.4, which has them among
// its settings: how the database is reached, and a section for each query.
func dovecotSQL(p *convert.Page) {
	driver := ""
	for i := 0; i < len(p.Lines); i++ {
		m := dovecotAssignment.FindStringSubmatch(strings.TrimSpace(p.Lines[i]))
		if p.Idle(i) || m == nil {
			if !p.Idle(i) {
				p.Refuse(i, "Dovecot 2.4 has no such line among queries.")
			}
			continue
		}
		last := p.Last(i)
		switch name, value := m[1], strings.Trim(m[2], `"`); name {
		case "driver":
			driver = value
			p.Replace(i, "sql_driver = "+value, "Dovecot 2.4 has another name for it.")
		case "connect":
			sqlConnect(p, i, driver, value)
		case "default_pass_scheme":
			p.Replace(i, "passdb sql {\n  default_password_scheme = "+value+"\n}", "Dovecot 2.4 has a section for it.")
		case "password_query":
			sqlQuery(p, i, last, "passdb", "query", m[2])
		case "user_query":
			sqlQuery(p, i, last, "userdb", "query", m[2])
		case "iterate_query":
			sqlQuery(p, i, last, "userdb", "iterate_query", m[2])
		default:
			p.Refuse(i, "Dovecot 2.4 has this under another name and at another place.")
		}
		i = last
	}
}

// sqlConnect names the servers of a database, each with its own settings.
func sqlConnect(p *convert.Page, i int, driver, value string) {
	if driver == "sqlite" && strings.HasPrefix(value, "/") {
		p.Replace(i, "sqlite_path = "+value, "Dovecot 2.4 has another name for it.")
		return
	}
	var hosts, settings []string
	for word := range strings.FieldsSeq(value) {
		key, v, ok := strings.Cut(word, "=")
		switch {
		case !ok || strings.ContainsAny(v, `"'\`):
			p.Refuse(i, "It is not made of names with values.")
			return
		case key == "host":
			hosts = append(hosts, v)
		case key == "maxconns":
			settings = append(settings, "connection_limit = "+v)
		case driver == "pgsql", driver == "mysql" && convert.Lists("dovecot-mysql", key):
			if strings.Contains(v, "#") {
				v = `"` + v + `"`
			}
			settings = append(settings, key+" = "+v)
		default:
			p.Refuse(i, "Dovecot 2.4 has "+key+" in another form.")
			return
		}
	}
	if len(hosts) == 0 {
		hosts = []string{"localhost"}
	}
	body := "\n  " + strings.Join(settings, "\n  ")
	if driver == "pgsql" {
		body = "\n  parameters {\n    " + strings.Join(settings, "\n    ") + "\n  }"
	}
	sections := sliced.Map(hosts, func(host string) string { return driver + " " + host + " {" + body + "\n}" })
	p.Replace(i, strings.Join(sections, "\n"), "Dovecot 2.4 has a section for each server.")
}

// Of the fields that a query gives, quotas are called otherwise; sizes have a unit.
var (
	quotaConcat = lazyregexp.New(`(?i)\bconcat\(\s*'\*:(bytes|storage)='\s*,\s*([A-Za-z0-9_."` + "`" + `]+)\s*(?:,\s*'([KMG])')?\s*\)\s+as\s+(userdb_)?quota_rule\b`)
	quotaPiped  = lazyregexp.New(`(?i)'\*:(bytes|storage)='\s*\|\|\s*([A-Za-z0-9_."]+)\s+as\s+(userdb_)?quota_rule\b`)
	sqlGone     = lazyregexp.New(`(?i)\b(?:userdb_)?quota_rule|\bas\s+["'` + "`" + `]?(?:userdb_)?(?:mail|quota)\b`)
)

// sqlQuery puts a query, of the lines from first to last, into its section.
func sqlQuery(p *convert.Page, first, last int, kind, name, value string) {
	for i := first; i <= last; i++ {
		text := strings.TrimSpace(p.Lines[i])
		p.Lines[i] = text
		if i == first {
			text = value
		}
		now := sqlFields(dovecotVariables.Replace(text))
		if sqlGone.MatchString(now) {
			p.Refuse(i, "Dovecot 2.4 wants quota_storage_size with a unit, and mail_driver and mail_path, in the place of quota_rule and mail.")
			return
		}
		if i == first {
			now = kind + " sql {\n  " + name + " = " + now
		} else {
			now = "    " + now
		}
		if i == last {
			now += "\n}"
		}
		p.Replace(i, now, "Dovecot 2.4 has a section for the query.")
	}
}

// sqlFields are the fields of a line of a query by their names in Dovecot 2.4.
func sqlFields(text string) string {
	text = quotaConcat.ReplaceAllStringFunc(text, func(field string) string {
		m := quotaConcat.FindStringSubmatch(field)
		return "CONCAT(" + m[2] + ", '" + quotaUnit(m[1], m[3]) + "') AS " + m[4] + "quota_storage_size"
	})
	return quotaPiped.ReplaceAllStringFunc(text, func(field string) string {
		m := quotaPiped.FindStringSubmatch(field)
		return m[2] + " || '" + quotaUnit(m[1], "") + "' AS " + m[3] + "quota_storage_size"
	})
}

// quotaUnit is the unit of a rule's number: kilobytes where it names none.
func quotaUnit(kind, unit string) string {
	switch {
	case unit != "":
		return strings.ToUpper(unit)
	case strings.EqualFold(kind, "bytes"):
		return "B"
	}
	return "K"
}
