package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/visible"
)

// hostile is what a terminal obeys, what turns a text round, and what hides an
// instruction to a model.
const hostile = "h\x1b[31m\a\u009b\u202e\u2066\u200b\u2028\ufeff\U000e0049\U000e0067\U000e0101!"

// hostileRoot is a machine that has it wherever a machine has text.
func hostileRoot(t *testing.T) string {
	t.Helper()
	is := is.New(t)
	root := t.TempDir()
	is.NoErr(os.CopyFS(root, os.DirFS("../../fixtures/hosts/debian-11-web")))
	more := func(file, text string) {
		name := filepath.Join(root, file)
		is.NoErr(os.MkdirAll(filepath.Dir(name), 0o755))
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		is.NoErr(err)
		_, err = f.WriteString(text)
		is.NoErr(err)
		is.NoErr(f.Close())
	}
	is.NoErr(os.Remove(filepath.Join(root, "etc/hostname")))
	more("etc/hostname", "web"+hostile+"\n")
	more("etc/passwd", "mallory:x:1777:1777:"+hostile+":/home/"+hostile+":/bin/"+hostile+"\n")
	more("etc/group", "g"+hostile+":x:1777:\n")
	more("etc/sudoers.d/x"+hostile, "u"+hostile+" ALL=(ALL) NOPASSWD: ALL # "+hostile+"\n")
	more("etc/cron.d/job", "* * * * * root /bin/echo "+hostile+"\n")
	more("etc/fstab", "/dev/"+hostile+" /mnt/"+hostile+" ext4 "+hostile+" 0 0\n")
	more("etc/apt/sources.list.d/x.list", "deb https://example.org/"+hostile+" bullseye main\n")
	more("etc/systemd/system/u"+hostile+".service", "[Service]\nExecStart=/bin/"+hostile+"\n[Install]\nWantedBy=multi-user.target\n")
	more("etc/sysctl.d/"+hostile+".conf", "vm."+hostile+" = 1\n")
	more("etc/ssh/sshd_config", "PrintMotd "+hostile+"\nX"+hostile+" yes\n")
	more("etc/nginx/conf.d/"+hostile+".conf", "ssl_"+hostile+" on;\n")
	more("etc/environment", "A="+hostile+"\n")
	more("opt/"+hostile+"/bin/run", hostile)
	more("srv/www/"+hostile+"/index.html", hostile)
	more("var/lib/dpkg/status", "\nPackage: p"+hostile+"\nStatus: install ok installed\nVersion: 1"+hostile+"\nArchitecture: amd64\nDescription: "+hostile+"\n")
	is.NoErr(os.Symlink("/etc/"+hostile, filepath.Join(root, "etc/l"+hostile)))
	return root
}

// hidden gives where a text hides something, for a message.
func hidden(s string) string {
	if visible.Lines(s) == s {
		return ""
	}
	for line := range strings.Lines(s) {
		if shown := visible.Lines(line); shown != line {
			return shown
		}
	}
	return s
}

// TestNothingOfAMachineIsHidden has every command print what a hostile machine
// says, and reads every file that it writes.
func TestNothingOfAMachineIsHidden(t *testing.T) {
	root, home := hostileRoot(t), t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home}[name] }
	out := filepath.Join(home, "out")
	var all strings.Builder
	for _, args := range [][]string{
		{"assess", "--root", root, "--target", "debian-13"},
		{"assess", "--root", root, "--json"},
		{"migrate", "--root", root, "--target", "debian-13", "--preflight"},
		{"migrate", "--root", root, "--target", "debian-13", "--out", out, "--confirm"},
		{"migrate", "--root", root, "--target", "almalinux-9", "--out", filepath.Join(home, "alma"), "--confirm", "--json"},
		{"verify", "--root", root, "--source", out, "--out", filepath.Join(home, "verified")},
		{"verify", "--root", "../../fixtures/hosts/debian-11-web", "--source", out, "--json"},
		{"drift", "--root", root, "--source", out},
		{"db", "plan", "--root", root, "--target", "debian-13"},
		{"data", "discover", "--root", root},
		{"data", "discover", "--root", root, "--json"},
		{"data", "plan", "--root", root, "--target", "debian-13", "--source-offline", "--out", filepath.Join(home, "data"), "--confirm"},
		{"assess", "--root", filepath.Join(root, "srv/www", hostile)},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, env, nil, &stdout, &stderr)
		t.Logf("%.60q: exit %d, %d times", args, code, strings.Count(stdout.String(), `\u202e`))
		if h := hidden(stdout.String() + stderr.String()); h != "" {
			t.Errorf("%.200q prints %q", args, h)
		}
		all.WriteString(stdout.String())
		if args[len(args)-1] == "--json" && !json.Valid(stdout.Bytes()) {
			t.Errorf("%.200q prints no JSON: %s", args, stderr.String())
		}
	}
	is.New(t).True(strings.Count(all.String(), `\u202e`) > 50) // it is there to be seen
	files := 0
	err := filepath.WalkDir(home, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(home, name)
		if h := hidden(rel); h != "" {
			t.Errorf("a file is called %q", h)
		}
		// What is carried over is what it was.
		if err != nil || d.IsDir() || strings.HasPrefix(rel, ".") || strings.Contains(rel, "/files/") {
			return err
		}
		files++
		b, err := os.ReadFile(name)
		if h := hidden(string(b)); h != "" {
			t.Errorf("%s has %q", rel, h)
		}
		return err
	})
	is.New(t).NoErr(err)
	is.New(t).True(files > 30)
	if t.Failed() {
		return
	}
	moveHidden(t, root, filepath.Join(home, "data"))
}

