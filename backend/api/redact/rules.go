package redact

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/tsv"
)

// rulesTSV says what announces a name, in a line of whatever program: how surely a name
// stands there, pieces of text of which the line has one, and the pattern, with pieces in braces.
//
//go:embed rules.tsv
var rulesTSV string

// inBraces are what patterns of that table have between braces.
var inBraces = strings.NewReplacer(
	"{name}", name,
	"{names}", list,
	"{a host}", `["'‘“]?(?P<host>`+name+`)`,
	"{a user}", `["'‘“<]?(?P<user>`+name+`)`,
	"{user of path}", `(?P<known>`+name+`)`, // its path goes as a whole
	"{an ip}", `[0-9]{1,3}(?:\.[0-9]{1,3}){3}`,
	// letters, and digits among or after them; a version or a date has not
	"{made up}", `[A-Za-z!#$%&*+@^~_-]*[A-Za-z]{2}[\w!#$%&*+/=?@^~-]*[0-9][\w!#$%&*+/=?@^~-]*[\w!#$%&*+/=?@^~]{2}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,}`,
	"{stamp}", `(?:\pL{3,4}\.? [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)`,
	"{flags}", `(?: +-[\w-]+(?:[ =](?:[0-9]+|/\S+))?)*`,
	"{groups}", `(?: +-[a-zA-Z]*[Ggdscu](?: +|=)\S+)*`, // flags of commands for users, with what follows them
	"{command to hosts}", `(?:ping6?|ssh|telnet|nc|ncat|nslookup|dig|mosh|traceroute6?|tracepath|mtr|getent +hosts|virsh +[a-z]+|qm migrate +[0-9]+|machinectl +[a-z]+|vagrant +[a-z]+|virt-(?:viewer|clone|manager)|gcloud +compute +ssh|`+
		`(?:kubectl|oc) +(?:exec|rsh|logs|attach|cp)|lxc +launch +\S+|lxc +[a-z]+|lxc-[a-z]+(?::| +-n)|startvm|hostnamectl +(?:set-)?hostname|`+
		`(?:server|node|host|vm|instance|domain|droplet)s? +(?:show|start|stop|reboot|delete|describe|cordon|drain|console)|(?:describe|cordon|drain) +(?:node|pod|vm|instance)s?|sftp|ssh-copy-id|ssh-keyscan|smbclient +-L)`,
	"{command for users}", `(?:useradd|userdel|usermod|adduser|deluser|chage|passwd|crontab +-[a-z]* *-?u|sudo +-u|su +-|loginctl +[a-z-]+|gpasswd|chsh|finger)`,
)

// rules are the rows of the table.
var rules = tsv.List(rulesTSV, 3, func(cells []string) rule {
	r := ruleOf(cells[0], inBraces.Replace(cells[2]))
	if err := json.Unmarshal([]byte(cells[1]), &r.needs); err != nil {
		panic(fmt.Sprintf("a rule says no list of what it needs: %s", cells[1]))
	}
	return r
})

// ruleOf makes a rule of a pattern, and of words that say how surely a name stands there.
func ruleOf(how, pattern string) rule {
	return rule{
		weak: strings.Contains(how, "weak"), sure: strings.Contains(how, "sure"), prose: strings.Contains(how, "prose"),
		faint: strings.Contains(how, "faint"), command: strings.Contains(how, "command"), at: lazyregexp.New(pattern),
	}
}

// forms are names by their own form, wherever they stand; that of URLs is the first.
var forms = []rule{
	{needs: []string{"://"}, at: lazyregexp.New(`(?P<url>(?i:(?:[a-z][a-z0-9+.-]*:)*[a-z][a-z0-9+.-]*://)(?:\[[0-9a-fA-F:.]+\])?[^\s"'<>` + "`" + `\[\]]*)`)},
	{needs: []string{"arn:"}, at: lazyregexp.New(`\b(?P<url>arn:[\w:/.*@+=,-]+)`)},
	{needs: []string{"-"}, at: lazyregexp.New(`\b(?P<id>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\b`)},
	{needs: []string{""}, at: lazyregexp.New(`(?:^|[^\w:]|[^0-9]:)(?P<id>[0-9a-fA-F]{32,128})(?:[^\w-]|$)`)},
	{needs: []string{":", "-", "."}, at: lazyregexp.New(`\b(?P<id>(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?:(?::[0-9a-fA-F]{2}){2}|(?::[0-9a-fA-F]{2}){10})?|(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})\b`)},
	{needs: []string{"sha256:"}, at: lazyregexp.New(`SHA256:(?P<id>[A-Za-z0-9+/]{43}=?)`)},
	{needs: []string{"aaaa"}, at: lazyregexp.New(`(?:ssh-\w+|ecdsa-[\w-]+|sk-[\w@.-]+) (?P<id>AAAA[A-Za-z0-9+/]{20,}=*)`)},
	{needs: []string{"0x"}, at: lazyregexp.New(`\b(?P<id>0x[1-9a-eA-E][0-9a-fA-F]{15})\b`)},
	{needs: []string{"s-1-"}, at: lazyregexp.New(`\b(?P<id>S-1-[0-9]+(?:-[0-9]+){3,})\b`)},
	{needs: []string{"iqn.", "nqn."}, at: lazyregexp.New(`\b(?P<id>[in]qn\.[0-9]{4}-[0-9]{2}\.[\w.:-]+)`)},
	{needs: []string{"key"}, at: lazyregexp.New(`--[\w-]*key(?:-?id)?[ =](?P<id>[0-9A-F]{8,40})\b`)},
	{needs: []string{"-"}, at: lazyregexp.New(`\b(?P<id>(?:i|vol|eni|vpc|subnet|sg|ami|snap|igw|nat|rtb|eipalloc|acl|vpce|tgw|lt)-[0-9A-Za-z]{8,17})\b`)},
	{needs: []string{"partuuid"}, at: lazyregexp.New(`(?i:partuuid)=["']?(?P<id>[0-9a-fA-F]{8}-[0-9a-fA-F]{2})\b`)},
}
