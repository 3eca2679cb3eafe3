package parity

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
)

// item is one thing of a machine in a form that can be compared.
type item struct {
	dimension, subject, value string
	pkg                       string // package that it belongs to, if any
	evidence                  assess.Evidence
}

func (i item) key() [2]string { return [2]string{i.dimension, i.subject} }

// inventory is everything of a machine that is compared. Where both machines ran
// while they were read, ports are those that programs listen on.
func inventory(a *assess.Assessment, running bool) []item {
	ports := configured
	if running {
		ports = sockets
	}
	var all []item
	for _, list := range []func(*assess.Assessment) []item{
		packages, units, jobs, users, groups, keys, configuration, ports, sites, certificates, mounts, sysctl,
		firewalls, system, databases, software, containers, facts,
	} {
		all = append(all, list(a)...)
	}
	return all
}

// bothRun reports whether what runs can be compared.
func bothRun(a, b *assess.Assessment) bool { return a.Running != nil && b.Running != nil }

func packages(a *assess.Assessment) (all []item) {
	for _, p := range a.Packages {
		name := p.Name
		if p.Arch != a.System.Architecture && p.Arch != "all" && p.Arch != "noarch" {
			name += ":" + p.Arch
		}
		all = append(all, item{dimension: Packages, subject: name, value: p.Version})
	}
	return all
}

func units(a *assess.Assessment) (all []item) {
	for _, u := range slices.Concat(a.Services, a.Timers) {
		all = append(all, item{Services, u.Name, u.State, u.Package, assess.Evidence{Path: u.Path}})
	}
	return all
}

func jobs(a *assess.Assessment) (all []item) {
	for _, c := range a.Cron {
		if c.Local && !c.Hidden {
			all = append(all, item{Jobs, fmt.Sprintf("%s %s: %s", c.Schedule, c.User, c.Command), "present", "", c.Evidence})
		}
	}
	return all
}

func users(a *assess.Assessment) (all []item) {
	for _, u := range a.Users {
		all = append(all, item{dimension: Users, subject: u.Name, value: user(u)})
	}
	return all
}

// user is an account in a line.
func user(u assess.User) string {
	return fmt.Sprintf("uid=%d gid=%d home=%s shell=%s groups=%s sudo=%t", u.UID, u.GID, u.Home, u.Shell, strings.Join(slices.Sorted(slices.Values(u.Groups)), ","), u.Sudo)
}

func groups(a *assess.Assessment) (all []item) {
	for _, g := range a.Groups {
		all = append(all, item{dimension: Groups, subject: g.Name, value: "gid=" + strconv.Itoa(g.GID)})
	}
	return all
}

func keys(a *assess.Assessment) (all []item) {
	for _, u := range a.Users {
		for _, k := range u.AuthorizedKeys {
			all = append(all, item{dimension: Keys, subject: u.Name + " " + keyFingerprint(k), value: "present"})
		}
	}
	return all
}

// keyFingerprint is what ssh-keygen -l shows of a line of authorized_keys.
func keyFingerprint(line string) string {
	for _, field := range strings.Fields(line) {
		if b, err := base64.StdEncoding.DecodeString(field); err == nil && len(b) > 16 {
			sum := sha256.Sum256(b)
			return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
		}
	}
	sum := sha256.Sum256([]byte(line))
	return fmt.Sprintf("sha256:%x", sum)
}

func configuration(a *assess.Assessment) (all []item) {
	for _, c := range a.Configuration {
		if c.Machine {
			continue
		}
		value := fmt.Sprintf("%s %s %s:%s", c.State, c.Mode, c.Owner, c.Group)
		switch {
		case c.Link != "":
			value += " link to " + c.Link
		case c.SHA256 != "":
			value += " sha256:" + c.SHA256
		}
		all = append(all, item{Configuration, c.Path, value, c.Package, assess.Evidence{Path: c.Path}})
	}
	return all
}

// sockets are the ports on which programs listen.
func sockets(a *assess.Assessment) []item {
	listens := listening{}
	for _, s := range a.Running.Sockets {
		program := s.Program
		if program == "" {
			program = "unknown program"
		}
		listens.add(program, fmt.Sprintf("%d/%s", s.Port, strings.TrimSuffix(s.Protocol, "6")), assess.Evidence{})
	}
	return listens.items()
}

// configured are the ports that configuration names.
func configured(a *assess.Assessment) []item {
	listens := listening{}
	for _, s := range a.SSH {
		if strings.EqualFold(s.Key, "Port") {
			listens.add("ssh", s.Value+"/tcp", s.Evidence)
		}
	}
	for _, d := range a.Databases {
		if d.Port > 0 {
			listens.add(d.Engine, strconv.Itoa(d.Port)+"/tcp", d.Evidence)
		}
	}
	for _, w := range a.WebServers {
		for _, s := range w.Sites {
			for _, l := range s.Listen {
				listens.add("web", portOf(l)+"/tcp", s.Evidence)
			}
		}
	}
	return listens.items()
}

