package parity

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/visible"
)

// item is one thing of a machine in a form that can be compared.
type item struct {
	dimension, subject, value string
	pkg                       string            // package that it belongs to, if any
	evidence                  []assess.Evidence // where it was read, the first place first
}

// subject is all that has one name in a dimension, put together.
type subject struct {
	item
	parts  []item
	values map[string]bool // of the parts
}

// at is evidence, where there is any.
func at(e assess.Evidence) []assess.Evidence {
	if e.Path == "" {
		return nil
	}
	return []assess.Evidence{e}
}

// in is a file as evidence.
func in(file string) []assess.Evidence { return at(assess.Evidence{Path: file}) }

func (i item) key() [2]string { return [2]string{i.dimension, i.subject} }

func byKey(all []subject) map[[2]string]subject {
	return sliced.Index(all, func(s subject) ([2]string, subject) { return s.key(), s })
}

// inventory is everything of a machine that is compared, each subject of a
// dimension once. Where both machines ran while they were read, ports are those
// that programs listen on.
func inventory(a *assess.Assessment, running bool) []subject {
	links := linked(a)
	var all []subject
	for _, items := range [][]item{
		packages(a),
		archives(a),
		sliced.Map(a.Programs, program),
		sliced.Map(a.Services, started(Services)),
		sliced.Map(a.Timers, started(Timers)),
		jobs(a),
		slices.Concat(sliced.Map(a.Users, account), passwords(a)),
		sliced.Map(a.Groups, group),
		sliced.FlatMap(a.Users, keysOf),
		configuration(a),
		ports(a, running),
		sites(a),
		certificates(a),
		sliced.Map(a.Mounts, func(m assess.Mount) item {
			return item{Mounts, m.Path, strings.Join([]string{m.Type, m.Device, strings.Join(m.Options, ",")}, " "), "", at(m.Evidence)}
		}),
		sliced.Map(a.Sysctl, func(s assess.Setting) item { return item{Sysctl, s.Key, s.Value, "", at(s.Evidence)} }),
		sliced.Map(a.Firewalls, func(f assess.Firewall) item {
			sum := sha256.Sum256([]byte(strings.Join(f.Entries, "\n")))
			return item{Firewall, f.Kind, fmt.Sprintf("enabled=%t rules=%d sha256:%x", f.Enabled, f.Rules, sum[:8]), "", at(f.Evidence)}
		}),
		system(a),
		databases(a),
		sliced.Map(a.Software, func(s assess.Software) item {
			return item{Software, s.Manager + " " + s.Name, s.Version, "", at(s.Evidence)}
		}),
		sliced.Map(a.Containers, func(c assess.Container) item {
			return item{Containers, strings.Join([]string{c.Engine, c.Kind, c.Name}, " "), c.Image, "", at(c.Evidence)}
		}),
		facts(a),
	} {
		for i := range items {
			for _, e := range items[i].evidence {
				items[i].evidence = append(items[i].evidence, in(links[e.Path])...)
			}
		}
		all = append(all, gathered(items)...)
	}
	return all
}

// linked are the files to which links of the configuration lead: what is read
// by way of a link stands there.
func linked(a *assess.Assessment) map[string]string {
	links := map[string]string{}
	for _, c := range a.Configuration {
		if c.Link != "" {
			links[c.Path] = assess.LeadsTo(c.Path, c.Link)
		}
	}
	return links
}

// between stands between the values of one subject.
const between = "; "

// gathered puts what has the same subject together: its values, in their order.
func gathered(items []item) (all []subject) {
	first, values := map[[2]string]int{}, map[int][]string{}
	for _, i := range items {
		n, met := first[i.key()]
		if !met {
			n = len(all)
			first[i.key()] = n
			all = append(all, subject{item: i, values: map[string]bool{}})
		}
		s := &all[n]
		if s.parts = append(s.parts, i); met {
			s.evidence = append(s.evidence, i.evidence...)
		}
		if !s.values[i.value] {
			s.values[i.value] = true
			values[n] = append(values[n], i.value)
		}
	}
	for n := range all {
		all[n].value = strings.Join(values[n], between)
	}
	return all
}

// bothRun reports whether what runs can be compared.
func bothRun(a, b *assess.Assessment) bool { return a.Running != nil && b.Running != nil }

func packages(a *assess.Assessment) (all []item) {
	database := packageDatabase(a)
	for _, p := range a.Packages {
		name := p.Name
		if p.Arch != a.System.Architecture && p.Arch != "all" && p.Arch != "noarch" {
			name += ":" + p.Arch
		}
		all = append(all, item{Packages, name, p.Version, "", at(database)})
	}
	return all
}

