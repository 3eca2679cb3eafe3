package tools

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/secret/secrettest"
	"svc/tools/assessment"
	"svc/tools/dataplan"
	"svc/tools/evidence"
	"svc/tools/machine"
	"svc/tools/migration"
	"svc/tools/move"
	"svc/tools/tool"
	"svc/tools/verification"
)

// Two keys that may log in, one of them with a secret in its options.
const (
	keyOne = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Qy1jVJ3pJ7m6Xn3v0tq0rKk1mG9y3m5c8uJt0Qy1j one@office"
	keyTwo = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB7w2b3cJt0Qy1jVJ3pJ7m6Xn3v0tq0rKk1mG9y3m5c8 two@office"
)

// planted is a machine with secrets in all files of secrettest, and in places that
// are no files of /etc. It gives their values.
func planted(t *testing.T) (root string, values []string) {
	t.Helper()
	is := is.New(t)
	root = copyHost(t)
	write := func(name, text string, mode os.FileMode) {
		file := filepath.Join(root, name)
		is.NoErr(os.MkdirAll(filepath.Dir(file), 0o755))
		is.NoErr(os.RemoveAll(file))
		is.NoErr(os.WriteFile(file, []byte(text), 0o644))
		is.NoErr(os.Chmod(file, mode))
	}
	for _, f := range secrettest.Files() {
		write(f.Path, f.Text, 0o644)
		values = append(values, f.Values...)
	}
	var history bytes.Buffer
	z := zlib.NewWriter(&history)
	_, err := io.WriteString(z, "blob 30\x00anna:etckeeper-Digest-77:1:0:99")
	is.NoErr(err)
	is.NoErr(z.Close())
	write("etc/.git/objects/01/2345", history.String(), 0o444)
	write("etc/vault/deep/t", "only the folder above is closed: vault-Value-1\n", 0o444)
	is.NoErr(os.Chmod(filepath.Join(root, "etc/vault"), 0o700))
	write("var/spool/cron/crontabs/root", "15 3 * * * PGPASSWORD=tab-Passw0rd-1 pg_dump shop\n", 0o600)
	write("var/spool/cron/crontabs/backup", "15 4 * * * /usr/local/bin/backup\n", 0o600)
	write("home/deploy/.ssh/authorized_keys", `command="/usr/bin/pull --password=keys-Passw0rd",no-pty `+keyOne+"\n"+keyTwo+"\n", 0o600)
	write("etc/sudoers.d/ops", "deploy ALL=(root) NOPASSWD: /usr/bin/systemctl restart shop\n", 0o440)
	write("etc/fstab", "/dev/sda1 / ext4 defaults 0 1\n//nas/x /srv/x cifs username=x,password=fstab-Passw0rd,ro 0 0\n", 0o644)
	write("etc/apt/sources.list.d/vendor.list", "deb https://anna:aptline-Passw0rd@repo.example.org/debian bullseye main\n", 0o644)
	write("etc/default/grub", "GRUB_CMDLINE_LINUX=\"quiet ip=dhcp shop.password=grub-Passw0rd\"\n", 0o644)
	write("etc/profile.d/proxy.sh", "export http_proxy=http://u:profile-Passw0rd@proxy:3128/\n", 0o644)
	return root, append(values, "etckeeper-Digest-77", "vault-Value-1", "tab-Passw0rd-1", "fstab-Passw0rd", "aptline-Passw0rd", "grub-Passw0rd", "profile-Passw0rd", "keys-Passw0rd")
}

// shown are the values that stand in a text as they are, as JSON, HTML or YAML
// writes them, in base64, or packed.
func shown(text []byte, values []string) (found []string) {
	for _, v := range values {
		quoted, _ := json.Marshal(v)
		for _, form := range []string{v, html.EscapeString(v), string(quoted[1 : len(quoted)-1])} {
			if bytes.Contains(text, []byte(form)) {
				found = append(found, v)
				break
			}
		}
	}
	if z, err := zlib.NewReader(bytes.NewReader(text)); err == nil {
		if plain, err := io.ReadAll(z); err == nil {
			found = append(found, shown(plain, values)...)
		}
	}
	for _, run := range encodedRun.FindAll(text, -1) {
		if plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(run), "=")); err == nil {
			found = append(found, shown(plain, values)...)
		}
	}
	return found
}

var encodedRun = regexp.MustCompile(`[A-Za-z0-9+/]{16,}={0,2}`)

func TestShownFindsWhatIsPacked(t *testing.T) {
	is := is.New(t)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := io.WriteString(z, "x hunter2 y")
	is.NoErr(err)
	is.NoErr(z.Close())
	for _, text := range []string{"hunter2", base64.StdEncoding.EncodeToString([]byte("a line with hunter2 in it")), b.String(), base64.StdEncoding.EncodeToString(b.Bytes())} {
		is.Equal(shown([]byte(text), []string{"hunter2"}), []string{"hunter2"})
	}
	is.Equal(len(shown([]byte("nothing"), []string{"hunter2"})), 0)
}

