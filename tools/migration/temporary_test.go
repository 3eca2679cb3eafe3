package migration

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

// TestFoldersOfRun: what packages of the source make in /run at each start is made for texts
// that name it, where packages of another line may not make it.
func TestFoldersOfRun(t *testing.T) {
	is := is.New(t)
	texts := map[string]string{
		"/etc/p/p.conf":                 "pid = /run/p/p.pid\nsocket=/var/run/q/s\n# old = /run/old/pid\nother = /run/none/x\n",
		"/usr/lib/tmpfiles.d/p.conf":    "# of p\nd /var/run/p 0710 daemon daemon -\nd /run/q 0755 root bin -\n",
		"/usr/lib/tmpfiles.d/old.conf":  "d /run/old 0755 root root -\n",
		"/usr/lib/tmpfiles.d/none.conf": "d /run/none 0755 {{x}} root -\n",
	}
	rows := func(source string) (all []Config) {
		in := server(t, source, "debian-13", "p", "1")
		in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/p/p.conf", Package: "p", State: assess.ConfigChanged, Mode: "0644", Owner: "root", Group: "root"}}
		in.Read = func(name string) ([]byte, error) {
			if text, ok := texts[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}
		for _, c := range New(in).Configuration {
			if c.From != "/etc/p/p.conf" {
				all = append(all, c)
			}
		}
		return all
	}
	all := rows("almalinux-9")
	is.Equal(len(all), 2)
	is.Equal(all[0].To, "/etc/tmpfiles.d/zz-source-p.conf")
	is.Equal(*all[0].Text, "d /run/p 0710 daemon daemon -\n")
	is.Equal(all[1].To, "/etc/tmpfiles.d/zz-source-q.conf")
	is.Equal(*all[1].Text, "d /run/q 0755 root bin -\n")
	is.Equal(len(rows("debian-12")), 0) // its packages make what the target's make
}

// TestShippedFilesThatSettingsName come along across families where nobody knows whether the
// target has them, to be written where it has not; within one they are its packages'.
func TestShippedFilesThatSettingsName(t *testing.T) {
	is := is.New(t)
	rows := func(source string) (all []Config) {
		in := server(t, source, "debian-13", "p", "1")
		in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/p.conf", Package: "p", State: assess.ConfigChanged, Mode: "0644", Owner: "root", Group: "root"}}
		in.Assessment.AsShipped = map[string]string{"/etc/p/hosts": "p", "/etc/p/unnamed": "p"}
		in.Read = func(name string) ([]byte, error) { return []byte("hosts = /etc/p/hosts\n"), nil }
		in.Described = func(name string) (assess.Folder, bool, bool) {
			return assess.Folder{Mode: "0644", Owner: "root", Group: "root"}, false, strings.HasPrefix(name, "/etc/p/")
		}
		for _, c := range New(in).Configuration {
			if c.From != "/etc/p.conf" {
				all = append(all, c)
			}
		}
		return all
	}
	all := rows("almalinux-9")
	is.Equal(len(all), 1)
	is.Equal(all[0].To, "/etc/p/hosts")
	is.True(all[0].Spare)
	is.Equal(len(rows("debian-12")), 0)
}
