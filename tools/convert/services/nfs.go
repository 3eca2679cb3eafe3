package services

import (
	"path"
	"slices"
	"strings"

	"svc/tools/convert"
)

// Exports carries what NFS exports over: the same lines, where exportfs takes
// them. An account by number is another on the target.
func Exports(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := 0; i < len(p.Lines); i++ {
			first := i
			line := strings.TrimSpace(p.Lines[i])
			for ; strings.HasSuffix(p.Lines[i], `\`) && i+1 < len(p.Lines); i++ {
				line = strings.TrimSuffix(line, `\`) + " " + strings.TrimSpace(p.Lines[i+1])
			}
			if why := export(line); why != "" {
				p.Refuse(first, why)
			}
		}
		r.Close(p, f.Path)
	}
	return r
}

// export says why a line can't be carried over, or nothing.
func export(line string) string {
	if line == "" || line[0] == '#' {
		return ""
	}
	line, _, _ = strings.Cut(line, " #")
	clients := ""
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		_, clients, ok = strings.Cut(quoted, `"`)
		if !ok {
			return "Its path has no end."
		}
	} else {
		clients = convert.AfterFields(line, 1)
	}
	if line[0] != '/' && line[0] != '"' {
		return "It is no path with those who may mount it."
	}
	for _, client := range strings.Fields(clients) {
		if why := exportClient(client); why != "" {
			return why
		}
	}
	return ""
}

// exportClient looks at a client with its options, or at options for all that
// follow.
func exportClient(client string) string {
	options, isDefault := strings.CutPrefix(client, "-")
	if !isDefault {
		_, rest, has := strings.Cut(client, "(")
		if !has {
			return ""
		}
		if !strings.HasSuffix(rest, ")") {
			return "Its options have no end."
		}
		options = strings.TrimSuffix(rest, ")")
	}
	for option := range strings.SplitSeq(options, ",") {
		name, value, has := strings.Cut(option, "=")
		if has {
			name += "="
		}
		switch {
		case !convert.Lists("exports-options", name) && option != "":
			return "exportfs does not know the option " + option + "."
		case (name == "anonuid=" || name == "anongid=") && len(value) < 4 && value != "0" && value != "-1":
			return "It names an account of the system by number: the target has others."
		}
	}
	return ""
}

// NFS carries the settings of NFS's daemons over to files beside Debian's own
// nfs.conf, which keeps its defaults.
func NFS(in convert.Input) (r convert.Result) {
	if convert.ToRPM(in) {
		return nfsRPM(in)
	}
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		switch f.Path {
		case "/etc/nfs.conf":
			nfsConf(p, in)
			r.Close(p, "/etc/nfs.conf.d/local.conf")
		case "/etc/idmapd.conf":
			r.Close(idmapd.Convert(f), f.Path)
		case "/etc/sysconfig/nfs", "/etc/default/nfs-kernel-server", "/etc/default/nfs-common":
			nfsVariables(p)
			r.Close(p, "/etc/nfs.conf.d/"+strings.ReplaceAll(strings.TrimPrefix(f.Path, "/etc/"), "/", "-")+".conf")
		default:
			nfsConf(p, in)
			r.Close(p, "/etc/nfs.conf.d/"+path.Base(f.Path))
		}
	}
	return r
}

// nfsConf goes through a file in the form of nfs.conf.
func nfsConf(p *convert.Page, in convert.Input) {
	section := ""
	for i, line := range p.Active() {
		switch key, _, _ := strings.Cut(line, "="); line[0] {
		case ';':
		case '[':
			section = strings.ToLower(strings.Trim(line, "[] "))
			section, _, _ = strings.Cut(section, ` "`)
		default:
			nfsSetting(p, i, section, strings.ToLower(strings.TrimSpace(key)), in)
		}
	}
}

