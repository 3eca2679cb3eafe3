package mail

import (
	"maps"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/convert"
)

// dovecotArguments are lines by which 2.3 names a file of accounts, behind its options.
var dovecotArguments = lazyregexp.New(`(?m)^[ \t]*args[ \t]*=[ \t]*(?:\S+=\S+[ \t]+)*(/[^\s%]+)[ \t]*$`)

// DovecotAccounts are the files that a file of Dovecot 2.3 may name as those of accounts.
func DovecotAccounts(text string) []string {
	return sliced.Map(dovecotArguments.FindAllStringSubmatch(text, -1), func(m []string) string { return m[1] })
}

// DovecotFields are the fields of a file of accounts (passwd-file) that Dovecot 2.4 reads
// over in silence, with those that it has in their place; Now is empty where there is none.
func DovecotFields(text string) (fields []convert.Change) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(strings.TrimSpace(line), ":", 8)
		for _, field := range strings.Fields(parts[len(parts)-1]) {
			switch name, value, _ := strings.Cut(field, "="); {
			case len(parts) < 8:
			case name == "userdb_mail":
				fields = append(fields, convert.Change{Line: n, Was: field, Now: accountPlace(value), Why: "Dovecot 2.4 has a field for each part of a place of mail, and reads this one over: the mail is not seen."})
			case strings.HasPrefix(name, "userdb_quota_rule"):
				now := ""
				if rule := dovecotQuotaRule.FindStringSubmatch(value); rule != nil && rule[4] == "" {
					now = "userdb_quota_storage_size=" + rule[2] + quotaUnit(rule[1], rule[3])
				}
				fields = append(fields, convert.Change{Line: n, Was: field, Now: now, Why: "Dovecot 2.4 has quota_storage_size with a unit, and reads this one over: there is no limit."})
			}
		}
	}
	return fields
}

// accountPlace is a place of mail as fields of an account. The inbox is always said, for
// Debian's own 10-mail.conf has one for mbox.
func accountPlace(value string) string {
	parts := strings.Split(dovecotVariables.Replace(value), ":")
	if len(parts) < 2 {
		return ""
	}
	named, other := dovecotParts(parts)
	if other != "" {
		return ""
	}
	fields := []string{"userdb_mail_driver=" + parts[0], "userdb_mail_path=" + parts[1]}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		fields = append(fields, "userdb_"+convert.WordsOf("dovecot-mail")[key].Now+"="+named[key])
	}
	now := strings.Join(fields, " ")
	if strings.Contains(now, " | ") { // words with spaces would be several fields
		return ""
	}
	return now
}
