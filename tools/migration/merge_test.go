package migration

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/backend/pristine"
	"svc/tools/merge"
	"svc/tools/migration/edits"
)

// merging is a move of one edited file, of which the packages of both releases
// ship another: base on the source, theirs on the target.
func merging(t *testing.T, base, ours, theirs string) Input {
	t.Helper()
	in := elServer(t, map[string]string{"/etc/x.conf": ours})
	in.PathExists = func(path string) bool { _, err := in.Read(path); return err == nil }
	digest := md5.Sum([]byte(base))
	in.Assessment.Configuration = []assess.ConfigFile{{
		Path: "/etc/x.conf", Package: "httpd", State: assess.ConfigChanged, Mode: "0644", Owner: "root", Group: "root", Shipped: []string{"md5:" + hex.EncodeToString(digest[:])},
	}}
	in.SourceFile = ships("httpd", base)
	in.TargetFile = ships("apache2", theirs)
	return in
}

// ships has one package that ships the file.
func ships(pkg, text string) Shipped {
	return func(packages []string, file string, fits func([]byte) bool) *pristine.File {
		if len(packages) != 1 || packages[0] != pkg || file != "/etc/x.conf" || !fits([]byte(text)) {
			return nil
		}
		return &pristine.File{Package: pkg, Version: "2", SHA256: "abc", Path: file, Text: []byte(text)}
	}
}

func TestWhatAPersonChangedIsPutOntoTheTargetsOwnFile(t *testing.T) {
	for _, c := range []struct {
		name, base, ours, theirs string
		action                   Action
		want                     string // of the target
	}{
		{"both changed other lines", "a 1\nb 2\nc 3\n", "a 9\nb 2\nc 3\n", "a 1\nb 2\nc 8\nd 4\n", Merge, "a 9\nb 2\nc 8\nd 4\n"},
		{"the target changed remarks beside it", "# old\na 1\n", "# old\na 2\n", "# new\n# more\na 1\n", Merge, "# new\n# more\na 2\n"},
		{"a default became another", "x\n#a 1\ny\n", "x\na 2\ny\n", "x\n#a 3\ny\n", Merge, "x\n#a 3\na 2\ny\n"},
		{"a person's remark beside it", "a 1\nb 2\n", "# mine\na 1\nb 3\n", "a 1\nb 2\nc 4\n", Copy, ""},
		{"the target has it by now", "a 1\nb 2\n", "a 2\nb 2\n", "a 2\nb 2\n", LeftOut, ""},
		{"both changed a line", "a 1\nb 2\nc 3\n", "a 9\nb 2\nc 3\n", "a 8\nb 2\nc 3\n", Copy, ""},
		{"the target removed what a person changed", "a 1\nb 2\nc 3\n", "a 1\nb 9\nc 3\n", "a 1\nc 3\n", Copy, ""},
		{"the target sets elsewhere what a person set", "a 1\n[x]\nb 2\n", "k 7\na 1\n[x]\nb 2\n", "a 1\n[x]\nb 2\nk 5\n", Copy, ""},
		{"the target sets elsewhere what a person took away", "k 1\na 1\n[x]\nb 2\n", "a 1\n[x]\nb 2\n", "k 1\na 1\n[x]\nb 2\n[y]\nk 1\n", Copy, ""},
		{"line ends of another system", "a 1\r\nb 2\r\n", "a 1\r\nb 3\r\n", "a 1\nb 2\nc 4\n", Copy, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			row := New(merging(t, c.base, c.ours, c.theirs)).Configuration[0]
			is.Equal(row.Action, c.action)
			is.Equal(row.Merge.Base.Package, "httpd")
			is.Equal(row.Merge.Target.Package, "apache2")
			is.Equal(row.Merge.Target.PackageSHA256, "abc")
			is.Equal(row.To == "", c.action == LeftOut)
			is.Equal(len(row.Merge.Clashes) > 0, c.action == Copy)
			is.Equal(len(row.Merge.Changes) > 0, c.action == Merge)
			if c.want != "" {
				is.Equal(*row.Text, c.want)
			}
		})
	}
}

