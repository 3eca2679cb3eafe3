package role

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// alpineRole is a role towards Alpine, in a folder.
func alpineRole(t *testing.T) string {
	is := is.New(t)
	p, a := plan()
	p.Target, p.Disabled = "alpine-3.22", nil
	files, err := Render(p, a, Source{Read: func(path string) ([]byte, error) { return []byte("content of " + path), nil }})
	is.NoErr(err)
	dir := t.TempDir()
	for name, content := range files {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return dir
}

func TestRoleOfAlpine(t *testing.T) {
	is := is.New(t)
	dir := alpineRole(t)
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		is.NoErr(err)
		return string(b)
	}
	is.True(strings.Contains(read("role/tasks/packages.yml"), "community.general.apk"))
	is.True(strings.Contains(read("role/tasks/services.yml"), "svc_services:"))
	_, err := os.Stat(filepath.Join(dir, "role/library/svc_units.py"))
	is.True(os.IsNotExist(err)) // it asks systemd
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("Ansible is not here: the syntax is not checked")
	}
	check := exec.Command("ansible-playbook", "--syntax-check", "-i", "localhost,", "site.yml")
	check.Dir = dir
	out, err := check.CombinedOutput()
	if err != nil {
		t.Fatalf("%s", out)
	}
}

// TestServicesOnTheMachineOfTheProject has the role's module look at the services of a
// machine of Alpine, whose /etc and database stand in the place of this one's.
func TestServicesOnTheMachineOfTheProject(t *testing.T) {
	is := is.New(t)
	dir := alpineRole(t)
	root, err := filepath.Abs("../../fixtures/hosts/alpine-3.18-edge")
	is.NoErr(err)
	if os.Getuid() != 0 || exec.Command("unshare", "--mount", "python3", "-c", "import ansible").Run() != nil {
		t.Skip("only root may mount another /etc, and Ansible has to be here")
	}
	arguments, err := json.Marshal(map[string]any{"ANSIBLE_MODULE_ARGS": map[string]any{
		"_ansible_check_mode": true, "_ansible_remote_tmp": t.TempDir(), "at_boot": []string{"networking"}, "reloaded": []string{"sshd"}, "paths": []string{"/etc/nginx/nginx.conf"},
		"services": []map[string]any{
			{"name": "nginx", "was": "nginx.service", "state": "enabled", "own": false},
			{"name": "sshd", "was": "ssh.service", "state": "disabled", "own": false},
			{"name": "redis", "was": "redis-server.service", "state": "enabled", "own": false},
			{"name": "functions.sh", "was": "x", "state": "enabled", "own": false},
			{"name": "nftables", "was": "nftables.service", "state": "masked", "own": false},
			{"name": "elsewhere", "was": "elsewhere.service", "state": "disabled", "own": false},
		},
	}})
	is.NoErr(err)
	module := exec.Command("unshare", "--mount", "sh", "-ec", `mount --bind "$1/etc" /etc; exec python3 "$2"`, "sh", root, filepath.Join(dir, "role/library/svc_services.py"))
	module.Stdin = strings.NewReader(string(arguments))
	out, err := module.Output()
	if err != nil {
		t.Fatalf("%s %v", out, err)
	}
	var said struct {
		Changed  bool
		Services []string
		Notes    []string
	}
	is.NoErr(json.Unmarshal(out, &said))
	is.True(said.Changed)
	is.Equal(said.Services, []string{"sshd: disabled", "functions.sh: enabled", "nftables: masked"}) // nginx runs already
	is.True(slices.Contains(said.Notes, "redis is not here, so it could not be enabled"))
}

// TestPackagesOfAlpine asks the module which services a file is about, of the database
// of that machine.
func TestPackagesOfAlpine(t *testing.T) {
	is := is.New(t)
	if exec.Command("python3", "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here")
	}
	ask := exec.Command("python3", "-c", `import sys; sys.path.insert(0, sys.argv[1]); import svc_services as s
book = s.packages(sys.argv[2])
print([sorted(s.concerned(p, *book)) for p in sys.argv[3:]])`, filepath.Join(alpineRole(t), "role/library"), "../../fixtures/hosts/alpine-3.18-edge/lib/apk/db/installed",
		"/etc/nginx/http.d/new.conf", "/etc/conf.d/sshd", "/etc/nftables.nft", "/etc/motd", "/etc/init.d/proxyd")
	out, err := ask.CombinedOutput()
	is.NoErr(err)
	is.Equal(strings.TrimSpace(string(out)), "[['nginx'], ['sshd'], ['nftables'], [], ['proxyd']]")
}
