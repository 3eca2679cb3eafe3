package mail

import (
	"fmt"
	"strconv"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// dovecotScripts are settings of sieve that name a script, by the type that
// Dovecot 2.4 gives it.
var dovecotScripts = lazyregexp.Whole(`sieve_(default|before|after|global|discard)([0-9]*)`)

// dovecotQuota names the quota of users: count is what Dovecot 2.4 has in the
// place of maildir and dirsize.
var (
	dovecotQuota     = lazyregexp.Whole(`(?:count|maildir|dirsize|dict):([A-Za-z0-9 _-]+)(?:::?.*)?`)
	dovecotQuotaRule = lazyregexp.Whole(`\*:(bytes|storage)=([0-9]+)([A-Za-z]?)(?::messages=([0-9]+))?`)
	// of one mailbox: what it may have more, or that it does not count
	dovecotMailboxRule = lazyregexp.Whole(`([^*:]+):(?:(bytes|storage)=\+([0-9]+)([A-Za-z]?|%+)|ignore)`)
	// storage=95%% quota-warning 95 user: what is executed where a limit is crossed
	dovecotQuotaWarning = lazyregexp.Whole(`(-?)(storage|messages?)=([0-9]+)%+ +(\S+)(?: +(.*))?`)
)

// quotaRules and quotaWarnings are the settings of the first quota; that of another is
// quota2, with its rules.
var (
	quotaRules    = lazyregexp.Whole(`quota_rule[0-9]*`)
	quotaWarnings = lazyregexp.Whole(`quota_warning[0-9]*`)
	quotaSize     = lazyregexp.Whole(`[0-9]+ *[kKMG]?`)
)

// userQuota is what a quota is called that has rules and one name.
const userQuota = "User quota"

// plugin rewrites a setting of the section of plugins.
func (d *dovecotPage) plugin(i int, name, value string) {
	p := d.Page
	value = strings.TrimSpace(dovecotVariables.Replace(value))
	section := func(head string, lines ...string) {
		p.Replace(i, head+" {\n  "+strings.Join(lines, "\n  ")+"\n}", "Dovecot 2.4 has a section for it.")
	}
	switch script := dovecotScripts.FindStringSubmatch(name); {
	case name == "sieve":
		place, options, _ := strings.Cut(strings.TrimPrefix(value, "file:"), ";")
		lines := []string{"driver = file", "path = " + place}
		if active, ok := strings.CutPrefix(options, "active="); ok && !strings.Contains(active, ";") {
			lines = append(lines, "active_path = "+active)
		} else if options != "" {
			p.Refuse(i, "Dovecot 2.4 has this option in another form.")
			return
		}
		section("sieve_script personal", lines...)
	case script != nil && !strings.ContainsAny(value, ";"):
		section("sieve_script "+script[1]+script[2], "type = "+script[1], "driver = file", "path = "+strings.TrimPrefix(value, "file:"))
	case imapSieve.MatchString(name):
		d.imapSieve(i, imapSieve.FindStringSubmatch(name))
	case name == "acl" && dovecotACL.MatchString(value):
		acl := dovecotACL.FindStringSubmatch(value)
		lines := "acl_driver = vfile"
		if acl[1] != "" {
			lines += "\nacl_global_path = " + acl[1]
		}
		if acl[2] != "" {
			lines += "\nacl_cache_ttl = " + acl[2] + "s"
		}
		p.Replace(i, lines, "Dovecot 2.4 has a setting for each part.")
	case name == "acl_shared_dict" && strings.HasPrefix(value, "file:/"):
		section("acl_sharing_map", "dict file {", "  path = "+strings.TrimPrefix(value, "file:"), "}")
	case convert.Lists("dovecot-sets", name) && strings.ContainsAny(value, "+-"):
		section(name, signed(value)...)
	case name == "quota" && dovecotQuota.MatchString(value):
		section(`quota "`+userQuota+`"`, "driver = count")
	case quotaRules.MatchString(name) && dovecotMailboxRule.MatchString(value):
		rule := dovecotMailboxRule.FindStringSubmatch(value)
		setting := "quota_storage_extra = " + rule[3] + quotaUnit(rule[2], rule[4])
		if rule[3] == "" {
			setting = "quota_ignore = yes"
		} else if share, err := strconv.Atoi(rule[3]); err == nil && strings.HasPrefix(rule[4], "%") {
			setting = fmt.Sprintf("quota_storage_percentage = %d", 100+share)
		}
		section("namespace inbox", "mailbox "+quoted(strings.TrimSpace(rule[1]))+" {", "  "+setting, "}")
	case quotaWarnings.MatchString(name) && dovecotQuotaWarning.MatchString(value):
		w := dovecotQuotaWarning.FindStringSubmatch(value)
		warning, lines := "warn-"+w[3], []string{"  quota_storage_percentage = " + w[3]}
		if w[2] != "storage" {
			warning, lines = "warn-messages-"+w[3], []string{"  quota_warning_resource = message", "  quota_message_percentage = " + w[3]}
		}
		if w[1] == "-" {
			warning, lines = warning+"-under", append(lines, "  quota_warning_threshold = under")
		}
		lines = append(lines, "  execute "+w[4]+" {", "    args = "+w[5], "  }", "}")
		section(`quota "`+userQuota+`"`, append([]string{"warning " + warning + " {"}, lines...)...)
	case name == "quota_grace" && quotaSize.MatchString(value):
		if last := value[len(value)-1]; last >= '0' && last <= '9' {
			value += "B"
		}
		p.Replace(i, "quota_storage_grace = "+value, "Dovecot 2.4 has another name for it.")
	case name == "quota_grace" && d.graceOf(value) > 0:
		p.Replace(i, fmt.Sprintf("quota_storage_grace = %dB", d.graceOf(value)), "Dovecot 2.4 has a size here: it is this share of what everybody may have.")
	case quotaRules.MatchString(name) && dovecotQuotaRule.MatchString(value):
		rule := dovecotQuotaRule.FindStringSubmatch(value)
		lines := "quota_storage_size = " + rule[2] + quotaUnit(rule[1], rule[3])
		if rule[4] != "" {
			lines += "\nquota_message_count = " + rule[4]
		}
		p.Replace(i, lines, "Dovecot 2.4 has a setting for each part; in the quota's section it would count before a limit of a user's own.")
	case convert.Lists("dovecot-durations", name) && convert.Number(value):
		p.Replace(i, name+" = "+value+"s", "Dovecot 2.4 wants a unit.")
	case convert.Known()["dovecot"][name]:
		p.Replace(i, name+" = "+value, "Dovecot 2.4 has longer names for its variables.")
	case convert.WordsOf("dovecot-settings")[name] != convert.Word{}:
		dovecotSetting(p, i, name, value)
	default:
		p.Refuse(i, "Dovecot 2.4 has this of a plugin under another name and at another place.")
	}
}

// quotaShare is a share of what everybody may have, and quotaOfAll what that is.
var (
	quotaShare = lazyregexp.Whole(`([0-9]{1,3})%+`)
	quotaOfAll = lazyregexp.New(`(?m)^[ \t]*quota_rule[ \t]*=[ \t]*\*:(bytes|storage)=([0-9]{1,12})([kKMGT]?)`)
)

// graceOf is a share of what everybody may have, in bytes; 0 where that is not said, or the
// value is no share.
func (d *dovecotPage) graceOf(value string) int {
	share, all := quotaShare.FindStringSubmatch(value), quotaOfAll.FindStringSubmatch(d.text)
	if share == nil || all == nil {
		return 0
	}
	percent, _ := strconv.Atoi(share[1]) // the patterns have numbers alone
	size, _ := strconv.Atoi(all[2])
	unit := map[string]int{"B": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[quotaUnit(all[1], all[3])]
	return size * unit / 100 * percent
}

// dovecotACL is the driver of access lists with the file for all, and how long it is cached.
var dovecotACL = lazyregexp.Whole(`vfile(?::(/[^:]+))?(?::cache_secs=([0-9]+))?`)

// signed are names that a list has more or less, as members of its section.
func signed(value string) (members []string) {
	for _, name := range strings.Fields(value) {
		said := "yes"
		if strings.HasPrefix(name, "-") {
			said = "no"
		}
		members = append(members, strings.TrimLeft(name, "+-")+" = "+said)
	}
	return members
}

// imapSieve is a setting of the rules that run scripts where mail is moved or copied.
var imapSieve = lazyregexp.Whole(`imapsieve_mailbox([0-9]+)_(name|from|causes|before|after)`)

// imapSieve writes the section of a rule in the place of its name: a script of the folder
// into which mail comes, or of the one from which it comes.
func (d *dovecotPage) imapSieve(i int, name []string) {
	if name[2] != "name" {
		d.Drop(i, "It is in the section of its rule.")
		return
	}
	of := d.rules[name[1]]
	folder, from := of["name"], of["from"]
	var lines []string
	for _, when := range []string{"before", "after"} {
		if of[when] == "" {
			continue
		}
		lines = append(lines, "  sieve_script imapsieve"+name[1]+"-"+when+" {", "    type = "+when)
		if of["causes"] != "" {
			lines = append(lines, "    cause = "+strings.ToLower(strings.ReplaceAll(of["causes"], ",", " ")))
		}
		lines = append(lines, "    path = "+strings.TrimPrefix(of[when], "file:"), "  }")
	}
	switch {
	case len(lines) == 0 || strings.ContainsAny(of["before"]+of["after"], ";") || folder == "*" && (from == "" || from == "*"):
		d.Refuse(i, "Dovecot 2.4 has this rule in another form.")
		return
	case folder == "*":
		lines = append([]string{"imapsieve_from " + quoted(from) + " {"}, append(lines, "}")...)
	case from == "" || from == "*":
		lines = append([]string{"mailbox " + quoted(folder) + " {"}, append(lines, "}")...)
	default:
		lines = append([]string{"mailbox " + quoted(folder) + " {", "imapsieve_from " + quoted(from) + " {"}, append(lines, "}", "}")...)
	}
	d.Replace(i, strings.Join(lines, "\n"), "Dovecot 2.4 has a section for it.")
}

// imapSieves are the settings of all files that make such rules, by the number of the rule.
func imapSieves(text string) map[string]map[string]string {
	rules := map[string]map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		m := dovecotAssignment.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || !imapSieve.MatchString(m[1]) {
			continue
		}
		name := imapSieve.FindStringSubmatch(m[1])
		if rules[name[1]] == nil {
			rules[name[1]] = map[string]string{}
		}
		rules[name[1]][name[2]] = strings.Trim(strings.TrimSpace(m[2]), `"`)
	}
	return rules
}

// quoted is a name as a section has it.
func quoted(name string) string {
	if strings.ContainsAny(name, " ") {
		return `"` + name + `"`
	}
	return name
}

// dovecotPlugins writes the plugins that are loaded by their names in Dovecot 2.4.
func dovecotPlugins(p *convert.Page, i int, value string) {
	var members []string
	for _, name := range strings.Fields(strings.ReplaceAll(value, "$mail_plugins", "")) {
		switch w := convert.WordsOf("dovecot-plugins")[name]; {
		case w.Now != "":
			members = append(members, w.Now+" = yes")
		case w.Why == "" && !convert.Lists("dovecot-plugins", name):
			p.Refuse(i, "Debian's Dovecot 2.4 has no plugin "+name+".")
			return
		case w.Why == "":
			members = append(members, name+" = yes")
		}
	}
	if len(members) == 0 {
		p.Drop(i, "It adds nothing.")
		return
	}
	p.Replace(i, "mail_plugins {\n  "+strings.Join(members, "\n  ")+"\n}", "Dovecot 2.4 adds to a list by a section.")
}