// packageDatabase is where the packages of a machine were read.
func packageDatabase(a *assess.Assessment) assess.Evidence {
	for _, s := range a.Sources {
		if slices.ContainsFunc(release.Families(), func(c release.Conventions) bool { return s.What == "packages."+c.Database }) && s.State == assess.SourceOK {
			return assess.Evidence{Path: s.Detail}
		}
	}
	return assess.Evidence{}
}

func started(dimension string) func(assess.Unit) item {
	return func(u assess.Unit) item { return item{dimension, u.Name, u.State, u.Package, in(u.Path)} }
}

// jobs are by user and command; those that run at several times have them all
// in their value.
func jobs(a *assess.Assessment) []item {
	return sliced.FilterMap(a.Cron, func(c assess.CronJob) (item, bool) {
		return item{Jobs, c.User + ": " + c.Command, c.Schedule, "", at(c.Evidence)}, c.Local && !c.Hidden
	})
}

// passwordOf ends the subject that is a user's password.
const passwordOf = " (password)"

// passwords say of the users whether a password lets them in, where that could
// be read.
func passwords(a *assess.Assessment) []item {
	if !passwordsKnown(a) {
		return nil
	}
	return sliced.Map(a.Users, func(u assess.User) item {
		return item{Users, u.Name + passwordOf, map[bool]string{true: "locked", false: "set"}[u.Locked], "", in("/etc/shadow")}
	})
}

func passwordsKnown(a *assess.Assessment) bool {
	return slices.ContainsFunc(a.Sources, func(s assess.Source) bool { return s.What == "accounts.shadow" && s.State == assess.SourceOK })
}

func account(u assess.User) item {
	value := fmt.Sprintf("uid=%d gid=%d home=%s shell=%s groups=%s", u.UID, u.GID, u.Home, u.Shell, strings.Join(slices.Sorted(slices.Values(u.Groups)), ","))
	return item{Users, u.Name, value, "", in("/etc/passwd")}
}

func group(g assess.Group) item {
	return item{Groups, g.Name, "gid=" + strconv.Itoa(g.GID), "", in("/etc/group")}
}

// keysOf are a user's authorized keys by fingerprint, and what each may do.
func keysOf(u assess.User) []item {
	return sliced.Map(u.AuthorizedKeys, func(line string) item {
		return item{Keys, u.Name + " " + keyFingerprint(line), keyOptions(line), "", in(path.Join("/", u.Home, ".ssh/authorized_keys"))}
	})
}

// keyType is where a line of authorized_keys has the type of its key: options
// stand before it.
var keyType = lazyregexp.New(`(^|\s)(ssh-|ecdsa-|sk-)\S+\s+AAAA`)

