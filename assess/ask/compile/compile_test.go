package compile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess/host"
)

// told are the troubles of programs, as the interpreters of this very machine have them.
func told(t *testing.T, files map[string]string) (*Answers, map[string]string) {
	is := is.New(t)
	dir := t.TempDir()
	for name, text := range files {
		is.NoErr(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	h, err := host.OpenRoot("/")
	is.NoErr(err)
	defer h.Close()
	found, left := Find(context.Background(), h.FS(), nil, []string{dir})
	is.Equal(left, "")
	a := Ask(context.Background(), h.FS(), func(ctx context.Context, words []string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		said, _ := cmd.Output() // a program that fails has said why
		return said, nil
	}, found, true)
	all := map[string]string{}
	for _, p := range found {
		if with := p.interpreter(h.FS()); with == "" {
			continue // this machine has none
		}
		is.True(a.Asked[p.Path]) // each comes to its end
		var said []string
		for _, t := range a.Troubles[p.Path] {
			if !t.Unsure && t.Kind != "command" {
				said = append(said, strings.TrimSpace(t.Kind+" "+t.Name)+" "+string(rune('0'+t.Line)))
			}
		}
		name, _ := filepath.Rel(dir, p.Path)
		all[name] = strings.Join(said, ", ")
	}
	return a, all
}

func TestEachInterpreterSaysWhatItDoesNotTake(t *testing.T) {
	is := is.New(t)
	ran := filepath.Join(t.TempDir(), "ran")
	a, all := told(t, map[string]string{
		"fine.py": "import os, helper\nhelper.x(os.path.join('a'))\nopen(" + "'" + ran + "', 'w')\n", "helper.py": "def x(y): pass\n",
		"gone": "#!/usr/bin/python9 -u\nimport os\n", "through.py": "#!/usr/bin/env -S python3 -u\nimport no_such\n",
		"syntax.py":   "import os\nprint 'x'\n",
		"module.py":   "import os\nfrom no.such import thing\n",
		"name.py":     "import time, os\nfrom collections import OrderedDict, Nothing\ntime.nothing()\nos.path.join('a')\n",
		"prepared.py": "import sys, time\ntry:\n    import nothing\nexcept ImportError:\n    nothing = None\nif sys.version_info < (3,):\n    import urllib2\nif hasattr(time, 'nothing'):\n    time.nothing()\n",
		"bound.py":    "import helper as time\ntime.x(1)\ntime.nothing\ndef f(os):\n    return os.nothing\n",
		"fine":        "#!/bin/bash\ntouch " + ran + "\n", "syntax": "#!/bin/sh\nif true; then\necho x\n", "no program": "text\n", "data": "#!/usr/bin/nothing\n",
		"fine.pl": "#!/usr/bin/perl\nuse strict;\nopen my $f, '>', '" + ran + "';\n", "syntax.pl": "use strict;\nmy $x = ;\n", "module.pl": "use strict;\nuse No::Such;\n", "later.pl": "sub f {\n\trequire No::Such;\n}\n",
		"lib/A/B.pm": "package A::B;\nuse A::C;\n1;\n", "lib/A/C.pm": "package A::C;\n1;\n",
		"fine.rb": "require 'set'\nFile.write('" + ran + "', '')\n", "syntax.rb": "def x\n", "module.rb": "require 'no/such'\n",
		"fine.php": "<?php file_put_contents('" + ran + "', ''); imap_none();\n", "syntax.php": "<?php\n$x = ;\n",
		"fine.cjs": "const fs = require('fs');\nfs.writeFileSync('" + ran + "', '');\nreturn;\n", "syntax.cjs": "require('fs');\nvar = 1;\n", "module.cjs": "require('no-such');\n", "page.js": "document.write('x'); var = 1;\n",
		"fine.lua": "local f = io.open('" + ran + "', 'w')\n", "syntax.lua": "local = 1\n", "module.lua": "local x = require('no.such')\n",
		"fine.tcl": "package require Tcl\nclose [open " + ran + " w]\n", "syntax.tcl": "proc x {} {\n", "module.tcl": "package require nosuch\n",
		"app/venv/pyvenv.cfg": "", "app/venv/bin/other.py": "print 'x'\n", "vendor/other.php": "<?php $x = ;\n",
	})
	want := map[string]string{
		"gone": "interpreter /usr/bin/python9 1", "through.py": "module no_such 2",
		"syntax.py": "syntax 2", "module.py": "module no.such 2", "name.py": "name collections.Nothing 2, name time.nothing 3", "bound.py": "name helper.nothing 3",
		"syntax": "syntax 4", "syntax.pl": "syntax 2", "module.pl": "module No::Such 2", "later.pl": "module No::Such 2",
		"syntax.rb": "syntax 1", "module.rb": "module no/such 1", "syntax.php": "syntax 2", "syntax.cjs": "syntax 2", "module.cjs": "module no-such 1",
		"syntax.lua": "syntax 1", "module.lua": "module no.such 1", "syntax.tcl": "syntax 0", "module.tcl": "module nosuch 1",
	}
	for name, said := range all {
		is.Equal(name+": "+said, name+": "+want[name])
	}
	for _, name := range []string{"syntax.py", "fine.py", "syntax", "fine.pl", "lib/A/B.pm"} {
		_, asked := all[name]
		is.True(asked) // this machine has Python, a shell and Perl
	}
	for _, name := range []string{"no program", "data", "page.js", "app/venv/bin/other.py", "vendor/other.php"} {
		_, asked := all[name]
		is.True(!asked) // no program of people's own
	}
	_, err := os.Stat(ran)
	is.True(os.IsNotExist(err)) // nothing of them was run
	is.True(strings.HasPrefix(a.Files["python os"], "/"))
}

func TestTheProgramsOfTheTableAreThere(t *testing.T) {
	is := is.New(t)
	for _, l := range languages() {
		is.True(l.probe != "") // its probe is in the folder
		is.True(len(l.interpreters) > 0)
	}
}

func TestAHostileAnswerIsBounded(t *testing.T) {
	is := is.New(t)
	a := &Answers{Asked: map[string]bool{}, Troubles: map[string][]Trouble{}, Uses: map[string]Use{}, Files: map[string]string{}}
	a.read("python", []string{"/a", "/b"}, []byte("0\t1\tsyntax\t\t\x1b[31mred"+strings.Repeat("x", 9999)+"\n7\t1\tsyntax\t\tno such\n-1\t0\tasked\t\t\nnonsense\n0\t0\tasked\t\t\n"))
	is.Equal(len(a.Troubles), 1)
	is.True(len(a.Troubles["/a"][0].Text) <= maxText && !strings.Contains(a.Troubles["/a"][0].Text, "\x1b"))
	is.Equal(a.Asked, map[string]bool{"/a": true})
	is.Equal(len(a.Left), 1) // of /b
	is.Equal(len(batches(make([]string, 2*maxFiles+1))), 3)
}

func TestCommandsOfAScript(t *testing.T) {
	is := is.New(t)
	var names []string
	for _, c := range calls("#!/bin/sh\n# no comment\nX=1 Y=\"$(date +%s)\" rsync -a \"a b\" 'c; d' | grep -q x && /usr/sbin/tool --opt value\nif [ -x /usr/bin/maybe ]; then maybe; fi\n" +
		"case $1 in start|stop) begin_it ;; status) ;; esac\nfor f in one two; do sudo -u root nice -n 19 pack \"$f\"; done\ncat <<EOF | sort\nmail is text\nEOF\nhelp_() { inner; }\nhelp_\n" +
		"(cd /; sub $((1 + 2))) && ! ping -c 1 x || \"$PROG\" y\necho \"said $(mail -s x) and \\\" quoted; wrong\"\ncommand -v other >/dev/null && other\nx=`tick`\n") {
		names = append(names, c.name)
	}
	is.Equal(strings.Join(names, " "), "date rsync grep /usr/sbin/tool fi begin_it esac for pack done cat sort inner sub ping mail tick")
}

func TestAShellOfAnyTextEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab/ \n;&|()<>`\"'$\\{}#=")), 0, 60, -1).Draw(t, "text")
		for _, c := range calls(text) {
			if c.line > strings.Count(text, "\n")+1 || !strings.Contains(text, c.name) {
				t.Fatalf("%q is not on line %d", c.name, c.line)
			}
		}
	})
}

// TestAScriptIsReadOnce: the largest script takes a moment whatever its lines are; where
// each looked through what follows it, the test would not come to its end.
func TestAScriptIsReadOnce(t *testing.T) {
	is := is.New(t)
	for _, line := range []string{"#\n", "a # x\n", "$(a\n", "<<A\n", "${\n", "a=\"$(\n", "case x in a)\n"} {
		is.True(len(calls(strings.Repeat(line, maxProgram/len(line)))) <= maxCommands)
	}
}
