package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/ledger"
	"svc/tools/migration"
	"svc/tools/migration/naming"
)

// titles are those of steps, in their order.
func titles(p *migration.Plan) (all []string) {
	for _, s := range Steps(p, &assess.Assessment{}) {
		all = append(all, s.Title)
	}
	return all
}

func TestStepsAreInTheirOrder(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{
		Configuration: []migration.Config{
			{From: "/etc/x/key", Place: "/etc/x/key", Action: migration.LeftOut},
			{From: "/etc/y 1/key", Place: "/etc/y 2/key", Action: migration.LeftOut},
			{From: "/etc/z/old", Place: "/etc/z/old", Action: migration.LeftOut, Old: true},
			{From: "/etc/w/key", Place: "/etc/w/key", Action: migration.LeftOut, Owner: "root", Group: "www-data"},
			{From: "/etc/w/own", Place: "/etc/w/3/own", Action: migration.LeftOut, Owner: "www-data", Group: "root"},
			{From: "/etc/w/same", Place: "/etc/w/same", Action: migration.LeftOut, Owner: "root", Group: "root"},
		},
		Accounts: migration.Accounts{Users: []assess.User{{Name: "anna"}, {Name: "daemon", System: true}}},
		Mentions: []naming.Mention{
			{Path: "/opt/a/run", Line: 2, Name: "/usr/bin/lang7.4", Now: "/usr/bin/lang8.4"},
			{Path: "/srv/v/lib/lang3.9", Name: "/srv/v/lib/lang3.9", Now: "/srv/v/lib/lang3.13"},
			{Path: "/etc/z", Line: 7, Name: "/usr/sbin/gone", Why: "It is gone."},
		},
		Findings: []assess.Finding{
			{Key: "hazard.schema.a", Severity: assess.Medium, Title: "A wants raising", Summary: "It does not start.", Remediations: []assess.Remediation{assess.Remedy("$data a raise")}},
			{Key: "software.libraries", Severity: assess.High, Title: "Libraries", Remediations: append(assess.Hints("Build them."), assess.Command("bring them"))},
			{Key: "hazard.schema.b", Severity: assess.Medium, Title: "B wants raising", Summary: "It fails.", Remediations: assess.Hints("b raise")},
			{Key: "hazard.lang.c", Severity: assess.Medium, Title: "C wants a package", Summary: "It is apart.", Remediations: []assess.Remediation{assess.Remedy("$data install c")}},
			{Key: "hazard.d", Severity: assess.Medium, Title: "D is of the source", Summary: "It is anew.", Remediations: []assess.Remediation{assess.Remedy(`$data bring d`)}},
			{Key: "hazard.e", Severity: assess.Medium, Title: "E is of any time", Summary: "It is mended.", Remediations: []assess.Remediation{{Type: "command", Text: "apt-get install -y e", BeforeData: true}}},
			{Key: "hazard.f", Severity: assess.High, Title: "F fails", Summary: "It is not found.", Remediations: []assess.Remediation{assess.Remedy("$data mend f")}},
		},
	}
	order := titles(p)
	last := -1
	for _, title := range []string{"Apply the role, from where this folder is", "Bring the secrets", "Give people their passwords", "Look at lines that name what the target lacks", "Move the data", "Make what follows from the data, and start what waited", "Boot the target", "Check", "To go back"} {
		at := slices.Index(order, title)
		is.True(at > last) // each step is there, after the one before
		last = at
	}
	page := string(Next(p, &assess.Assessment{
		Software:      []assess.Software{{Manager: "venv", Path: "/srv/v"}},
		Configuration: []assess.ConfigFile{{Path: "/etc/w/key", Owner: "root", Group: "apache"}, {Path: "/etc/w/own", Owner: "apache", Group: "root"}, {Path: "/etc/w/same", Owner: "root", Group: "root"}},
	}, nil))
	is.Equal(strings.Count(page, "F fails"), 1) // with its command alone
	for _, line := range []string{
		"6 files hold secrets",
		"don't run with them as they are: /etc/z/old. Plan again with --include-secrets",
		"    rsync -aR --no-implied-dirs \"$SOURCE_SSH\":/etc/x/key \"$SOURCE_SSH\":/etc/w/same /\n",
		"    rsync -aR --chown=root:www-data --no-implied-dirs \"$SOURCE_SSH\":/etc/w/key /\n",
		`mkdir -p /etc/w/3 && rsync -a --chown=www-data:root "$SOURCE_SSH":/etc/w/own /etc/w/3/own`,
		`mkdir -p '/etc/y 2' && rsync -a "$SOURCE_SSH":'/etc/y 1/key' '/etc/y 2/key'`,
		`getent shadow anna |`,
		`sed -i '2s|/usr/bin/lang7\.4|/usr/bin/lang8.4|g' /opt/a/run`,
		`cp -an /srv/v/lib/lang3.9/. /srv/v/lib/lang3.13/`,
		`for l in /srv/v/bin/python*; do [ -e "$l" ] || [ ! -L "$l" ] || ln -sfn /usr/bin/lang3.13 "$l"; done`,
		"- A wants raising: It does not start. Its command is here.\n\n", "    a raise\n", "    bring them\n", "- Libraries: one command brings the files", "- Libraries:  Build them.\n", "    install c\n", "    bring d\n", "    mend f\n", "- F fails: It is not found. Its command is here.\n", "- E is of any time: It is mended. Its command is here.\n", "    apt-get install -y e\n", "- B wants raising: It fails. b raise\n",
	} {
		if !strings.Contains(page, line) {
			t.Errorf("NEXT.md lacks %q", line)
		}
	}
}

