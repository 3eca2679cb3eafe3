package services

import (
	"path"
	"strings"

	"svc/backend/release"
	"svc/tools/convert"
)

// nfsRPM carries the settings of NFS's daemons to the rpm families, whose NFS
// reads nfs.conf and no variables any more.
func nfsRPM(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p, to := convert.Open(f, "#"), f.Path
		switch dir := path.Dir(f.Path); {
		case dir == "/etc/sysconfig" || dir == "/etc/default":
			nfsVariables(p)
			neutral(p)
			to = nfsPlace(in.Target, strings.ReplaceAll(strings.TrimPrefix(f.Path, "/etc/"), "/", "-"))
		case convert.FromDebian(in):
			p.MoveAll(nfsBack, "The target has other names for it.")
		}
		r.Close(p, to)
	}
	return r
}

// nfsPlace is where settings stand beside the target's own: NFS of EL 8 reads one
// file.
func nfsPlace(target release.Release, name string) string {
	if major, _, _ := strings.Cut(target.Version, "."); target.Family == release.EL && major == "8" {
		return "/etc/nfs.conf"
	}
	return "/etc/nfs.conf.d/" + name + ".conf"
}

// nfsBack is a line of Debian's nfs.conf or idmapd.conf as the rpm families have
// it.
func nfsBack(line string) string {
	key, value, _ := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case strings.EqualFold(key, "pipefs-directory") && value == "/run/rpc_pipefs":
		return key + "=/var/lib/nfs/rpc_pipefs"
	case strings.EqualFold(key, "nobody-group") && value == "nogroup":
		return key + " = nobody"
	}
	return line
}

// neutral names the target, not Debian, in the reasons of changes.
func neutral(p *convert.Page) {
	for i := range p.Changes {
		p.Changes[i].Why = strings.ReplaceAll(p.Changes[i].Why, "Debian's", "The target's")
	}
}
