package convert

import (
	"path"
	"strings"

	"svc/backend/release"
)

// nfsRPM carries the settings of NFS's daemons to the rpm families, whose NFS
// reads nfs.conf and no variables any more.
func nfsRPM(in Input) (r Result) {
	for _, f := range in.Files {
		p, to := open(f, "#"), f.Path
		switch dir := path.Dir(f.Path); {
		case dir == "/etc/sysconfig" || dir == "/etc/default":
			nfsVariables(p)
			p.neutral()
			to = nfsPlace(in.Target, strings.ReplaceAll(strings.TrimPrefix(f.Path, "/etc/"), "/", "-"))
		case fromDebian(in):
			p.moveAll(nfsBack, "The target has other names for it.")
		}
		r.close(p, to)
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
func (p *page) neutral() {
	for i := range p.changes {
		p.changes[i].Why = strings.ReplaceAll(p.changes[i].Why, "Debian's", "The target's")
	}
}