// TestConfigurationComesWithItsDump, and the step that moves data says so.
func TestConfigurationComesWithItsDump(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Configuration: []migration.Config{{From: "/etc/openldap/slapd.d/cn=config.ldif", Action: migration.LeftOut, Reason: migration.ComesWithDump}}}
	s, _ := data(p, &assess.Assessment{})
	is.True(strings.Contains(s.Why, "slapadd -n 0 before they are loaded"))
	s, _ = data(&migration.Plan{}, &assess.Assessment{})
	is.True(!strings.Contains(s.Why, "slapadd"))
}

// TestClustersAreMadeBeforeTheirDumps where the target calls clusters by a name.
func TestClustersAreMadeBeforeTheirDumps(t *testing.T) {
	is := is.New(t)
	a := &assess.Assessment{Databases: []assess.Database{{Engine: "postgresql", Name: "main", Port: 5432}, {Engine: "postgresql", Name: "reports", Port: 5433}, {Engine: "postgresql", Name: "-x; y", Port: 5434}, {Engine: "redis", Name: "rdb 9", Port: 6379}}}
	for i, d := range a.Databases {
		a.Databases[i].Directory, a.Databases[i].Evidence.Path = "/srv/"+d.Name, "/etc/postgresql/15/"+d.Name+"/postgresql.conf"
	}
	s, _ := data(&migration.Plan{Target: "debian-13"}, a)
	is.Equal(len(s.Commands), 4)
	is.Equal(s.Commands[0], `pg_lsclusters -h | awk '{ print $2 }' | grep -qxF reports || pg_createcluster "$(ls /usr/lib/postgresql | sort -V | tail -n 1)" reports -p 5433 --start`)
	s, _ = data(&migration.Plan{Target: "rocky-9"}, a)
	is.Equal(len(s.Commands), 3)
	// Elsewhere a folder names them: main takes the one at its port.
	a.Databases = []assess.Database{{Engine: "postgresql", Name: "pgsql", Port: 5432, Directory: "/var/lib/pgsql/data"}, {Engine: "postgresql", Name: "13", Port: 5432, Directory: "/var/lib/pgsql/13/data"}}
	s, _ = data(&migration.Plan{Target: "debian-13"}, a)
	is.Equal(len(s.Commands), 4)
	is.True(strings.HasSuffix(s.Commands[0], " 13 --start")) // at a free port
}