func nfsSetting(p *convert.Page, i int, section, key string, in convert.Input) {
	_, proxy := in.Brought["gssproxy"]
	switch {
	case key == "pipefs-directory":
		p.Drop(i, "Debian has it in /run/rpc_pipefs.")
	case key == "vers2":
		p.Drop(i, "The kernel has no version 2 of NFS any more.")
	case key == "use-gss-proxy" && !proxy:
		p.Drop(i, "The plan brings no gssproxy.")
	case !slices.Contains(strings.Fields(convert.WordsOf("nfs.conf")[section].Now), key):
		p.Refuse(i, "nfs.conf of the target has no such setting in this section.")
	}
}

// idmapd has another group for strangers on Debian.
var idmapd = convert.Settings{Program: "idmapd", Comment: "#", Equals: true, Own: func(p *convert.Page, i int, name, value string) bool {
	switch {
	case strings.EqualFold(name, "Pipefs-Directory"):
		p.Drop(i, "Debian has it in /run/rpc_pipefs.")
	case strings.EqualFold(name, "Nobody-Group") && (value == "nobody" || value == "nfsnobody"):
		p.Replace(i, "Nobody-Group = nogroup", "Debian's group has another name.")
	case strings.EqualFold(name, "Nobody-User") && value == "nfsnobody":
		p.Replace(i, "Nobody-User = nobody", "Debian's account has another name.")
	}
	return true
}}

// nfsVariables writes a file of variables as nfs.conf, line for line.
func nfsVariables(p *convert.Page) {
	for i, line := range p.Active() {
		name, value, ok := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		to, known := convert.WordsOf("nfs-variables")[name]
		section, key, _ := strings.Cut(to.Now, " ")
		needless := convert.WordsOf("nfs-needless")[name]
		switch {
		case !ok || strings.ContainsAny(value, "$`\"'#"):
			p.Refuse(i, "It is more than a variable and its value.")
		case value == "":
			p.Drop(i, "It says nothing.")
		case needless.Why != "":
			p.Drop(i, needless.Why)
		case !known:
			p.Refuse(i, "nfs.conf has nothing that surely does the same.")
		case key != "":
			p.Replace(i, "["+section+"]\n"+key+"="+value, "Debian's NFS reads nfs.conf.")
		default:
			nfsArguments(p, i, section, strings.Fields(value))
		}
	}
}

// nfsArguments writes the arguments of a daemon as settings.
func nfsArguments(p *convert.Page, i int, daemon string, args []string) {
	now, last := []string{}, ""
	for len(args) > 0 {
		section, setting, rest, ok := nfsArgument(daemon, args)
		if !ok {
			p.Refuse(i, "nfs.conf has nothing that surely does the same as "+args[0]+".")
			return
		}
		args = rest
		if setting != "" && section != last {
			now, last = append(now, "["+section+"]"), section
		}
		if setting != "" {
			now = append(now, setting)
		}
	}
	if len(now) == 0 {
		p.Drop(i, "The kernel has no version 2 of NFS any more.")
		return
	}
	p.Replace(i, strings.Join(now, "\n"), "Debian's NFS reads nfs.conf.")
}

// nfsArgument is the setting for the first of a daemon's arguments.
func nfsArgument(daemon string, args []string) (section, setting string, rest []string, ok bool) {
	flag, value, joined := strings.Cut(args[0], "=")
	rest = args[1:]
	key := convert.WordsOf("nfs-flags")[daemon+" "+flag].Now
	switch {
	case daemon == "nfsd" && convert.Number(flag):
		return "nfsd", "threads=" + flag, rest, true
	case key == "" || !joined && key[0] != '!' && len(rest) == 0:
		return "", "", nil, false
	case key[0] == '!':
		return daemon, key[1:], rest, !joined
	case !joined:
		value, rest = rest[0], rest[1:]
	}
	version, on, isVersion := strings.Cut(key, "=")
	switch {
	case !isVersion:
		return daemon, key + "=" + value, rest, true
	case value == "2":
		return "", "", rest, true
	default:
		return "nfsd", version + value + "=" + on, rest, slices.Contains([]string{"3", "4", "4.0", "4.1", "4.2"}, value)
	}
}