// listening is what each service listens on.
type listening map[string][]item

func (l listening) add(service, port string, evidence assess.Evidence) {
	l[service] = append(l[service], item{value: port, evidence: evidence})
}

// items has one for each service, with its ports in order.
func (l listening) items() (all []item) {
	for _, service := range slices.Sorted(maps.Keys(l)) {
		values := []string{}
		for _, i := range l[service] {
			values = append(values, i.value)
		}
		slices.Sort(values)
		all = append(all, item{Ports, service, strings.Join(slices.Compact(values), ", "), "", l[service][0].evidence})
	}
	return all
}

// portOf is the port of an address to listen on.
func portOf(listen string) string {
	if i := strings.LastIndex(listen, ":"); i >= 0 && !strings.HasSuffix(listen, "]") {
		return listen[i+1:]
	}
	if _, err := strconv.Atoi(listen); err == nil {
		return listen
	}
	return "80"
}

// distinct is the items without those whose subject came before.
func distinct(items []item) (all []item) {
	seen := map[[2]string]bool{}
	for _, i := range items {
		if !seen[i.key()] {
			seen[i.key()] = true
			all = append(all, i)
		}
	}
	return all
}

// sites are by name; one that is served in several ways has them all in its
// value.
func sites(a *assess.Assessment) (all []item) {
	at := map[string]int{}
	for _, w := range a.WebServers {
		for _, s := range w.Sites {
			value := fmt.Sprintf("listen=%s root=%s tls=%t", strings.Join(s.Listen, ","), s.Root, s.TLS)
			if i, ok := at[s.Name]; ok {
				all[i].value += "; " + value
				continue
			}
			at[s.Name] = len(all)
			all = append(all, item{Sites, s.Name, value, "", s.Evidence})
		}
	}
	return all
}

// placeholders are certificates that a package makes anew on each machine.
var placeholders = []string{"/etc/ssl/certs/ssl-cert-snakeoil.pem", "/etc/pki/tls/certs/localhost.crt"}

func certificates(a *assess.Assessment) (all []item) {
	for _, c := range a.Certificates {
		if slices.Contains(placeholders, c.Path) {
			continue
		}
		all = append(all, item{Certificates, c.Subject + " until " + c.NotAfter, "issuer=" + c.Issuer, "", assess.Evidence{Path: c.Path}})
	}
	return distinct(all)
}

func mounts(a *assess.Assessment) (all []item) {
	for _, m := range a.Mounts {
		all = append(all, item{Mounts, m.Path, m.Type + " " + m.Device, "", m.Evidence})
	}
	return distinct(all)
}

func sysctl(a *assess.Assessment) (all []item) {
	for _, s := range a.Sysctl {
		all = append(all, item{Sysctl, s.Key, s.Value, "", s.Evidence})
	}
	return distinct(all)
}

func firewalls(a *assess.Assessment) (all []item) {
	for _, f := range a.Firewalls {
		sum := sha256.Sum256([]byte(strings.Join(f.Entries, "\n")))
		all = append(all, item{Firewall, f.Kind, fmt.Sprintf("enabled=%t rules=%d sha256:%x", f.Enabled, f.Rules, sum[:8]), "", f.Evidence})
	}
	return distinct(all)
}

func system(a *assess.Assessment) []item {
	s := a.System
	return []item{
		{dimension: System, subject: "time zone", value: s.TimeZone},
		{dimension: System, subject: "locale", value: s.Locale},
		{dimension: System, subject: "keyboard", value: s.Keyboard},
		{dimension: System, subject: "host name", value: s.Hostname},
		{dimension: System, subject: "release", value: a.Release},
	}
}

func databases(a *assess.Assessment) (all []item) {
	for _, d := range a.Databases {
		version := d.DataVersion
		if version == "" {
			version = d.Version
		}
		all = append(all, item{Databases, strings.TrimSpace(d.Engine + " " + d.Name), version, d.Package, d.Evidence})
	}
	return distinct(all)
}

func software(a *assess.Assessment) (all []item) {
	for _, s := range a.Software {
		all = append(all, item{Software, strings.Join([]string{s.Manager, s.Name}, " "), s.Version, "", s.Evidence})
	}
	return distinct(all)
}

func containers(a *assess.Assessment) (all []item) {
	for _, c := range a.Containers {
		all = append(all, item{Containers, strings.Join([]string{c.Engine, c.Kind, c.Name}, " "), c.Image, "", c.Evidence})
	}
	return distinct(all)
}

func facts(a *assess.Assessment) (all []item) {
	for _, f := range a.Facts {
		all = append(all, item{Facts, f.Area + " " + f.Key, f.Value, "", f.Evidence})
	}
	return distinct(all)
}