// TestImagesThatNoRegistryHas are brought by podman itself, where the target has it.
func TestImagesThatNoRegistryHas(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{
		Source: "debian-12", Target: "debian-13", Packages: []migration.Package{{Name: "podman", Install: true}},
		Files: &ledger.Sum{Noticed: []ledger.Notice{{Kind: ledger.Image, Path: "localhost/a:1"}, {Kind: ledger.Image, Path: "localhost/b"}}},
	}
	s, ok := exports(p, nil)
	is.True(ok)
	is.Equal(s.Title, "Bring what podman holds, by its own export")
	is.Equal(s.Commands, []string{`(umask 077 && ssh "$SOURCE_SSH" podman save -m localhost/a:1 localhost/b >images.tar)`, "podman load -q -i images.tar && rm images.tar"})
	p.Packages = append(p.Packages, migration.Package{Name: "rabbitmq-server", Install: true})
	s, _ = exports(p, nil)
	is.Equal(s.Title, "Bring what rabbitmq-server and podman hold, by their own exports")
	p.Packages[0].Install = false
	s, _ = exports(p, nil)
	is.True(!strings.Contains(strings.Join(s.Commands, "\n"), "podman"))
}

// TestFilesForAServersVersion are brought to the folder of the target's version, before
// databases are loaded by them.
func TestFilesForAServersVersion(t *testing.T) {
	is := is.New(t)
	own := ledger.Path{Path: "/usr/share/postgresql/15/extension/own.control"}
	p := &migration.Plan{
		Source: "debian-12", Target: "debian-13",
		Packages: []migration.Package{{Name: "postgresql-15", Confidence: 1, Targets: []migration.Target{{Name: "postgresql-17"}}}, {Name: "postgresql-common", Confidence: 1, Targets: []migration.Target{{Name: "postgresql-common"}}}},
		Files:    &ledger.Sum{Nobody: []ledger.Path{own, {Path: "/usr/lib/postgresql/15/lib/own.so"}, {Path: "/usr/share/postgresql/14/old.syn"}}},
	}
	s, _ := data(p, &assess.Assessment{})
	is.Equal(s.Commands[:len(s.Commands)-3], []string{`mkdir -p /usr/share/postgresql/17/extension && rsync -a --ignore-existing "$SOURCE_SSH":/usr/share/postgresql/15/extension/own.control /usr/share/postgresql/17/extension/`})
	s, _ = noticed(p, &assess.Assessment{})
	is.Equal(s.Commands, []string{`rsync -aR --no-implied-dirs --ignore-existing "$SOURCE_SSH":/usr/share/postgresql/14/old.syn /`})
	p.Packages[0].Confidence = 0.5 // whether it is that version, nobody knows
	s, _ = data(p, &assess.Assessment{})
	is.Equal(len(s.Commands), 3)
}

// TestThePacketFilterThatTakesOver: rules that another program loads on the target are
// switched on there, and what the target began with makes room.
func TestThePacketFilterThatTakesOver(t *testing.T) {
	off := "! systemctl cat firewalld.service >/dev/null 2>&1 || systemctl disable firewalld.service"
	for _, c := range []struct {
		target, from, to string
		runs             string
		want             []string
	}{
		{"sles-16", "/etc/ufw/user.rules", "/etc/nftables/rules/main.nft", "", []string{off, "systemctl enable nftables.service"}},
		{"rocky-9", "/etc/ufw/user.rules", "/etc/sysconfig/nftables.conf", "", []string{off, "systemctl enable nftables.service"}},
		{"rocky-9", "/etc/nftables.conf", "/etc/sysconfig/nftables.conf", "", []string{off}},
		{"rocky-9", "/etc/nftables.conf", "/etc/sysconfig/nftables.conf", "firewalld.service", nil},
		{"debian-13", "/etc/ufw/user.rules", "/etc/ufw/user.rules", "", nil},
		{"debian-13", "/etc/sysconfig/nftables.conf", "/etc/nftables.conf", "", nil},
		{"alpine-3.22", "/etc/ufw/user.rules", "/etc/ufw/user.rules", "", nil},
	} {
		t.Run(c.target+c.from+c.runs, func(t *testing.T) {
			is := is.New(t)
			p := &migration.Plan{
				Target: c.target, Services: []migration.Service{{To: c.runs, State: "enabled"}},
				Configuration: []migration.Config{{From: c.from, To: migration.Waiting + c.to, Action: migration.Convert}},
			}
			s, ok := network(p, nil)
			is.True(ok)
			is.Equal(s.Title, "Take over the packet filter, when the source is off")
			is.Equal(strings.Contains(strings.Join(s.Commands, "\n"), "restorecon"), c.target == "sles-16" || c.target == "rocky-9") // where SELinux may be on
			is.Equal(slices.DeleteFunc(s.Commands[1:], func(c string) bool { return strings.Contains(c, "restorecon") }), append([]string{}, c.want...))
			p.Configuration = append(p.Configuration, migration.Config{From: "/etc/netplan/a.yaml", To: migration.Waiting + "/etc/network/interfaces", Action: migration.Convert, Converter: "network"})
			s, _ = network(p, nil)
			is.Equal(s.Down, "the source's addresses and the packet filter.")
		})
	}
}

