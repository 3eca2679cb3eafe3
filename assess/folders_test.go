package assess

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"
)

func TestAptSetting(t *testing.T) {
	for text, want := range map[string]string{
		`APT::Install-Recommends "false";`:                                       "false",
		"// x\nAPT { Install-Recommends \"0\"; Get { Assume-Yes \"true\"; }; };": "0",
		"APT\n{\n  install-recommends no;\n}":                                    "no",
		`/* APT::Install-Recommends "false"; */ # "x`:                            "",
		`APT::Install-Recommends "true"; APT::Install-Recommends "false";`:       "false",
		`}}};;{{;APT::Install-Recommends`:                                        "",
		`X { APT::Install-Recommends "false"; };`:                                "",
	} {
		is.New(t).Equal(aptSetting(text, aptRecommends), want)
	}
}

// TestFolders: what no package brings is listed with its mode; what a package
// brings, what belongs to the machine alone and what is in a service's own folder
// is not.
func TestFolders(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	is.NoErr(os.CopyFS(root, os.DirFS("../fixtures/hosts/debian-11-web")))
	for dir, mode := range map[string]os.FileMode{
		"etc/letsencrypt/archive": 0o700, "var/log/named/old": 0o2750, "var/log/journal/0123456789abcdef0123456789abcdef": 0o755,
		"etc/app": 0o755, "etc/lvm/backup": 0o700, "etc/nginx/sites-available": 0o755, "etc/nginx/sites-enabled": 0o755,
	} {
		is.NoErr(os.MkdirAll(filepath.Join(root, dir), 0o755))
		is.NoErr(os.Chmod(filepath.Join(root, dir), mode&0o777|os.ModeSetgid*(mode>>10&1)))
	}
	for _, file := range []string{"sites-available/default", "sites-available/shop", "sites-enabled/shop"} {
		is.NoErr(os.WriteFile(filepath.Join(root, "etc/nginx", file), nil, 0o644))
	}
	is.NoErr(os.WriteFile(filepath.Join(root, "var/lib/dpkg/info/curl.list"), []byte("/.\n/etc\n/etc/app\n/var/log\n"), 0o644))
	a, err := assessDir(t, root)
	is.NoErr(err)
	modes := map[string]string{}
	for _, f := range a.Folders {
		modes[f.Path] = f.Mode
	}
	is.Equal(modes["/etc/letsencrypt/archive"], "0700")
	is.Equal(modes["/var/log/named/old"], "2750")
	for _, absent := range []string{"/etc/app", "/etc/lvm/backup", "/var/log/journal/0123456789abcdef0123456789abcdef"} {
		_, there := modes[absent]
		is.True(!there)
	}
	is.True(slices.Contains(a.Disabled, "/etc/nginx/sites-enabled/default"))
	is.True(!slices.Contains(a.Disabled, "/etc/nginx/sites-enabled/shop"))
}
