package migration

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/convert"
)

// TestWhatAPersonChanged: where the package's own file stands beside an edited
// one, the plan says what the person changed, and carries nothing over where
// that is but comments.
func TestWhatAPersonChanged(t *testing.T) {
	for _, c := range []struct {
		name, shipped, has string
		action             Action
		want               []convert.Change
	}{
		{"a setting", "a = 1\nb = 2\nc = 3\n", "a = 1\nb = 7\nc = 3\nd = 4\n", Copy, []convert.Change{{Line: 2, Was: "b = 2", Now: "b = 7"}, {Line: 4, Now: "d = 4"}}},
		{"a line that went", "a\nb\nc\n", "a\nc\n", Copy, []convert.Change{{Line: 2, Was: "b"}}},
		{"a remark", "a\n", "# mine\n\na\n", LeftOut, []convert.Change{{Line: 1, Now: "# mine"}, {Line: 2}}},
		{"an include", "a\n", "#include /x\na\n", Copy, []convert.Change{{Line: 1, Now: "#include /x"}}},
		{"nothing", "a\n", "a\n", LeftOut, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			in := elServer(t, map[string]string{"/etc/x.conf": c.has, "/etc/x.conf.rpmnew": c.shipped})
			in.PathExists = func(path string) bool { _, err := in.Read(path); return err == nil }
			in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/x.conf", State: assess.ConfigChanged, Mode: "0644", Owner: "root", Group: "root"}}
			row := New(in).Configuration[0]
			is.Equal(row.Action, c.action)
			is.Equal(len(row.Edited), len(c.want))
			for i, change := range c.want {
				is.Equal(row.Edited[i], change)
			}
		})
	}
}

func TestSecretsAreNotCompared(t *testing.T) {
	is := is.New(t)
	in := elServer(t, map[string]string{"/etc/x.conf": "a", "/etc/x.conf.rpmnew": "b"})
	in.PathExists, in.IncludeSecrets = func(string) bool { return true }, true
	in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/x.conf", State: assess.ConfigChanged, Mode: "0600", Owner: "root", Group: "root", Secret: true}}
	is.Equal(len(New(in).Configuration[0].Edited), 0)
}