// TestWhatReleasesBeginWithIsNoStep: nobody chose it, so nobody has to bring it.
func TestWhatReleasesBeginWithIsNoStep(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Packages: []migration.Package{
		{Name: "keys-of-the-archive", Relation: "removed", Manual: true, Base: true},
		{Name: "chosen", Relation: "removed", Manual: true},
		{Name: "a-dependency", Relation: "unknown"},
	}}
	page := string(Next(p, &assess.Assessment{}, nil))
	is.True(strings.Contains(page, "No counterpart is known for: chosen. Install"))
	p.Packages = slices.Delete(p.Packages, 1, 2)
	is.True(!strings.Contains(string(Next(p, &assess.Assessment{}, nil)), "No counterpart is known"))
}

// TestHostKeysComeByACommand: with their certificates, and closed.
func TestHostKeysComeByACommand(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{}
	for _, name := range []string{"ssh_host_ed25519_key", "ssh_host_ed25519_key-cert.pub", "ssh_host_ed25519_key.pub"} {
		p.Configuration = append(p.Configuration, migration.Config{From: "/etc/ssh/" + name, Action: migration.LeftOut, Reason: "It belongs to this very machine, or is made by the target's own installation."})
	}
	s, ok := machine(p, nil)
	is.True(ok)
	is.Equal(s.Commands, []string{`rsync -a "$SOURCE_SSH":/etc/ssh/ssh_host_ed25519_key "$SOURCE_SSH":/etc/ssh/ssh_host_ed25519_key-cert.pub "$SOURCE_SSH":/etc/ssh/ssh_host_ed25519_key.pub /etc/ssh/ && ` +
		`chown root:root /etc/ssh/ssh_host_ed25519_key && chmod 600 /etc/ssh/ssh_host_ed25519_key && mkdir -p /run/sshd && sshd -t`})
	is.True(slices.Contains(AfterData(p, &assess.Assessment{}), s.Commands[0]))
	p.Configuration[0].Action = migration.Copy // one that is carried is no more the machine's own
	s, ok = machine(p, nil)
	is.True(!ok && s.Commands == nil)
}

// TestWhatIsOfOneMachineIsALineAKind, also where it sets the network up as the target does.
func TestWhatIsOfOneMachineIsALineAKind(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{}
	for _, name := range []string{"/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_rsa_key", "/etc/systemd/network/10-lan.network"} {
		p.Configuration = append(p.Configuration, migration.Config{From: name, Action: migration.LeftOut, Reason: "It belongs to this very machine, or is made by the target's own installation."})
	}
	s, _ := machine(p, nil)
	is.True(strings.Contains(s.Why, "- /etc/ssh/ssh_host_ecdsa_key, /etc/ssh/ssh_host_rsa_key: who the machine is"))
	is.True(strings.Contains(s.Why, "- /etc/systemd/network/10-lan.network: addresses\n"))
}

// TestWhatAStepBringsIsToldOnce: a file that a notice is of stands in no list besides, and how
// people's passwords age comes with these.
func TestWhatAStepBringsIsToldOnce(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Source: "debian-12", Target: "debian-13", Files: &ledger.Sum{
		Noticed: []ledger.Notice{{Kind: "diversion", Path: "/usr/bin/wall"}, {Kind: ledger.Ageing, Path: "/etc/shadow", What: "anna: a", Command: "age anna"}, {Kind: ledger.Ageing, Path: "/etc/shadow", What: "app: b", Command: "age app"}},
		Nobody:  []ledger.Path{{Path: "/usr/bin/wall"}, {Path: "/usr/bin/other"}},
		Changed: []ledger.Path{{Path: "/usr/bin/wall"}},
	}}
	p.Accounts.Users = []assess.User{{Name: "anna"}, {Name: "app", System: true}}
	s, _ := noticed(p, &assess.Assessment{})
	is.Equal(strings.Count(s.Why, "/usr/bin/wall"), 1)
	is.True(strings.Contains(s.Why, "    - /usr/bin/other (0)") && !strings.Contains(s.Why, "were changed"))
	is.Equal(s.Commands, []string{"age app"})
}