func keyOptions(line string) string {
	options, _, _ := strings.Cut(line, keyType.FindString(line))
	return cmp.Or(strings.TrimSpace(options), "unrestricted")
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

func configuration(a *assess.Assessment) []item {
	return sliced.FilterMap(a.Configuration, func(c assess.ConfigFile) (item, bool) {
		return fileOf(Configuration, c), !c.Machine && guardOf(c.Path) == ""
	})
}

func fileOf(dimension string, c assess.ConfigFile) item {
	return item{dimension, c.Path, fileValue(c), c.Package, in(c.Path)}
}

// fileValue is what of a file is compared.
func fileValue(c assess.ConfigFile) string {
	value := fmt.Sprintf("%s %s %s:%s", c.State, c.Mode, c.Owner, c.Group)
	switch {
	case c.Link != "":
		value += " link to " + c.Link
	case c.SHA256 != "":
		value += " sha256:" + c.SHA256
	}
	return value
}

// open are the ports of a machine, one by one: who listens on each.
func open(a *assess.Assessment, running bool) []subject {
	items := ports(a, running)
	for i := range items {
		items[i].subject, items[i].value = items[i].value, items[i].subject
	}
	return gathered(items)
}

// ports are those on which programs listen, or, of a machine of which that does not
// count, those that its configuration names.
func ports(a *assess.Assessment, running bool) []item {
	if !running {
		return configured(a)
	}
	return inOrder(sliced.Map(a.Running.Sockets, func(s assess.Socket) item {
		return item{Ports, cmp.Or(s.Program, "unknown program"), socketNumber(s), "", in("/proc/net/" + s.Protocol)}
	}))
}

// socketNumber is what a socket's port is called.
func socketNumber(s assess.Socket) string {
	return portNumber(s.Address, fmt.Sprintf("%d/%s", s.Port, s.Transport()))
}

// configured are the ports that configuration names.
func configured(a *assess.Assessment) (all []item) {
	all = sliced.FilterMap(a.SSH, func(s assess.Setting) (item, bool) {
		return port("ssh", "", s.Value+"/tcp", s.Evidence), strings.EqualFold(s.Key, "Port")
	})
	if len(a.SSH) > 0 && len(all) == 0 {
		all = append(all, port("ssh", "", "22/tcp", assess.Evidence{Path: "/etc/ssh/sshd_config"})) // what sshd takes where nothing is said
	}
	all = append(all, sliced.FilterMap(a.Databases, func(d assess.Database) (item, bool) {
		return port(d.Engine, "", strconv.Itoa(d.Port)+"/tcp", d.Evidence), d.Port > 0
	})...)
	for _, s := range a.Sites() {
		for _, l := range s.Listen {
			address, number := splitListen(l)
			all = append(all, port("web", address, number+"/tcp", s.Evidence))
		}
	}
	return inOrder(all)
}

// onlyHere ends what is said of a port that the machine alone can reach.
const onlyHere = " on this machine alone"

// port is a port on which a service listens; one that the machine alone can
// reach is told apart.
func port(service, address, number string, evidence assess.Evidence) item {
	return item{Ports, service, portNumber(address, number), "", at(evidence)}
}

func portNumber(address, number string) string {
	if isLocal(address) {
		return number + onlyHere
	}
	return number
}

func isLocal(address string) bool {
	address, _, _ = strings.Cut(strings.Trim(address, "[]"), "%")
	ip, err := netip.ParseAddr(address)
	return address == "localhost" || err == nil && ip.IsLoopback()
}

// inOrder sorts by value: the order in which things were read says nothing.
func inOrder(items []item) []item {
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(strings.Compare(a.subject, b.subject), strings.Compare(a.value, b.value))
	})
	return items
}

// splitListen cuts what a site listens on into address and port.
func splitListen(listen string) (address, port string) {
	if i := strings.LastIndex(listen, ":"); i >= 0 && !strings.HasSuffix(listen, "]") {
		return listen[:i], listen[i+1:]
	}
	if _, err := strconv.Atoi(listen); err == nil {
		return "", listen
	}
	return listen, "80"
}

// sites are by name.
func sites(a *assess.Assessment) (all []item) {
	for _, w := range a.WebServers {
		for _, s := range w.Sites {
			value := fmt.Sprintf("listen=%s root=%s tls=%t", strings.Join(s.Listen, ","), s.Root, s.TLS)
			if s.Proxy != "" {
				value += " proxy=" + s.Proxy
			}
			if len(s.Aliases) > 0 {
				value += " also=" + strings.Join(slices.Sorted(slices.Values(s.Aliases)), ",")
			}
			all = append(all, item{Sites, cmp.Or(s.Name, "(without a name)"), value, w.Package, at(s.Evidence)})
		}
	}
	return all
}

// placeholders are certificates that a package makes anew on each machine.
var placeholders = []string{"/etc/ssl/certs/ssl-cert-snakeoil.pem", "/etc/pki/tls/certs/localhost.crt"}

func certificates(a *assess.Assessment) []item {
	return inOrder(sliced.FilterMap(a.Certificates, func(c assess.Certificate) (item, bool) { // not by path: the families have them elsewhere
		return item{Certificates, c.Subject, fmt.Sprintf("until %s issuer=%s", c.NotAfter, c.Issuer), "", in(c.Path)}, !slices.Contains(placeholders, c.Path)
	}))
}

func system(a *assess.Assessment) []item {
	s := a.System
	return []item{
		{System, "time zone", s.TimeZone, "", in("/etc/localtime")},
		{System, "locale", s.Locale, "", in("/etc/default/locale")},
		{System, "keyboard", s.Keyboard, "", in("/etc/default/keyboard")},
		{System, "host name", s.Hostname, "", in("/etc/hostname")},
		{System, "release", a.Release, "", in("/etc/os-release")},
	}
}

func databases(a *assess.Assessment) (all []item) {
	for _, d := range a.Databases {
		server := serverOf(d)
		all = append(all, item{Databases, server, cmp.Or(d.DataVersion, d.Version), d.Package, at(d.Evidence)})
		all = append(all, sliced.Map(d.Databases, func(name string) item {
			return item{Databases, server + ": " + name, named, d.Package, in(d.Directory)}
		})...)
	}
	return all
}

