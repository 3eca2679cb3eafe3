package services

import (
	"path"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// supervisorUser is the setting of an account in a program of supervisor.
var supervisorUser = lazyregexp.New(`^(\s*user\s*=\s*)([A-Za-z_][A-Za-z0-9_.-]*)(\s*(?:;.*)?)$`)

// Supervisor carries programs over that EPEL's supervisor reads as supervisord.d/*.ini,
// and Debian's as supervisor/conf.d/*.conf: both packages' supervisord.conf, [include].
func Supervisor(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, ";")
		for i, line := range p.Active() {
			if m := supervisorUser.FindStringSubmatch(line); m != nil {
				if now := convert.DebianAccount(m[2]); now != m[2] {
					p.Replace(i, m[1]+now+m[3], "Debian's account has another name.")
				}
			}
		}
		was := path.Base(f.Path)
		now := strings.TrimSuffix(was, ".ini") + ".conf"
		r.Note(f.Path, convert.Change{Was: was, Now: now, Why: "Debian's supervisor reads what ends in .conf."})
		r.Close(p, "/etc/supervisor/conf.d/"+now)
	}
	return r
}