// TestWhatAnExportAnswersIsNotToMend by hand, where its step is.
func TestWhatAnExportAnswersIsNotToMend(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Target: "debian-13", Findings: []assess.Finding{{Key: "hazard.rabbitmq.flags", Severity: assess.High}, {Key: "hazard.mariadb.clean", Severity: assess.High}}}
	s, ok := known(p, &assess.Assessment{})
	is.True(ok && strings.Count(s.Why, "- ") == 1) // MariaDB goes by a dump, RabbitMQ isn't brought
	p.Packages = []migration.Package{{Name: "rabbitmq-server", Install: true}}
	_, ok = known(p, &assess.Assessment{})
	is.True(!ok)
}

// TestAuthoritiesAreTrustedByTheTargetsProgram of its family.
func TestAuthoritiesAreTrustedByTheTargetsProgram(t *testing.T) {
	is := is.New(t)
	s, _ := afterData(&migration.Plan{}, &assess.Assessment{})
	is.Equal(s.Why, "Then apply the role again, as at first: it starts what waited.") // nothing else is there
	for target, program := range map[string]string{"debian-13": "update-ca-certificates", "sles-16": "update-ca-certificates", "rocky-9": "update-ca-trust"} {
		s, _ := afterData(&migration.Plan{Target: target}, &assess.Assessment{})
		is.Equal(slices.DeleteFunc(s.Commands, func(c string) bool { return !strings.Contains(c, "update-ca") }), []string{"! command -v " + program + " >/dev/null || " + program})
	}
}

// TestLocalesThatPeopleDefinedAreMade once they came with the data.
func TestLocalesThatPeopleDefinedAreMade(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{}
	is.True(!slices.Contains(AfterData(p, &assess.Assessment{}), ownLocales))
	p.System.Locales = []string{"de_HO.UTF-8"}
	is.True(slices.Contains(AfterData(p, &assess.Assessment{}), ownLocales))
}

func TestAnEmptyPlanHasNoIdleSteps(t *testing.T) {
	is := is.New(t)
	order := titles(&migration.Plan{})
	for _, title := range []string{"Bring the secrets", "Give people their passwords", "Carry over by hand what no rule carries"} {
		is.True(!slices.Contains(order, title))
	}
}

// TestWhatTheStepsOfTheDataDoIsNotAskedForAgain: no data that a dump, a copy or an export
// brings; what no step brings is told.
func TestWhatTheStepsOfTheDataDoIsNotAskedForAgain(t *testing.T) {
	is := is.New(t)
	moved := func(name string) assess.Finding {
		return assess.Finding{Key: "package.data-migration", Severity: assess.Medium, Title: name + ": its data have to be migrated", Related: assess.Resources("package", []string{name})}
	}
	flags := assess.Finding{Key: "hazard.rabbitmq.flags", Severity: assess.High, Title: "RabbitMQ can't be upgraded directly"}
	p := &migration.Plan{
		Target:   "debian-13",
		Packages: []migration.Package{{Name: "rabbitmq-server", Install: true}},
		Findings: []assess.Finding{moved("rabbitmq-server"), moved("redis-server"), moved("slapd"), flags},
	}
	a := &assess.Assessment{Databases: []assess.Database{{Engine: "redis", Package: "redis-server"}}}
	s, _ := changed(p, a)
	is.Equal(s.Why, "- slapd: its data have to be migrated: ")
	_, told := known(p, a)
	is.True(!told)
	p.Packages = nil // the target has no such server: nothing is exported
	s, told = known(p, a)
	is.True(told)
	is.True(strings.Contains(s.Why, flags.Title))
}

