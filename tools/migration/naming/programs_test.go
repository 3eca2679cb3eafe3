package naming

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
)

func TestProgramsWithAnotherNameAreCalledByIt(t *testing.T) {
	file := func(from, to string) api.Relocation {
		return api.Relocation{Kind: api.RelocateFile, From: from, To: new(to), Action: api.ActionManual}
	}
	rows := []Row{{Name: "web", Canonical: "web", Sure: true}}
	where := New(rows, map[string][]api.Relocation{"web": {
		file("/usr/sbin/webd", "/usr/sbin/web2"), file("/usr/sbin/webd", "/usr/sbin/webctl"), file("/usr/sbin/webcheck", "/usr/bin/webcheck"), file("/usr/bin/update-ca-trust", "/usr/sbin/update-ca-certificates"),
		file("/usr/libexec/web/deliver", "/usr/lib/web/deliver"), file("/run/webd/webd.pid", "/run/web2/web2.pid"), file("/etc/sysconfig/webd", "/etc/default/web2"),
		{Kind: api.RelocateDir, From: "/usr/lib64/web/checks", To: new("/usr/lib/web/checks"), Action: api.ActionManual},
	}})
	r := NewReferences(rows, where, "debian-13")
	r.Homes = func(path string) string {
		if path == "/var/log/secure" {
			return "/var/log/auth.log"
		}
		return path
	}
	for was, want := range map[string]string{
		"webd -t":                                 "webctl -t",
		"if webd -t; then":                        "if webctl -t; then",
		"x=$(webd -S)":                            "x=$(webctl -S)",
		"command -v webd || exit 1":               "command -v webctl || exit 1",
		"sudo webd -k graceful":                   "sudo webctl -k graceful",
		"/usr/sbin/webd -t && webd":               "/usr/sbin/webctl -t && webctl",
		"pgrep -x webd >/dev/null && pidof webd":  "pgrep -x web2 >/dev/null && pidof web2",
		"pgrep -u apache -f '/usr/sbin/webd -D'":  "pgrep -u apache -f '/usr/sbin/web2 -D'",
		"pgrep -f /usr/sbin/webd":                 "pgrep -f /usr/sbin/web2",
		"ps -o pid= -C webd":                      "ps -o pid= -C web2",
		"check_procs -c 1: -C webd":               "check_procs -c 1: -C web2",
		"webcheck -z":                             "webcheck -z",
		"/usr/sbin/webcheck -z":                   "/usr/bin/webcheck -z",
		"exec /usr/libexec/web/deliver":           "exec /usr/lib/web/deliver",
		"kill $(cat /var/run/webd/webd.pid)":      "kill $(cat /run/web2/web2.pid)",
		"kill $(cat /run/webd/webd.pid)":          "kill $(cat /run/web2/web2.pid)",
		". /etc/sysconfig/webd":                   ". /etc/sysconfig/webd",
		"grep x /var/log/secure":                  "grep x /var/log/auth.log",
		"command=/usr/lib64/web/checks/disk -w 1": "command=/usr/lib/web/checks/disk -w 1",
		"webd>/dev/null":                          "webctl>/dev/null",
		"    SSLCipherSuite PROFILE=SYSTEM":       "    SSLCipherSuite DEFAULT",
		"update-ca-trust extract && webd -t":      "update-ca-certificates && webctl -t",
		"/usr/bin/update-ca-trust extract":        "/usr/sbin/update-ca-certificates",
		"update-ca-trust":                         "update-ca-certificates",
		"webd=1":                                  "webd=1",
		"webd = x":                                "webd = x",
		"case $1 in webd) true;; esac":            "case $1 in webd) true;; esac",
		"webd)":                                   "webd)",
		"echo webd -t":                            "echo webd -t",
		"cp /srv/webd -t":                         "cp /srv/webd -t",
		"/usr/local/sbin/webd -t":                 "/usr/local/sbin/webd -t",
	} {
		now, renamed, lost := r.Text("#!/bin/bash\n" + was)
		if want = "#!/bin/bash\n" + want; now != want || len(lost) != 0 || (now != "#!/bin/bash\n"+was) != (len(renamed) > 0) {
			t.Errorf("%q became %q, not %q; %v %v", was, now, want, renamed, lost)
		}
	}
	for was, want := range map[string]string{
		"webd -t":                                 "webd -t",                                 // no shell runs it
		"proc webd 10 1":                          "proc web2 10 1",                          // snmpd.conf
		`check process webd matching "webd"`:      `check process webd matching "web2"`,      // Monit
		"UserParameter=n,x\nKey=proc.num[webd,,]": "UserParameter=n,x\nKey=proc.num[web2,,]", // Zabbix
		`  exe = "webd"`:                          `  exe = "web2"`,                          // Telegraf
	} {
		if now, _, _ := r.Text(was); now != want {
			t.Errorf("%q became %q, not %q", was, now, want)
		}
	}
}

func TestFilesInFoldersThatTheTargetLacksAreTold(t *testing.T) {
	rows := []Row{{Name: "web", Sure: true, Targets: []string{"web2", "web2-data"}}}
	r := NewReferences(rows, New(rows, nil), "debian-13")
	r.Owners = map[string]string{"/var/www/cgi-bin/web": "web", "/usr/lib64/web/a.so": "web", "/usr/bin/web": "web"}
	const text = "exec /var/www/cgi-bin/web\nload /usr/lib64/web/a.so\n/usr/bin/web\n/var/www/cgi-bin/own"
	now, renamed, lost := r.Text(text)
	if now != text || len(renamed) != 0 || len(lost) != 2 || lost[0].Line != 1 || lost[1].Why != "It is of the package web, and packages of debian-13 have nothing in /usr/lib64: look where web2, web2-data has it." {
		t.Errorf("%q, %v, %v", now, renamed, lost)
	}
}

func TestModulesGoWhereTheTargetsPythonLooks(t *testing.T) {
	rows := renamedRows("python3.11", "python3", "lang7.4", "lang8.4")
	on := func(target string, there ...string) (went []string) {
		for _, m := range NewReferences(rows, New(rows, nil), target).Versioned("3.9.21", "3.13.5", func(path string) bool { return slices.Contains(there, path) }) {
			went = append(went, m.Name+" "+m.Now)
		}
		return went
	}
	const local = "/usr/local/lib/"
	is := is.New(t)
	is.Equal(on("debian-13", local+"python3.9", local+"python3.9/site-packages", local+"python3.11", local+"lang7.4"), []string{
		local + "lang7.4 " + local + "lang8.4", local + "python3.11 " + local + "python3.13", local + "python3.9/site-packages " + local + "python3.13/dist-packages",
	})
	is.Equal(on("almalinux-10", local+"python3.9", local+"python3.9/site-packages"), []string{local + "python3.9 " + local + "python3.13"})
	is.Equal(on("debian-13"), nil)
}
