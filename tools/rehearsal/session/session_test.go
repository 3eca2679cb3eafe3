package session

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

func TestWhatALoginGives(t *testing.T) {
	is := is.New(t)
	b, err := exec.Command("bash", "-c", "umask 027; PATH=/usr/local/bin:$PATH; export JAVA_HOME=/x; ulimit -Sn 100; "+script).Output()
	is.NoErr(err)
	s, ok := Parse(string(b))
	is.True(ok)
	is.Equal(s.Umask, "27")
	is.Equal(s.Path[0], "/usr/local/bin")
	is.Equal(s.Limits["soft limit of open files"], "100")
	is.Equal(s.Limits["soft limit of file size"]+s.Limits["hard limit of core file size"], "") // the sandbox's own
	is.True(len(s.Groups) > 0)
	is.Equal(strings.Count(strings.Join(s.Variables, " ")+" ", "JAVA_HOME "), 1)
	is.True(!strings.Contains(strings.Join(s.Variables, " "), "/x")) // no value
	_, ok = Parse("This account is currently not available.\n")
	is.True(!ok)
}

func TestWhatALoginGivesNoMore(t *testing.T) {
	is := is.New(t)
	before := Said{Umask: "27", Language: "de_AT.UTF-8", Groups: []string{"eva", "print"}, Path: []string{"/opt/a", "/usr/games"}, Variables: []string{"JAVA_HOME", "XDG_SESSION_ID"}, Limits: map[string]string{"soft limit of open files": "4096", "hard limit of nothing": "1"}}
	there := func(folder string) bool { return folder == "/opt/a" }
	is.Equal(len(Lost(before, before, there)), 0)
	after := Said{Umask: "22", Language: "de_AT.UTF-8", Unknown: true, Groups: []string{"eva", "more"}, Limits: map[string]string{"soft limit of open files": "1024"}}
	is.Equal(Lost(before, after, there), []string{"umask is 022, and was 027", "not in the group print", "PATH is without /opt/a", "not set: JAVA_HOME", `the machine does not have the language "de_AT.UTF-8"`, "the soft limit of open files is 1024, and was 4096"})
	after.Language = ""
	is.Equal(Lost(Said{Language: "C.UTF-8"}, Said{}, there), []string{`the language is "", and was "C.UTF-8"`})
}

func TestWhoLogsIn(t *testing.T) {
	is := is.New(t)
	a := &assess.Assessment{Users: []assess.User{{Name: "root", Shell: "/bin/bash", System: true}, {Name: "eva", UID: 1000, Shell: "/usr/bin/zsh"}, {Name: "app", UID: 999, Shell: "/bin/sh", System: true}, {Name: "ftp", UID: 1001, Shell: "/usr/sbin/nologin"}, {Name: "-x", UID: 1002, Shell: "/bin/sh"}}}
	is.Equal(Accounts(a), []string{"root", "eva"})
}
