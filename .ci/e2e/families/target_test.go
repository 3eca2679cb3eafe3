package families_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.yaml.in/yaml/v4"

	"svc/.ci/e2e"
	"svc/tools/migration"
)

// moved migrates a machine, which ends with this exit code, and checks what the role does
// to a fresh system of the release. The machine is made by the tools of that system.
func moved(t *testing.T, source func(*testing.T, *e2e.Work, string) string, release, osRelease string, code int) migrated {
	is := is.New(t)
	w := e2e.New(t)
	m := migrated{w, w.Path("out"), w.Overlay(base(t, w), "target")}
	w.SVC(code, "migrate", "--root", source(t, w, m.target), "--target", release, "--out", m.out, "--include-secrets", "--confirm")
	text, err := os.ReadFile(m.out + "/plan.json")
	is.NoErr(err)
	var plan migration.Plan
	is.NoErr(json.Unmarshal(text, &plan))
	m.system(t, osRelease)
	m.archive(t, plan)
	t.Run("the role applies, and changes nothing the second time", func(t *testing.T) {
		m.apply(t, `unreachable=0 +failed=0`)
		m.apply(t, `changed=0 +unreachable=0 +failed=0`)
	})
	t.Run("all packages of the plan are installed", func(t *testing.T) {
		m.chroot(t, append([]string{"rpm", "-q"}, plan.Install...)...)
	})
	t.Run("every file of the role is there, byte by byte, with mode and owner", m.written)
	return m
}

// programs are package managers of others, and what servers run.
const programs = "dnf dnf-plugins-core rpm createrepo-c zypper apache2-bin php8.4-fpm nginx bind9 bind9-utils mariadb-server postfix dovecot-imapd openssh-server chrony haproxy logrotate rsyslog network-manager"

// base is a Debian 13 with the programs; it is made once for each list of them. What a
// fresh system of the rpm families has not is taken away.
func base(t *testing.T, w *e2e.Work) string {
	is := is.New(t)
	w.Run(0, "bash", "../roots.sh")
	from, root := filepath.Join(e2e.Cache(), "roots", "trixie-base"), filepath.Join(e2e.Cache(), "rpm", "trixie-family")
	of, err := os.ReadFile(from + ".recipe")
	is.NoErr(err)
	recipe := fmt.Sprintf("%x", sha256.Sum256([]byte(string(of)+programs+"\n")))[:16]
	if have, err := os.ReadFile(root + ".recipe"); err == nil && strings.TrimSpace(string(have)) == recipe {
		return root
	}
	w.Shell(0, `
		from=$1 root=$2 new=$2.new
		shift 2
		rm -rf --one-file-system "$root" "$new"
		mkdir -p "${root%/*}"
		cp -a "$from" "$new"
		trap 'umount -q -l "$new/proc" "$new/dev" || true' EXIT
		mount -t proc proc "$new/proc"
		mount --bind /dev "$new/dev"
		DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$new" apt-get install -y -qq --no-install-recommends "$@"
		umount -l "$new/proc" "$new/dev"
		rm -rf "$new"/var/cache/apt/archives/*.deb "$new"/etc/{php,mysql,apache2,bind,chrony,nginx/sites-enabled,network,default,sudoers,sudoers.d} "$new"/etc/systemd/system/*.wants
		mkdir -p "$new/etc/sudoers.d"
		mv "$new" "$root"`, append([]string{from, root}, names(programs)...)...)
	is.NoErr(os.WriteFile(root+".recipe", []byte(recipe+"\n"), 0o644))
	return root
}

// system has the target be of a release.
func (m migrated) system(t *testing.T, osRelease string) {
	for _, name := range []string{"etc/os-release", "usr/lib/os-release", "etc/debian_version", "etc/dpkg", "var/lib/rpm"} {
		is.New(t).NoErr(os.RemoveAll(filepath.Join(m.target, name)))
	}
	m.Files(m.target, map[string]string{
		"etc/os-release":     osRelease,
		"usr/lib/os-release": osRelease,
		"etc/rpm/macros":     "%__transaction_unshare %{nil}\n", // / of a chroot is no mount
	})
}

// archive makes a repository of the packages that families.spec describes and, by the
// names of the plan, of packages of nothing; the target knows no other.
func (m migrated) archive(t *testing.T, plan migration.Plan) {
	is := is.New(t)
	described, err := os.ReadFile("families.spec")
	is.NoErr(err)
	modules, err := os.ReadFile("modules.yaml")
	is.NoErr(err)
	spec, all := strings.Builder{}, slices.Clone(plan.Install)
	if plan.Archives != nil {
		all = append(all, plan.Archives.Packages...)
	}
	spec.Write(described)
	for _, name := range all {
		if !strings.Contains(string(described), "\n%package -n "+name+"\n") {
			fmt.Fprintf(&spec, "%%package -n %[1]s\nSummary: none\n%%description -n %[1]s\nnone\n%%files -n %[1]s\n", name)
		}
	}
	m.Files(m.target+"/srv", map[string]string{"families.spec": spec.String(), "modules.yaml": string(modules)})
	m.chroot(t, "env", "HOME=/root", "sh", "-ec", `
		cd /srv
		mkdir archive
		rpmbuild --quiet -bb --define "_topdir /srv/build" --define "_rpmdir /srv/archive" --define "_binary_payload w1.gzdio" families.spec
		rm -rf build /var/lib/rpm /etc/yum.repos.d/* /etc/zypp/repos.d/*
		createrepo_c --quiet archive
		modifyrepo_c --mdtype=modules modules.yaml archive/repodata
		mkdir -p /etc/yum.repos.d /etc/zypp/repos.d
		printf "[base]\nname=base\nbaseurl=file:///srv/archive\ngpgcheck=0\nenabled=1\n" | tee /etc/yum.repos.d/base.repo >/etc/zypp/repos.d/base.repo
		printf "[crb]\nname=crb\nbaseurl=file:///srv/archive\ngpgcheck=0\nenabled=0\n" >/etc/yum.repos.d/crb.repo`)
}

// apply runs the role on the target; recommended packages would only take time here.
func (m migrated) apply(t *testing.T, recap string) {
	t.Helper()
	said := m.In(t).Shell(0, `cd "$1" && env -u TMPDIR ANSIBLE_NOCOWS=1 ansible-playbook -i "$2," -c community.general.chroot -e role_install_recommends=false -e ansible_python_interpreter=/usr/bin/python3 site.yml`, m.out, m.target)
	if !regexp.MustCompile(recap).MatchString(said.Out) {
		t.Fatalf("not %s:\n%s", recap, said.Out)
	}
}

// file is one that the role writes.
type file struct{ Src, Dest, Mode, Owner, Group string }

// written holds every file that the role writes against what is there.
func (m migrated) written(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile(m.out + "/role/defaults/main.yml")
	is.NoErr(err)
	var values struct {
		Files []file `yaml:"role_files"`
	}
	is.NoErr(yaml.Unmarshal(text, &values))
	is.True(len(values.Files) > 0)
	for _, f := range values.Files {
		want, err := os.ReadFile(filepath.Join(m.out, "role/files", f.Src))
		is.NoErr(err)
		got, err := os.ReadFile(m.target + f.Dest)
		is.NoErr(err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s has another content", f.Dest)
		}
		if state := m.chroot(t, "stat", "-c", "%04a %U %G", f.Dest).Line(); state != f.Mode+" "+f.Owner+" "+f.Group {
			t.Errorf("%s has %s, not %s %s %s", f.Dest, state, f.Mode, f.Owner, f.Group)
		}
	}
}
