package rpm_test

import (
	"fmt"
	"path/filepath"
	"strings"

	"svc/.ci/e2e"
)

// dbpath is where the machines have their database.
const dbpath = "var/lib/rpm"

// rpm is that of a Debian, in a root of its own. It gets copies: it writes where it reads.
type rpm struct {
	*e2e.Work
	debian string
}

func newRPM(w *e2e.Work, suite string) rpm {
	return rpm{w, w.Overlay(w.Kept("rpm/"+suite, suite, "rpm"), suite)}
}

// in is the same rpm for a part of the test.
func (r rpm) in(w *e2e.Work) rpm { return rpm{w, r.debian} }

// copy runs rpm on the copy of a root.
func (r rpm) copy(code int, form string, args ...string) e2e.Said {
	return r.Run(code, "chroot", append([]string{r.debian, "rpm", "--root", "/copy", "--dbpath", "/" + dbpath, "--define", "_db_backend " + form}, args...)...)
}

// copied has a copy of a folder in the Debian, instead of the last one.
func (r rpm) copied(folder, as string) {
	r.Shell(0, `rm -rf --one-file-system "$2" && mkdir -p "$(dirname "$2")" && cp -a "$1" "$2"`, folder, filepath.Join(r.debian, as))
}

// makes makes a root with all packages.
func (r rpm) makes(root, form string) {
	r.copied(r.Path("rpms"), "rpms")
	r.Run(0, "chroot", r.debian, "sh", "-ec", `mkdir /made
		rpm="rpm --root /made --dbpath /$1"
		$rpm --define "_db_backend $2" --initdb
		$rpm --define "_db_backend $2" -i --nodeps --noscripts --ignorearch --ignoreos --nosignature --oldpackage $(find /rpms -name "*.rpm" | sort)`, "sh", dbpath, form)
	r.Run(0, "mv", filepath.Join(r.debian, "made"), root)
}

// packages are what rpm of Debian 13 lists, but for keys. Of Berkeley DB it knows how to
// read it. It would pass over packages whose signatures are too old for its taste.
func (r rpm) packages(root, form string) (packages []string) {
	form = strings.Replace(form, "bdb", "bdb_ro", 1)
	r.copied(filepath.Join(root, dbpath), "copy/"+dbpath)
	said := r.copy(0, form, "-qa", "--nosignature", "--nodigest", "--qf", `%{NAME} %|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE} %{ARCH}\n`)
	for line := range strings.Lines(said.Out) {
		if !strings.HasPrefix(line, "gpg-pubkey ") {
			packages = append(packages, strings.Replace(strings.TrimSpace(line), " 0:", " ", 1))
		}
	}
	return packages
}

// changes are what rpm finds below /etc when it verifies: content, links and missing files.
func (r rpm) changes(root, form string) (changes []string) {
	r.copied(root, "copy")
	for line := range strings.Lines(r.copy(1, form, "-Va", "--nodeps", "--noscripts").Out) {
		words := strings.Fields(line) // S.5....T.  c /etc/name
		what, path := words[0], words[len(words)-1]
		switch {
		case !strings.HasPrefix(path, "/etc/"):
		case what == "missing":
			changes = append(changes, "missing "+path)
		case what[2] == '5' || what[4] == 'L':
			changes = append(changes, "changed "+path)
		}
	}
	return changes
}

// The configuration of a package: a file of each kind that rpm tells apart.
const (
	configured = `for f in same changed missing missingok ghost unverified closed plain plainchanged; do mkdir -p %{buildroot}/etc/%{name}; echo "$f" >%{buildroot}/etc/%{name}/$f; done
ln -s same %{buildroot}/etc/%{name}/link; ln -s same %{buildroot}/etc/%{name}/relinked; mkdir -p %{buildroot}/etc/rc.d/init.d; echo x >%{buildroot}/etc/rc.d/init.d/%{name}`
	configuration = `%config /etc/%{name}/same
%config(noreplace) /etc/%{name}/changed
%config(noreplace) /etc/%{name}/missing
%config(missingok) /etc/%{name}/missingok
%ghost %config /etc/%{name}/ghost
%verify(not md5 size mtime) %config(noreplace) /etc/%{name}/unverified
%attr(0600,root,root) %config(noreplace) /etc/%{name}/closed
/etc/%{name}/plain
/etc/%{name}/plainchanged
%config /etc/%{name}/link
%config /etc/%{name}/relinked
/etc/rc.d/init.d/%{name}`
)

// spec is what a package is built of: further lines of its head, how its files are
// installed, and which these are. Build has what rpmbuild is told besides.
type spec struct {
	name, version, head, install, files string
	build                               []string
}

// digest has a package know its files by this algorithm.
func digest(algorithm string) []string {
	return []string{"--define", "_binary_filedigest_algorithm " + algorithm}
}

func specs() []spec {
	const noarch = "BuildArch: noarch\n"
	multi := spec{name: "multi", version: "1.2", install: "mkdir -p %{buildroot}/usr/%{_arch}; echo %{_arch} >%{buildroot}/usr/%{_arch}/multi", files: "/usr/%{_arch}/multi"}
	x86, i686 := multi, multi
	x86.build, i686.build = []string{"--target", "x86_64"}, []string{"--target", "i686"}
	all := []spec{
		{"conf-sha256", "1.2", noarch, configured, configuration, digest("8")},
		{"conf-md5", "1.2", noarch, configured, configuration, digest("1")},
		{"conf-sha1", "1.2", noarch + "Epoch: 7\n", configured, configuration, digest("2")},
		{"modular", "1.2", noarch + "Epoch: 0\nModularityLabel: nodejs:18:8060020220523:ad008a3a\n", "", "", nil},
		{"many", "1.2", noarch, "mkdir -p %{buildroot}/opt/many; for i in $(seq 5000); do : >%{buildroot}/opt/many/file$i; done", "/opt/many", nil},
		x86, i686,
	}
	for _, version := range []string{"5.1", "5.2", "5.3"} {
		modules := "/lib/modules/" + version
		all = append(all, spec{"kernel", version, noarch, "mkdir -p %{buildroot}" + modules + "; echo >%{buildroot}" + modules + "/x", modules, nil})
	}
	return all
}

// build builds all packages.
func build(w *e2e.Work) {
	for _, s := range specs() {
		w.Files(w.Dir, map[string]string{"spec": fmt.Sprintf(
			"Name: %s\nVersion: %s\nRelease: 3\nSummary: a package of the end-to-end test\nLicense: none\nVendor: SVC End to End\nGroup: Test/Group\n%s%%description\nnone\n%%install\n%s\n%%files\n%s\n",
			s.name, s.version, s.head, s.install, s.files)})
		w.Run(0, "env", append(append([]string{
			"HOME=" + w.Dir, "rpmbuild", "--quiet", "-bb", "--define", "_topdir " + w.Path("build"), "--define", "_rpmdir " + w.Path("rpms"),
			"--define", "_binary_payload w6.gzdio", "--define", "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
		}, s.build...), w.Path("spec"))...)
	}
}