// TestAClashShowsBothSides, with what both had before.
func TestAClashShowsBothSides(t *testing.T) {
	is := is.New(t)
	p := New(merging(t, "x\na 1\n", "new\nx\na 9\n", "x\na 8\n"))
	clash := p.Configuration[0].Merge.Clashes[0]
	is.Equal(clash, edits.Clash{Line: 3, Text: []string{"a 9"}, TargetLine: 2, Target: []string{"a 8"}, Base: []string{"a 1"}, Why: edits.BothChanged})
	found := false
	for _, f := range p.Findings {
		found = found || f.Key == "configuration.merge-clash"
	}
	is.True(found)
}

// TestWithoutTheRightBaseNothingIsMerged: a file that is not what the machine's
// package manager has a digest of is no base.
func TestWithoutTheRightBaseNothingIsMerged(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"another version's":    func(in *Input) { in.SourceFile = ships("httpd", "other") },
		"no source's":          func(in *Input) { in.SourceFile = nil },
		"no target's":          func(in *Input) { in.TargetFile = nil },
		"nothing at its place": func(in *Input) { in.TargetFile = ships("nginx", "a") },
		"a secret":             func(in *Input) { in.IncludeSecrets, in.Assessment.Configuration[0].Secret = true, true },
		"no text":              func(in *Input) { in.TargetFile = ships("apache2", "a\x00") },
	} {
		in := merging(t, "a\n", "b\n", "a\nc\n")
		change(&in)
		row := New(in).Configuration[0]
		if row.Merge != nil || row.Action != Copy {
			t.Errorf("%s: %s, %v", name, row.Action, row.Merge)
		}
	}
}

// TestTheMachineKeepsBases: ucf's cache has what a person began with.
func TestTheMachineKeepsBases(t *testing.T) {
	is := is.New(t)
	in := merging(t, "a\nb\n", "a\nB\n", "a\nb\nc\n")
	in.SourceFile = nil
	read := in.Read
	in.Read = func(path string) ([]byte, error) {
		if path == "/var/lib/ucf/cache/:etc:x.conf" {
			return []byte("a\nb\n"), nil
		}
		return read(path)
	}
	row := New(in).Configuration[0]
	is.Equal(row.Action, Copy) // b and c are neighbours
	is.Equal(row.Merge.Base, Origin{Path: "/var/lib/ucf/cache/:etc:x.conf", SHA256: digestOf([]byte("a\nb\n"))})
}

// TestNothingSaidIsLost: every line of the person's that says something and was
// not there before is in the result, or in a clash, and so is the target's.
func TestNothingSaidIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom(strings.Split("a 1,a 2,b 1,b 2,# a,# b,c 1,", ",")), 0, 10)
		base, ours, theirs := text.Draw(t, "base"), text.Draw(t, "ours"), text.Draw(t, "theirs")
		result, clashes := edits.Join(merge.Lines(base, ours, theirs))
		for name, side := range map[string][]string{"ours": ours, "theirs": theirs} {
			for _, line := range edits.Said(side) {
				there := strings.Contains(strings.Join(slices.Concat(base, result), "\n"), line)
				for _, c := range clashes {
					there = there || strings.Contains(strings.Join(slices.Concat(c.Text, c.Target), "\n"), line)
				}
				if !there {
					t.Fatalf("%q of %s is lost", line, name)
				}
			}
		}
	})
}

// TestWithoutPackagesThePlanSaysHowToMerge: an edited file that is carried over
// whole is named with the flag that merges it.
func TestWithoutPackagesThePlanSaysHowToMerge(t *testing.T) {
	is := is.New(t)
	in := merging(t, "a 1\n", "a 2\n", "a 3\n")
	says := func() bool {
		return slices.ContainsFunc(New(in).Findings, func(f assess.Finding) bool {
			return f.Key == "configuration.mergeable" && f.Related[0].Name == "/etc/x.conf" && strings.Contains(f.Remediations[0].Text, "--target-archive")
		})
	}
	is.True(!says())
	in.TargetFile = nil
	is.True(says())
}