func TestWhatOnlyTheSourceHasIsBrought(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{
		Source: "debian-11", Target: "debian-13",
		Packages: []migration.Package{{Name: "collector", Manual: true, Relation: "unknown"}, {Name: "$(reboot)", Manual: true, Relation: "unknown"}},
		Files: &ledger.Sum{
			Noticed: []ledger.Notice{{Kind: "swap", Path: "/swapfile"}},
			Nobody:  []ledger.Path{{Path: "/swapfile"}, {Path: "/var/cache/b log"}, {Path: "/usr/bin/x"}, {Path: "/usr/lib/cgi-bin/card", Why: ledger.Script}, {Path: "/usr/lib/cups/backend/built"}, {Path: "/usr/share/words/own.dict"}},
		},
	}
	a := &assess.Assessment{Services: []assess.Unit{{Name: "collector.service", Package: "collector", State: "enabled"}}}
	s, ok := unknown(p, a)
	is.True(ok)
	is.Equal(len(s.Commands), 1) // the other is no name of a package
	is.True(strings.HasSuffix(s.Commands[0], "apt-get install -y /var/tmp/collector.deb && systemctl enable --now collector.service"))
	s, _ = noticed(p, a)
	is.Equal(s.Commands, []string{
		`rsync -aR --no-implied-dirs "$SOURCE_SSH":'/var/cache/b log' /`,
		`rsync -aR --no-implied-dirs --ignore-existing "$SOURCE_SSH":/usr/lib/cgi-bin/card "$SOURCE_SSH":/usr/share/words/own.dict /`,
	})
	p.Files.Nobody = append(p.Files.Nobody, ledger.Path{Path: "/usr/lib/cups/backend/own", Why: ledger.Script})
	s, _ = noticed(p, a)
	is.Equal(s.Commands[2:], []string{`systemctl stop cups && { rsync -a "$SOURCE_SSH":/etc/cups/printers.conf /etc/cups/; systemctl start cups; }`})
	p.Target = "alpine-3.22"
	s, _ = noticed(p, a)
	is.Equal(s.Commands[2:], []string{`rc-service cupsd stop && { rsync -a "$SOURCE_SSH":/etc/cups/printers.conf /etc/cups/; rc-service cupsd start; }`})
	p.Target = "almalinux-9"
	s, _ = unknown(p, a)
	is.Equal(len(s.Commands), 0) // a package of dpkg is none there
}

// TestWhatPeopleToldAptIsBrought: priorities and keys of people's have a command; archives
// and what packages write anew do not, nor has a target without apt.
func TestWhatPeopleToldAptIsBrought(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Source: "debian-12", Target: "debian-13", Files: &ledger.Sum{}}
	for _, name := range []string{"/etc/apt/preferences.d/no-nginx", "/etc/apt/keyrings/house.gpg", "/etc/apt/sources.list.d/x.sources", "/etc/apt/apt.conf.d/02autoremove-postgresql"} {
		p.Configuration = append(p.Configuration, migration.Config{From: name, Action: migration.LeftOut})
	}
	page := string(Next(p, &assess.Assessment{}, nil))
	is.True(strings.Contains(page, `    rsync -aR --no-implied-dirs "$SOURCE_SSH":/etc/apt/preferences.d/no-nginx "$SOURCE_SSH":/etc/apt/keyrings/house.gpg /`+"\n"))
	is.True(!strings.Contains(page, "x.sources") && !strings.Contains(page, "autoremove"))
	p.Target = "rocky-9"
	is.True(!strings.Contains(string(Next(p, &assess.Assessment{}, nil)), "no-nginx"))
}

