package repomd

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"svc/backend/index/record"
)

// As createrepo_c writes them, without what is not read.
const (
	repomdXML = `<?xml version="1.0" encoding="UTF-8"?>
<repomd xmlns="http://linux.duke.edu/metadata/repo" xmlns:rpm="http://linux.duke.edu/metadata/rpm">
  <revision>1</revision>
  <data type="primary"><location href="repodata/primary.xml"/></data>
  <data type="filelists"><location href="repodata/filelists.xml"/></data>
  <data type="modules"><location href="repodata/modules.yaml"/></data>
</repomd>`
	primaryXML = `<?xml version="1.0" encoding="UTF-8"?>
<metadata xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm" packages="4">
<package type="rpm"><name>nginx</name><arch>x86_64</arch><version epoch="1" ver="1.20.1" rel="14.el9"/>
<format><rpm:sourcerpm>nginx-1.20.1-14.el9.src.rpm</rpm:sourcerpm>
<rpm:provides><rpm:entry name="webserver"/><rpm:entry name="nginx" flags="EQ" epoch="1" ver="1.20.1" rel="14.el9"/></rpm:provides>
<rpm:requires><rpm:entry name="(a if b)"/></rpm:requires>
<rpm:obsoletes><rpm:entry name="nginx-old" flags="LT" epoch="0" ver="1.10"/></rpm:obsoletes>
<file>/etc/nginx/nginx.conf</file></format></package>
<package type="rpm"><name>nginx</name><arch>x86_64</arch><version epoch="1" ver="1.22.1" rel="3.module"/>
<format><rpm:sourcerpm>nginx-1.22.1-3.module.src.rpm</rpm:sourcerpm></format></package>
<package type="rpm"><name>nginx</name><arch>i686</arch><version epoch="9" ver="9" rel="9"/><format/></package>
<package type="rpm"><name>nginx</name><arch>src</arch><version epoch="9" ver="9" rel="9"/><format/></package>
</metadata>`
	filelistsXML = `<?xml version="1.0" encoding="UTF-8"?>
<filelists xmlns="http://linux.duke.edu/metadata/filelists" packages="1">
<package pkgid="x" name="nginx" arch="x86_64"><version epoch="1" ver="1.20.1" rel="14.el9"/>
<file>/usr/lib/systemd/system/nginx.service</file><file type="dir">/etc/nginx</file><file>/usr/sbin/nginx</file></package>
</filelists>`
	modulesYAML = `---
document: modulemd
version: 2
data:
  name: nginx
  stream: 1.20
  artifacts:
    rpms:
    - nginx-1:1.20.1-14.el9.x86_64
...
---
document: modulemd
version: 2
data:
  name: nginx
  stream: "1.22"
  artifacts:
    rpms: [nginx-1:1.22.1-3.module.x86_64]
...
---
document: modulemd-defaults
version: 1
data: {module: nginx, stream: "1.20"}
`
)

func repositoryFS() fstest.MapFS {
	return fstest.MapFS{
		"r/repodata/repomd.xml":    {Data: []byte(repomdXML)},
		"r/repodata/primary.xml":   {Data: []byte(primaryXML)},
		"r/repodata/filelists.xml": {Data: []byte(filelistsXML)},
		"r/repodata/modules.yaml":  {Data: []byte(modulesYAML)},
	}
}

func TestTheDefaultStreamOfAPackageComesBeforeNewerOnes(t *testing.T) {
	is := is.New(t)
	dirs, err := Repositories(repositoryFS())
	is.NoErr(err)
	is.Equal(dirs, []string{"r"})
	r := Release{}
	is.NoErr(r.Add(t.Context(), repositoryFS(), "r", "appstream", nil))
	is.Equal(r.Names(), []string{"nginx"}) // neither sources nor 32 bits
	p := r["nginx"]
	is.Equal(p.Version, "1:1.20.1-14.el9")
	is.Equal(p.Source, "nginx")
	is.Equal(p.Streams, []string{"nginx:1.20", "nginx:1.22"}) // 1.20 as it is written
	is.True(!p.Hidden)
	is.Equal(p.Provides, []string{"webserver", "nginx"})
	is.Equal(p.Obsoletes, []record.Obsolete{{Name: "nginx-old", Flags: "LT", Version: "1.10"}})
	is.Equal(p.Shipped, []string{"/etc/nginx/nginx.conf", "/usr/lib/systemd/system/nginx.service"})
}