// moveHidden runs the scripts of a data plan between two folders.
func moveHidden(t *testing.T, root, plan string) {
	is := is.New(t)
	if _, err := exec.LookPath("rsync"); err != nil || os.Getuid() != 0 {
		t.Log("the scripts are not run: they need root and rsync")
		return
	}
	target := t.TempDir()
	is.NoErr(os.CopyFS(filepath.Join(target, "etc"), os.DirFS(filepath.Join(root, "etc"))))
	scripts, err := filepath.Glob(filepath.Join(plan, "[0-9]*.sh"))
	is.NoErr(err)
	is.True(len(scripts) == 7)
	for _, script := range scripts {
		cmd := exec.Command("bash", script)
		cmd.Env = append(os.Environ(), "SOURCE_ROOT="+root, "TARGET_ROOT="+target)
		said, err := cmd.CombinedOutput()
		t.Logf("%s", said)
		if h := hidden(string(said)); h != "" || err != nil {
			t.Errorf("%s: %v: %q in %s", filepath.Base(script), err, h, visible.Lines(string(said)))
		}
	}
}

// TestAgentsSeeAllOfAMachine decodes what an agent gets, and looks into it.
func TestAgentsSeeAllOfAMachine(t *testing.T) {
	is := is.New(t)
	root, err := json.Marshal(hostileRoot(t))
	is.NoErr(err)
	cmd, say, hear, hangUp := stdio(t)
	say(greeting)
	for i, call := range []string{
		`"svc_assess","arguments":{"root":` + string(root) + `,"detail":"full"}`,
		`"svc_assess","arguments":{"root":` + string(root) + `}`,
		`"svc_migrate","arguments":{"root":` + string(root) + `,"target":"debian-13","preflight":true}`,
		`"svc_migrate","arguments":{"root":` + string(root) + `,"target":"debian-13","out":"/nowhere"}`,
		`"svc_data_discover","arguments":{"root":` + string(root) + `}`,
		`"svc_db_plan","arguments":{"root":` + string(root) + `,"target":"debian-13"}`,
	} {
		say(`{"jsonrpc":"2.0","id":` + string(rune('1'+i)) + `,"method":"tools/call","params":{"name":` + call + `}}`)
	}
	hangUp()
	answers := 0
	for ; hear.Scan(); answers++ {
		var v any
		is.NoErr(json.Unmarshal(hear.Bytes(), &v))
		for _, s := range stringsIn(v) {
			if h := hidden(s); h != "" {
				t.Errorf("a model would not see all of %q", h)
			}
		}
	}
	is.Equal(answers, 7)
	is.NoErr(cmd.Wait())
}

// stringsIn are all strings of a JSON value, and of the JSON texts in them.
func stringsIn(v any) (all []string) {
	switch v := v.(type) {
	case string:
		all = append(all, v)
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil {
			all = append(all, stringsIn(inner)...)
		}
	case []any:
		for _, e := range v {
			all = append(all, stringsIn(e)...)
		}
	case map[string]any:
		for name, e := range v {
			all = append(append(all, name), stringsIn(e)...)
		}
	}
	return all
}
