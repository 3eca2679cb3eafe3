package naming

import (
	"fmt"
	"strings"

	"svc/backend/lazyregexp"
)

// account begins where a name of an account may: what else it says is up to what knows them.
var account = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_.-]*`)

// accountPlaces are where lines name accounts, each with what its groups are: u, a user; g,
// a group. Programs and directives of Apache's modules by their manuals; the fourth and fifth
// field of tmpfiles.d(5).
var accountPlaces = []struct {
	at    *lazyregexp.Regexp
	kinds string
}{
	{lazyregexp.New(`\bchown(?: +-[A-Za-z-]+)* +["']?([A-Za-z_][A-Za-z0-9_-]*)?(?:[:.]([A-Za-z_][A-Za-z0-9_-]*))?["']?(?:\s|$)`), "ug"},
	{lazyregexp.New(`--chown[= ]["']?([A-Za-z_][A-Za-z0-9_-]*)?(?::([A-Za-z_][A-Za-z0-9_-]*))?`), "ug"},
	{lazyregexp.New(`\bchgrp(?: +-[A-Za-z-]+)* +([A-Za-z_][A-Za-z0-9_-]*)(?:\s|$)`), "g"},
	{lazyregexp.New(`\b(?:sudo|runuser|crontab)(?: +-[A-Za-z-]+)*? +(?:-[A-Za-z]*u *|--user[= ])([A-Za-z_][A-Za-z0-9_-]*)`), "u"},
	{lazyregexp.New(`\bsu(?: +-s +\S+| +-l?| +--login)* +([A-Za-z_][A-Za-z0-9_-]*)`), "u"},
	{lazyregexp.New(`\binstall +[^|;&]*-o *([A-Za-z_][A-Za-z0-9_-]*)`), "u"},
	{lazyregexp.New(`\binstall +[^|;&]*-g *([A-Za-z_][A-Za-z0-9_-]*)`), "g"},
	{lazyregexp.New(`\bsetfacl +[^|;&]*\bu(?:ser)?:([A-Za-z_][A-Za-z0-9_-]*):`), "u"},
	{lazyregexp.New(`\bsetfacl +[^|;&]*\bg(?:roup)?:([A-Za-z_][A-Za-z0-9_-]*):`), "g"},
	{lazyregexp.New(`^\s*(?:create|createolddir)(?:\s+[0-7]{3,4})?\s+([A-Za-z_][A-Za-z0-9_-]*)(?:\s+([A-Za-z_][A-Za-z0-9_-]*))?\s*$`), "ug"}, // logrotate(8)
	{lazyregexp.New(`^\s*su\s+([A-Za-z_][A-Za-z0-9_-]*)\s+([A-Za-z_][A-Za-z0-9_-]*)\s*$`), "ug"},
	{lazyregexp.New(`(?i)(?:^\s*\$(?:privdropto|file|dir)(?:user|owner)\s+|\b(?:file|dir)owner="|\bprivdrop\.user\.name=")([a-z_][a-z0-9_-]*)`), "u"}, // rsyslog.conf(5)
	{lazyregexp.New(`(?i)(?:^\s*\$(?:privdropto|file|dir)group\s+|\b(?:file|dir)group="|\bprivdrop\.group\.name=")([a-z_][a-z0-9_-]*)`), "g"},
	{lazyregexp.New(`(?i)^\s*WSGIDaemonProcess\s.*\suser=([a-z_][a-z0-9_-]*)`), "u"},
	{lazyregexp.New(`(?i)^\s*WSGIDaemonProcess\s.*\sgroup=([a-z_][a-z0-9_-]*)`), "g"},
	{lazyregexp.New(`(?i)^\s*(?:SuexecUserGroup|AssignUserID)\s+([a-z_][a-z0-9_-]*)\s+([a-z_][a-z0-9_-]*)`), "ug"},
	{lazyregexp.New(`^[A-Za-z][-+!=~^$]*\s+\S*/\S*\s+(?:[:~]*[0-7]{3,4}|-)\s+:?([A-Za-z_][A-Za-z0-9_-]*|-)(?:\s+:?([A-Za-z_][A-Za-z0-9_-]*))?`), "ug"},
}

// ofServer are settings by which a program's own file says as whom it runs.
var ofServer = []struct {
	at    *lazyregexp.Regexp
	kinds string
}{
	{lazyregexp.New(`(?i)^\s*(?:[a-z]+[_.-])*(?:user|uid|owner)(?:name)?\s*[ \t=:]\s*["']?([a-z_][a-z0-9_-]*)["']?\s*;?\s*$`), "u"},
	{lazyregexp.New(`(?i)^\s*(?:[a-z]+[_.-])*(?:group|gid)(?:name)?\s*[ \t=:]\s*["']?([a-z_][a-z0-9_-]*)["']?\s*;?\s*$`), "g"},
}

// accounts are those by which a unit runs, those that commands and tmpfiles.d name, and in a
// program's own file that by which it runs.
func (l *nameLine) accounts() {
	for _, place := range accountPlaces {
		l.accountsAt(place.at, place.kinds, func(string) bool { return true })
	}
	for _, setting := range ofServer {
		l.accountsAt(setting.at, setting.kinds, func(name string) bool { return l.r.where.runs[[2]string{l.r.pkg, name}] })
	}
	setting := runsAs.FindStringSubmatch(l.text)
	if setting == nil {
		return
	}
	called := l.r.where.Group
	if strings.HasSuffix(setting[1], "User") {
		called = l.r.where.Account
	}
	names := strings.TrimPrefix(l.text, setting[0])
	l.text = setting[0] + account.ReplaceAllStringFunc(names, func(name string) string {
		to := called(name)
		if to != name {
			l.say(name, to, "")
		}
		return to
	})
}

// accountsAt renames what stands at a place. It is said with the words around it, since the
// same name may stand elsewhere in the line and mean another thing.
func (l *nameLine) accountsAt(at *lazyregexp.Regexp, kinds string, means func(name string) bool) {
	var said []Mention
	for rest := 0; rest < len(l.text); {
		all := at.FindAllStringSubmatchIndex(l.text[rest:], 1)
		if all == nil {
			break
		}
		found := all[0]
		whole, now, why, from := l.text[rest+found[0]:rest+found[1]], "", []string{}, found[0]
		for i, kind := range kinds {
			begin, end := found[2+2*i], found[3+2*i]
			if begin < 0 {
				continue
			}
			name := l.text[rest+begin : rest+end]
			to := l.r.where.Account(name)
			if kind == 'g' {
				to = l.r.where.Group(name)
			}
			if to != name && means(name) {
				why = append(why, fmt.Sprintf("%s is %s in %s.", name, to, l.r.target))
			} else {
				to = name
			}
			now, from = now+l.text[rest+from:rest+begin]+to, end
		}
		now += l.text[rest+from : rest+found[1]]
		l.text = l.text[:rest+found[0]] + now + l.text[rest+found[1]:]
		rest += found[0] + max(1, len(now))
		if now != whole {
			said = append(said, Mention{Line: l.number, Name: strings.TrimSpace(whole), Now: strings.TrimSpace(now), Why: strings.Join(why[:1], " ")})
		}
	}
	l.renamed = append(l.renamed, said...)
}
