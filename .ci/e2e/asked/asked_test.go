// Package asked_test verifies a machine that runs and is asked: a Debian 13 under its
// own systemd with nginx, Apache and memcached. A service that somebody stopped, one
// that can't start, and a configuration that its program does not take are
// differences; without --ask the last is not, and that is said.
package asked_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/tools/parity"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "capsh:libcap2-bin", "nsenter:util-linux", "ssh:openssh-client")
}

// stopped is what differs where breaks has been.
var stopped = []string{"apache2.service, running", "memcached.service, running", "own.service, running"}

func TestAsked(t *testing.T) {
	is := is.New(t)
	w := e2e.New(t)
	root := targetRoot(w)
	w.SVC(0, "migrate", "--root", root, "--target", "debian-13", "--out", w.Path("out"), "--confirm")
	target := w.Boot("target", root)
	target.SSH()

	verify := func(code int, options ...string) (e2e.Said, parity.Report) {
		t.Helper()
		said := w.SVC(code, append([]string{"verify", "--quiet", "--ssh", "root@target", "--source", w.Path("out"), "--json"}, options...)...)
		var report parity.Report
		said.JSON(&report)
		return said, report
	}
	_, report := verify(0, "--ask")
	is.Equal(len(services(report, parity.Match, asks)), 6) // the services that run were asked
	said, _ := verify(0)
	said.Has("--ask has the migrated machine run them")
	w.SVC(2, "verify", "--root", root, "--source", w.Path("out"), "--ask") // a folder can't be asked

	// A program listens that nobody announced.
	const listen = `my $s = IO::Socket::INET->new(LocalAddr => "0.0.0.0", LocalPort => shift, Listen => 1) or die; sleep 600`
	target.Run(0, "systemd-run", "-q", "--unit=innocent", "perl", "-MIO::Socket::INET", "-e", listen, "4444")
	said, _ = verify(6)
	said.Has(`"subject": "4444/tcp, running"`)
	target.Run(0, "systemctl", "stop", "innocent")

	breaks(t, w, target, root)
	_, report = verify(6)
	is.Equal(services(report, parity.Differs, all), stopped) // without --ask, what does not run
	said, report = verify(6, "--ask")
	refused := []string{"/usr/bin/systemd-analyze verify --man=no apache2.service", "/usr/sbin/nginx -t -q", "/usr/sbin/visudo -c"}
	is.Equal(services(report, parity.Differs, all), append(refused, stopped...)) // and what would not start, by the command that says so
	said.Has("unknown directive")
	is.True(!strings.Contains(said.Out+said.Err, "\033")) // nothing for a terminal
}

// targetRoot is a Debian 13 with servers, and a service of its owner.
func targetRoot(w *e2e.Work) string {
	root := w.Copy(w.Kept("roots/trixie-asked", "trixie", "systemd,systemd-sysv,dbus,procps,nginx,apache2,memcached,openssh-server,sudo"), "target")
	w.Files(root, map[string]string{
		"etc/machine-id":                 "0123456789abcdef0123456789abcdef\n",
		"etc/systemd/system/own.service": "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
	})
	w.Run(0, "sed", "-i", `s/^Listen 80$/Listen 8080/; s/\*:80>/*:8080>/`, filepath.Join(root, "etc/apache2/ports.conf"), filepath.Join(root, "etc/apache2/sites-available/000-default.conf"))
	w.Run(0, "systemctl", "--root", root, "enable", "own.service")
	w.Authorize(root)
	return root
}

// asks tells a check by a command from one of a unit; all takes both.
func asks(subject string) bool { return strings.HasPrefix(subject, "/") }
func all(string) bool          { return true }

// services are the subjects of services that ended in a way.
func services(r parity.Report, result parity.Result, which func(string) bool) (subjects []string) {
	for _, c := range r.Checks {
		if c.Dimension == parity.Services && c.Result == result && which(c.Subject) {
			subjects = append(subjects, c.Subject)
		}
	}
	slices.Sort(subjects)
	return subjects
}

// breaks stops two services; one can't be started any more, one would not start again,
// and a file of sudo's is none.
func breaks(t *testing.T, w *e2e.Work, target *e2e.Booted, root string) {
	is := is.New(t)
	target.Run(0, "systemctl", "stop", "memcached", "own", "apache2")
	w.Files(root, map[string]string{
		"etc/systemd/system/apache2.service.d/php.conf": "[Unit]\nRequires=php7.4-fpm.service\n",
		"etc/sudoers.d/broken":                          "evil \033[31m{{ x }}\n",
	})
	target.Run(0, "systemctl", "daemon-reload")
	target.Run(5, "systemctl", "start", "apache2") // a unit that it requires is not there
	nginx, err := os.OpenFile(filepath.Join(root, "etc/nginx/nginx.conf"), os.O_APPEND|os.O_WRONLY, 0)
	is.NoErr(err)
	_, err = nginx.WriteString("no_such_directive on;\n")
	is.NoErr(err)
	is.NoErr(nginx.Close())
}
