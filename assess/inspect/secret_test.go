package inspect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/secret/secrettest"
)

// copyOpen copies a root and lets all read it, whatever the umask of the checkout.
func copyOpen(t *testing.T, dir, root string) {
	t.Helper()
	is := is.New(t)
	is.NoErr(os.CopyFS(dir, os.DirFS(root)))
	is.NoErr(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		is.NoErr(err)
		mode := info.Mode().Perm() | 0o644
		if d.IsDir() {
			mode = 0o755
		}
		return os.Chmod(name, mode)
	}))
}

// TestPlantedFilesAreSecret: every file of secrettest is secret though everybody
// may read it, and nothing of it is in the assessment.
func TestPlantedFilesAreSecret(t *testing.T) {
	is := is.New(t)
	files, values := map[string]string{}, []string{}
	for _, f := range secrettest.Files() {
		files[f.Path] = f.Text
		values = append(values, f.Values...)
	}
	a := mustAssess(t, newMachine(t, files))
	missed := 0
	for name := range files {
		if c := configOf(a, "/"+name); c == nil || !c.Secret {
			t.Logf("/%s is not found to be secret", name)
			missed++
		}
	}
	is.Equal(missed, 0)
	all, err := json.Marshal(a)
	is.NoErr(err)
	for _, v := range values {
		is.True(!strings.Contains(string(all), v))
	}
}

// TestFewFilesAreHeldBackInVain counts the files of the fixtures, all of them
// readable, that are taken for secrets and are none: at most 2 in 100.
func TestFewFilesAreHeldBackInVain(t *testing.T) {
	is := is.New(t)
	secret := []string{
		"/etc/shadow", "/etc/gshadow", "/etc/mysql/debian.cnf", "/etc/shop app/database.ini", "/etc/ssl/private/shop.key", "/etc/ssl/edge.key",
		"/etc/NetworkManager/system-connections/office.nmconnection", "/etc/krb5.keytab", "/etc/openldap/slapd.d/cn=config/olcDatabase={2}hdb.ldif", "/etc/pki/tls/private/shop.key", "/etc/redis.conf", "/etc/sssd/sssd.conf", "/etc/cron.d/backup",
	}
	roots, err := os.ReadDir("../../fixtures/hosts")
	is.NoErr(err)
	all, inVain := 0, 0
	for _, root := range roots {
		dir := filepath.Join(t.TempDir(), root.Name())
		copyOpen(t, dir, filepath.Join("../../fixtures/hosts", root.Name()))
		a, err := assessDir(t, dir)
		is.True(err == nil || errors.Is(err, assess.ErrCorrupt))
		for _, c := range a.Configuration {
			all++
			if c.Secret && !slices.Contains(secret, c.Path) {
				t.Logf("%s: %s", root.Name(), c.Path)
				inVain++
			}
		}
	}
	t.Logf("%d of %d files", inVain, all)
	is.True(all > 150)
	is.True(inVain*50 <= all)
}

func TestAFileIsAsClosedAsItsPath(t *testing.T) {
	is := is.New(t)
	dir := newMachine(t, map[string]string{"etc/vault/deep/t": "x\n", "etc/open/t": "x\n", "etc/sudoers.d/a": "a ALL=(ALL) ALL\n", "etc/cron.d/c": "1 1 * * * root x\n"})
	is.NoErr(os.Chmod(filepath.Join(dir, "etc/vault"), 0o700))
	is.NoErr(os.Chmod(filepath.Join(dir, "etc/sudoers.d"), 0o750))
	is.NoErr(os.Chmod(filepath.Join(dir, "etc/cron.d"), 0o700))
	a := mustAssess(t, dir)
	is.True(configOf(a, "/etc/vault/deep/t").Secret)
	is.True(!configOf(a, "/etc/open/t").Secret)
	is.True(!configOf(a, "/etc/sudoers.d/a").Secret) // closed by habit
	is.True(slices.Contains(a.Secrets, assess.Secret{Kind: assess.SecretClosed, Evidence: assess.Evidence{Path: "/etc/vault/deep/t", Line: 0}}))
	is.True(a.Cron[0].Hidden)
}

func TestVersionControlStaysBehind(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{"etc/.git/objects/01/23": "x", "etc/.etckeeper": "x", "etc/shop/.svn/entries": "x", "etc/shop/a": "x"}))
	for _, c := range a.Configuration {
		is.True(!strings.Contains(c.Path, "/.git/") && !strings.Contains(c.Path, "/.svn/") && c.Path != "/etc/.etckeeper")
	}
	i := slices.IndexFunc(a.Findings, func(f assess.Finding) bool { return f.Key == "configuration.version-control" })
	is.True(i >= 0)
	is.Equal(len(a.Findings[i].Evidence), 3)
}

func TestSecretsOfBigFiles(t *testing.T) {
	is := is.New(t)
	line := "key of no secret = none\n"
	a := mustAssess(t, newMachine(t, map[string]string{
		"etc/late": strings.Repeat(line, 2*assess.SearchedAtOnce/len(line)) + "password = hunter2\n",
		"etc/big":  strings.Repeat(line, assess.MaxSearched/len(line)+1),
	}))
	is.True(slices.Contains(a.Secrets, assess.Secret{Kind: "password", Evidence: assess.Evidence{Path: "/etc/late", Line: 2*assess.SearchedAtOnce/len(line) + 1}}))
	is.True(slices.Contains(a.Secrets, assess.Secret{Kind: assess.SecretUnread, Evidence: assess.Evidence{Path: "/etc/big", Line: 0}}))
}