// TestArchivesOfOthersAreNamed: the files of those that name no release, and their keys, are
// brought, but for one that names another archive too.
func TestArchivesOfOthersAreNamed(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Source: "debian-12", Target: "debian-13", Files: &ledger.Sum{}}
	origin := func(uri, suite, key, file string) assess.Origin {
		return assess.Origin{URI: uri, Suite: suite, SignedBy: key, Enabled: true, ThirdParty: true, Evidence: assess.Evidence{Path: "/etc/apt/sources.list.d/" + file}}
	}
	const key = "/etc/apt/keyrings/house.gpg"
	a := &assess.Assessment{Origins: []assess.Origin{
		origin("file:/srv/repo", "./", key, "house.list"),
		origin("file:/srv/debian", "house", key, "house.list"),
		origin("https://tools.example.org/apt", "bookworm-backports", key, "tools.list"),
		origin("https://flat.example.org", "/", key, "tools.list"),
		origin("https://unsigned.example.org", "/", "", "unsigned.list"),
		{URI: "http://deb.debian.org/debian", Suite: "bookworm", Enabled: true, Evidence: assess.Evidence{Path: "/etc/apt/sources.list.d/debian.sources"}},
	}}
	page := string(Next(p, a, nil))
	is.True(strings.Contains(page, "- archives of others file:/srv/debian (/etc/apt/sources.list.d/house.list), file:/srv/repo (/etc/apt/sources.list.d/house.list), https://flat.example.org (/etc/apt/sources.list.d/tools.list), https://tools.example.org/apt (/etc/apt/sources.list.d/tools.list), https://unsigned.example.org (/etc/apt/sources.list.d/unsigned.list): "))
	is.True(strings.Contains(page, `    rsync -aR --no-implied-dirs "$SOURCE_SSH":/etc/apt/sources.list.d/house.list /`+"\n"))
	is.True(!strings.Contains(page, "deb.debian.org"))
	p.Target = "rocky-9"
	page = string(Next(p, a, nil))
	is.True(strings.Contains(page, "- archives of others ") && !strings.Contains(page, "rsync"))
}

// TestHeldPackagesAreNamed: by what the target calls them, with the command of its apt.
func TestHeldPackagesAreNamed(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Source: "debian-12", Target: "debian-13", Files: &ledger.Sum{}, Packages: []migration.Package{
		{Name: "tools"}, {Name: "lang8.2", Targets: []migration.Target{{Name: "lang8.4"}}}, {Name: "free"},
	}}
	a := &assess.Assessment{Packages: []assess.Package{{Name: "tools", Held: true}, {Name: "lang8.2", Held: true}, {Name: "free"}}}
	is.True(strings.Contains(string(Next(p, a, nil)), "\n    apt-mark hold tools lang8.4\n"))
	p.Target = "rocky-9"
	page := string(Next(p, a, nil))
	is.True(strings.Contains(page, "- held packages tools, lang8.4: ") && !strings.Contains(page, "apt-mark"))
}

// TestWhatTheTargetHasGoneBeyond: a package that needs another below a version which the
// target has passed is not made anew: apt refuses it. It is said, with the versions.
func TestWhatTheTargetHasGoneBeyond(t *testing.T) {
	is := is.New(t)
	has := func(name, version string) migration.Package {
		return migration.Package{Name: name, Relation: "same", Targets: []migration.Target{{Name: name, Version: version}}}
	}
	p := &migration.Plan{Source: "debian-12", Target: "debian-13", Packages: []migration.Package{
		has("git", "1:2.47.3-0+deb13u1"), has("libz", "1.3"), has("lib", "2.0-1"),
		{Name: "git-run", Manual: true, Relation: "removed"},
		{Name: "for-libz", Manual: true, Relation: "unknown"},
		{Name: "of-lib", Manual: true, Relation: "unknown"},
	}}
	a := &assess.Assessment{Bounds: map[string][]assess.Bound{
		"git-run":  {{Needs: "absent", Relation: "<<", Version: "1"}, {Needs: "git", Relation: "<<", Version: "1:2.39.5-."}},
		"for-libz": {{Needs: "libz", Relation: "<=", Version: "1.3"}},
		"of-lib":   {{Needs: "lib", Relation: "=", Version: "1.9-1"}},
	}}
	is.Equal(makeable(p, a), []string{"for-libz"})
	s, ok := unknown(p, a)
	is.True(ok)
	is.Equal(len(s.Commands), 1)
	is.True(strings.Contains(s.Why, "git-run needs git (<< 1:2.39.5-.), of which the target has 1:2.47.3-0+deb13u1: its package of the source can't be installed there."))
	is.True(strings.Contains(s.Why, "of-lib needs lib (= 1.9-1), of which the target has 2.0-1"))
	is.True(!strings.Contains(s.Why, "for-libz needs"))
}
