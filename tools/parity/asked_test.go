package parity

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/ask"
	"svc/tools/migration"
)

// asking is a machine that was migrated to what it is, with one service, and what
// is known of it while it runs.
func asking(t *testing.T, asked Asked) Input {
	after := clone(t, fixture(t))
	after.Running = &assess.Running{}
	return Input{
		Plan:   &migration.Plan{Services: []migration.Service{{Unit: "apache2.service", To: "httpd.service", State: "enabled"}, {Unit: "cron.service", To: "crond.service", State: "disabled"}}},
		Before: fixture(t), After: after, Asked: asked,
	}
}

// found are the checks of services with what they came to.
func found(in Input) (all []string) {
	for _, c := range Verify(in).Checks {
		if c.Dimension == Services && (strings.HasSuffix(c.Subject, ", running") || strings.HasPrefix(c.Subject, "/")) {
			all = append(all, c.Subject+": "+string(c.Result))
		}
	}
	return all
}

// TestADeadServiceDiffers tells services that were enabled and do not run, though
// the source was off while it was read.
func TestADeadServiceDiffers(t *testing.T) {
	is := is.New(t)
	dead := ask.Service{Active: "inactive", Type: "forking", Loaded: true}
	for _, c := range []struct {
		service ask.Service
		want    []string
	}{
		{dead, []string{"httpd.service, running: differs"}},
		{ask.Service{Active: "active", Type: "forking", Loaded: true}, nil},
		{ask.Service{Active: "inactive", Type: "oneshot", Loaded: true}, nil},
		{ask.Service{Active: "inactive", Type: "simple", Loaded: true, Triggered: true}, nil},
		{ask.Service{Active: "inactive", Type: "simple", Loaded: true, Refused: true}, []string{"httpd.service, running: not-checkable"}},
	} {
		in := asking(t, Asked{Services: map[string]ask.Service{"httpd.service": c.service, "crond.service": dead}})
		is.Equal(found(in), c.want)
		in.Before.Running = &assess.Running{} // it was seen that it did not run on the source either
		is.Equal(found(in), nil)
	}
}

// TestABrokenConfigurationDiffers tells what the services' own checks say.
func TestABrokenConfigurationDiffers(t *testing.T) {
	is := is.New(t)
	in := asking(t, Asked{Answers: []ask.Answer{
		{Name: "nginx", Command: "/usr/sbin/nginx -t", Status: 1, Text: "unknown directive"},
		{Name: "SSH", Command: "/usr/sbin/sshd -t"},
		{Name: "sudo", Command: "/usr/sbin/visudo -c", Err: errors.New("it is gone")},
	}})
	is.Equal(found(in), []string{"/usr/sbin/nginx -t: differs", "/usr/sbin/sshd -t: match", "/usr/sbin/visudo -c: not-checkable"})
	for _, what := range Verify(in).NotLooked {
		is.True(!strings.Contains(what, "own checks"))
	}
}

func TestWhatWasNotAskedIsSaid(t *testing.T) {
	is := is.New(t)
	said := func(in Input) string { return strings.Join(Verify(in).NotLooked, "\n") }
	is.True(strings.Contains(said(asking(t, Asked{})), "--ask has the migrated machine run them"))
	is.True(strings.Contains(said(asking(t, Asked{Why: ask.ErrNotRoot.Error()})), ask.ErrNotRoot.Error()))
	off := asking(t, Asked{})
	off.After.Running = nil
	is.True(strings.Contains(said(off), "the machine did not run"))
}