// looks are all that tools say of a machine: results, and bytes of their folders.
func looks(t *testing.T, root string, secrets bool) map[string][]byte {
	t.Helper()
	is := is.New(t)
	env, out, all := newEnv(t), t.TempDir(), map[string][]byte{}
	note := func(what string, result any, err error) {
		is.NoErr(err)
		b, err := json.Marshal(result)
		is.NoErr(err)
		all[what] = b
	}
	m := machine.Machine{Root: root}
	assessed, err := assessment.Assess(t.Context(), env, assessment.Input{Machine: m, Detail: tool.DetailFull})
	note("assess", assessed, err)
	for _, target := range []string{"debian-13", "almalinux-9", "debian-11"} {
		in := move.Input{Machine: m, Target: target, Out: filepath.Join(out, target), Confirm: true, IncludeSecrets: secrets}
		migrated, err := move.Migrate(t.Context(), env, in)
		note("migrate "+target, migrated, err)
	}
	// The machine as it is after its migration, with other lines in its files.
	is.NoErr(os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost # password=after-Passw0rd\n"), 0o644))
	verified, err := verification.Verify(t.Context(), env, verification.Input{Machine: m, Source: filepath.Join(out, "debian-11"), Out: filepath.Join(out, "verification"), Detail: tool.DetailFull})
	note("verify", verified, err)
	drift, err := verification.Drift(t.Context(), env, verification.Input{Machine: m, Source: filepath.Join(out, "debian-13"), Detail: tool.DetailFull})
	note("drift", drift, err)
	discovered, err := dataplan.Discover(t.Context(), env, dataplan.DiscoverInput{Machine: m})
	note("data discover", discovered, err)
	data, err := dataplan.Plan(t.Context(), env, dataplan.PlanInput{Machine: m, Target: "debian-13", Out: filepath.Join(out, "data"), SourceOffline: true, Confirm: true})
	note("data plan", data, err)
	for _, folder := range []string{"debian-13", "almalinux-9", "debian-11", "verification", "data"} {
		for name, content := range contents(t, filepath.Join(out, folder)) {
			all[folder+"/"+name] = []byte(content)
		}
	}
	return all
}

func TestNoSecretOfTheMachineIsShownOrCarried(t *testing.T) {
	is := is.New(t)
	root, values := planted(t)
	all := looks(t, root, false)
	is.True(len(values) > 150 && len(all) > 50)
	for what, text := range all {
		for _, v := range shown(text, append(values, "after-Passw0rd")) {
			t.Errorf("%s has %s", what, v)
		}
	}
	is.True(bytes.Contains(all["assess"], []byte("PGPASSWORD=[secret] pg_dump shop"))) // the line is shown, masked
}

// TestWhatHasNoSecretIsCarriedThoughItIsClosed has the crontab and the rules of
// sudo that say what the machine does.
func TestWhatHasNoSecretIsCarriedThoughItIsClosed(t *testing.T) {
	is := is.New(t)
	in := confirmed(t)
	in.Root, _ = planted(t)
	migrate(t, newEnv(t), in)
	var p migration.Plan
	files := contents(t, in.Out)
	is.NoErr(json.Unmarshal([]byte(files[evidence.PlanFile]), &p))
	carried := func(name string) migration.Action {
		i := slices.IndexFunc(p.Configuration, func(c migration.Config) bool { return c.From == name })
		is.True(i >= 0)
		return p.Configuration[i].Action
	}
	is.Equal(carried("/var/spool/cron/crontabs/backup"), migration.Copy)
	is.Equal(carried("/etc/sudoers.d/ops"), migration.Copy)
	is.Equal(carried("/var/spool/cron/crontabs/root"), migration.LeftOut)
	is.Equal(carried("/etc/vault/deep/t"), migration.LeftOut)
	is.Equal(carried("/etc/sudoers.d/deploy"), migration.LeftOut)

	i := slices.IndexFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "configuration.secrets-left-out" })
	is.True(i >= 0)
	is.True(slices.Contains(p.Findings[i].Evidence, assess.Evidence{Path: "/var/spool/cron/crontabs/root", Line: 1}))
	is.True(slices.Contains(p.Findings[i].Evidence, assess.Evidence{Path: "/etc/redis/redis.conf", Line: 2}))
	closedFolder(t, in.Out)
	is.True(strings.Contains(files[evidence.PlanFile], "accounts.keys-left-out"))
	is.True(strings.Contains(roleText(files), keyTwo) && !strings.Contains(roleText(files), keyOne)) // which would log in without its options
}

// roleText are the files that a role carries.
func roleText(files map[string]string) (all string) {
	for name, content := range files {
		if strings.HasPrefix(name, "role/files/") {
			all += content
		}
	}
	return all
}

// closedFolder: what is closed on the machine is closed in its copy.
func closedFolder(t *testing.T, out string) {
	t.Helper()
	is := is.New(t)
	is.NoErr(filepath.WalkDir(out, func(name string, _ os.DirEntry, err error) error {
		is.NoErr(err)
		info, err := os.Lstat(name)
		is.NoErr(err)
		is.Equal(info.Mode().Perm()&0o077, os.FileMode(0))
		return nil
	}))
}

func TestSecretsAreNamedWhereTheyGoAlong(t *testing.T) {
	is := is.New(t)
	in := confirmed(t)
	var values []string
	in.Root, values = planted(t)
	in.IncludeSecrets = true
	migrate(t, newEnv(t), in)
	files := contents(t, in.Out)
	for _, name := range []string{evidence.AssessmentFile, evidence.PlanFile, evidence.ReportFile} { // what people read shows none
		is.Equal(shown([]byte(files[name]), values), nil)
	}
	is.True(strings.Contains(files[evidence.PlanFile], "configuration.secrets-carried"))
	role := roleText(files)
	is.True(strings.Contains(role, "--password=keys-Passw0rd\",no-pty "+keyOne) && strings.Contains(files[evidence.PlanFile], "accounts.keys-carried"))
	is.True(strings.Contains(role, "r3dis-Passw0rd") && strings.Contains(role, "tab-Passw0rd-1") && strings.Contains(role, "vault-Value-1"))
	is.True(!strings.Contains(role, "etckeeper-Digest")) // the history never goes along
	closedFolder(t, in.Out)
}
