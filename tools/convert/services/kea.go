package services

import (
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// keaPlaces are the folders outside which Kea 2.6.3 and later refuses a file, and the
// variable of its environment that names another.
var keaPlaces = []struct {
	file     *lazyregexp.Regexp
	own      []string
	variable string
}{
	{lazyregexp.New(`"socket-name"\s*:\s*"(/[^"]+)/[^"/]+"`), []string{"/run/kea", "/var/run/kea"}, "KEA_CONTROL_SOCKET_DIR"},
	{lazyregexp.New(`"name"\s*:\s*"(/[^"]+)/[^"/]+"`), []string{"/var/lib/kea"}, "KEA_DHCP_DATA_DIR"},
	{lazyregexp.New(`"output"\s*:\s*"(/[^"]+)/[^"/]+"`), []string{"/var/log/kea"}, "KEA_LOG_FILE_DIR"},
}

var (
	keaMode = lazyregexp.New(`"reservation-mode"\s*:\s*"([a-z-]+)"`)
	// keaOwn is a folder that may be Kea's own: its unit takes rights from others there, and
	// has no letter of it that a unit reads otherwise.
	keaOwn = lazyregexp.New(`^/(run|var|srv|opt)/[A-Za-z0-9_/.-]+$`)
)

// Kea carries the files of Kea's servers over: a setting that is gone by its successors,
// and folders that the newer version does not take by itself by its unit's environment.
func Kea(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "//")
		for i, line := range p.Active() {
			if m := keaMode.FindStringSubmatch(line); m != nil {
				if now := convert.WordsOf("kea-reservations")[m[1]].Now; now != "" {
					p.Replace(i, keaMode.ReplaceAllString(line, now), "Kea has flags in its place.")
				}
			}
		}
		unit := strings.TrimSuffix(path.Base(f.Path), ".conf") + "-server.service"
		environment := keaEnvironment(p)
		r.Close(p, f.Path)
		if environment != "" {
			r.Files = append(r.Files, convert.File{Path: "/etc/systemd/system/" + unit + ".d/places.conf", Text: environment, From: f.Path, Mode: "0644"})
		}
	}
	return r
}

// keaEnvironment is what a unit says of the folders of a server's files. One of a kind
// can be said; a socket's has to be closed to others, so it is a folder of Kea's own.
func keaEnvironment(p *convert.Page) string {
	var b strings.Builder
	for _, kind := range keaPlaces {
		said := ""
		for i, line := range p.Active() {
			for _, m := range kind.file.FindAllStringSubmatch(line, -1) {
				switch dir := path.Clean(m[1]); {
				case dir == said:
				case said == "" && (slices.Contains(kind.own, dir) || keaOwn.MatchString(dir) && !convert.Lists("kea-shared", dir)):
					said = dir
				default:
					p.Refuse(i, "Kea 2.6.3 takes its files in "+kind.own[0]+", or in one other folder of its own.")
				}
			}
		}
		if said == "" || slices.Contains(kind.own, said) {
			continue
		}
		b.WriteString("Environment=\"" + kind.variable + "=" + said + "\"\n")
		if kind.variable == "KEA_CONTROL_SOCKET_DIR" {
			b.WriteString("ExecStartPre=+-/bin/chmod 0750 \"" + said + "\"\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Kea takes files in these folders since 2.6.3 where its environment names them.\n[Service]\n" + b.String()
}