func TestObsoletesCoverTheVersionsOfTheirRange(t *testing.T) {
	for _, c := range []struct {
		o       record.Obsolete
		version string
		want    bool
	}{
		{record.Obsolete{Name: "a", Flags: "LT", Version: "2"}, "1.9-1", true},
		{record.Obsolete{Name: "a", Flags: "LT", Version: "2"}, "2-1", false}, // the bound has no release: all of 2 are 2
		{record.Obsolete{Name: "a", Flags: "LE", Version: "2"}, "2-7", true},
		{record.Obsolete{Name: "a", Flags: "LT", Version: "1:1"}, "7-1", true},
		{record.Obsolete{Name: "a", Flags: "EQ", Version: "2-1"}, "2-1", true},
		{record.Obsolete{Name: "a", Flags: "EQ", Version: "2-1"}, "2-2", false},
		{record.Obsolete{Name: "a", Flags: "GT", Version: "2"}, "3-1", true},
		{record.Obsolete{Name: "a", Flags: "GE", Version: "2"}, "1-1", false},
		{record.Obsolete{Name: "a", Flags: "", Version: ""}, "3-1", true},
		{record.Obsolete{Name: "a", Flags: "LT", Version: "2"}, "", true}, // not known: taken for an old one
	} {
		if got := c.o.Covers(c.version); got != c.want {
			t.Errorf("%v covers %q: %v", c.o, c.version, got)
		}
	}
}

func TestDamagedRepositoriesAreErrors(t *testing.T) {
	for name, change := range map[string][2]string{
		"primary missing":     {`type="primary"`, `type="other"`},
		"a way out":           {`repodata/primary.xml`, `../../etc/passwd`},
		"cut off":             {`</repomd>`, ``},
		"a wrong digest":      {`<location href="repodata/primary.xml"/>`, `<checksum type="sha256">00</checksum><location href="repodata/primary.xml"/>`},
		"a part that is gone": {`repodata/filelists.xml`, `repodata/gone.xml`},
	} {
		root := repositoryFS()
		root["r/repodata/repomd.xml"] = &fstest.MapFile{Data: []byte(strings.Replace(repomdXML, change[0], change[1], 1))}
		if err := (Release{}).Add(t.Context(), root, "r", "r", nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	root := repositoryFS()
	root["r/repodata/primary.xml"] = &fstest.MapFile{Data: []byte(primaryXML[:len(primaryXML)/2])}
	is.New(t).True((Release{}).Add(t.Context(), root, "r", "r", nil) != nil)
}

// endless is an element without an end.
type endless struct{ begun bool }

func (e *endless) Read(p []byte) (int, error) {
	if !e.begun {
		e.begun = true
		return copy(p, `<metadata><package type="rpm"><name>`), nil
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestAnElementWithoutAnEndIsAnError(t *testing.T) {
	is := is.New(t)
	for _, err := range Packages(&endless{}) {
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), "more than"))
	}
}

func FuzzPackages(f *testing.F) {
	f.Add([]byte(primaryXML))
	f.Add([]byte(filelistsXML))
	f.Add([]byte(repomdXML))
	f.Fuzz(func(t *testing.T, b []byte) {
		for p, err := range Packages(bytes.NewReader(b)) {
			if err == nil && (p.Name == "" || strings.ContainsAny(p.Name, " \t\n") || p.Version == "") {
				t.Errorf("%+v", p)
			}
		}
		for range Filelists(bytes.NewReader(b)) {
		}
		if parts, err := Parts(bytes.NewReader(b)); err == nil {
			for _, p := range parts {
				if strings.HasPrefix(p.Path, "/") || strings.HasPrefix(p.Path, "..") {
					t.Errorf("%q leads out", p.Path)
				}
			}
		}
	})
}

func FuzzModules(f *testing.F) {
	f.Add([]byte(modulesYAML))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadModules(bytes.NewReader(b))
		if err == nil {
			m.Of(Package{Name: "nginx", Version: "1:1.20.1-14.el9", Arch: "x86_64"})
		}
	})
}