// named is the value of a database within a server.
const named = "present"

// serverOf is what a server of databases is called. Redis and Valkey have no names: one
// beside the first is known by its port; the form of their data changes with the version.
func serverOf(d assess.Database) string {
	switch {
	case d.Engine != "redis" && d.Engine != "valkey":
		return strings.TrimSpace(d.Engine + " " + d.Name)
	case d.Port == 0 || d.Port == 6379:
		return d.Engine
	}
	return d.Engine + " on port " + strconv.Itoa(d.Port)
}

// areas are the facts that have a dimension of their own. The rules of sudo are
// by whom they are for, in their order: the last one that fits counts.
var areas = map[string]string{"sudo": Sudoers, "modules": Modules, "pam": PAM}

// facts leave out the files that programs are linked with, which every update of their
// packages calls otherwise: that a program finds its libraries is a fact of its own.
func facts(a *assess.Assessment) []item {
	return sliced.Map(sliced.Filter(a.Facts, func(f assess.Fact) bool { return f.Area != "linked" }), fact)
}

func fact(f assess.Fact) item {
	if dimension := areas[f.Area]; dimension != "" {
		return item{dimension, f.Key, f.Value, "", at(f.Evidence)}
	}
	return item{Facts, f.Area + " " + f.Key, f.Value, "", at(f.Evidence)}
}

// archives are those that packages are taken from.
func archives(a *assess.Assessment) []item {
	return sliced.Map(sliced.Filter(a.Origins, func(o assess.Origin) bool { return o.Enabled }), archiveOf)
}

func archiveOf(o assess.Origin) item {
	name := strings.Join(strings.Fields(o.URI+" "+o.Suite+" "+strings.Join(o.Components, " ")), " ")
	value := "signed by " + cmp.Or(o.SignedBy, "any trusted key")
	if o.Unchecked {
		value = "signatures are not checked"
	}
	return item{Archives, name, strings.Join(o.Types, ",") + " " + value, "", at(o.Evidence)}
}

// withCapabilities is what a program's value has where it has capabilities.
const withCapabilities = " with capabilities"

// program is one of no package, or one with more rights.
func program(p assess.Program) item {
	value := fmt.Sprintf("%s %s:%s", p.Mode, p.Owner, p.Group)
	for _, more := range []struct {
		is   bool
		text string
	}{{p.Capabilities, withCapabilities}, {p.Changed, " changed since its package brought it"}, {p.Link != "", " link to " + p.Link}, {p.SHA256 != "", " sha256:" + p.SHA256}} {
		if more.is {
			value += more.text
		}
	}
	if p.Package == "" && p.Link == "" && p.SHA256 == "" {
		value += fmt.Sprintf(" %d bytes", p.Size)
	}
	return item{Programs, p.Path, value, p.Package, in(p.Path)}
}

// guards are files that matter to who gets in, by how their paths begin: those
// with a dimension of their own, and those of the machine that are compared
// nevertheless.
var guards = []beginning{
	{"/etc/pam.d/", PAM},
	{"/etc/apt/keyrings/", Archives},
	{"/etc/apt/trusted.gpg", Archives},
	{"/etc/pki/rpm-gpg/", Archives},
	{"/etc/initramfs-tools/", Configuration},
	{"/etc/grub.d/", Configuration},
	{"/etc/dpkg/", Configuration},
}

// beginning says of what dimension the names are that begin so.
type beginning struct{ prefix, dimension string }

// first is the dimension of the first beginning that a name has, or "".
func first(all []beginning, name string) string {
	return sliced.First(all, func(b beginning) bool { return strings.HasPrefix(name, b.prefix) }).dimension
}

// guardOf is the dimension of a file that is guarded, or "".
func guardOf(file string) string {
	return first(guards, file)
}

// guarded are these files, and the jobs of which only the place is known.
func guarded(a *assess.Assessment) []subject {
	files := sliced.FilterMap(a.Configuration, func(c assess.ConfigFile) (item, bool) {
		dimension := guardOf(c.Path)
		return fileOf(dimension, c), dimension != ""
	})
	return gathered(append(files, sliced.FilterMap(a.Cron, func(c assess.CronJob) (item, bool) {
		name := fmt.Sprintf("%s: a job in %s", visible.Name(cmp.Or(c.User, "somebody")), visible.Name(c.Evidence.Path))
		return item{Jobs, name, c.Schedule, "", at(c.Evidence)}, c.Local && c.Hidden
	})...))
}
