package rpm

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
	"svc/backend/index/repomd"
)

var update = flag.Bool("update", false, "write the golden file anew")

// debian stands for Debian with a few packages of Debian 13 by their canonicals, one
// virtual package, and rows as rpm_debian.tsv has them.
type debian struct {
	packages, canonicals, provided, libraries map[string]string
	rows                                      map[string]Guess
}

func newDebian() *debian {
	d := &debian{
		packages: map[string]string{
			"apache2": "apache-httpd", "bind9": "bind", "bind9-dnsutils": "bind--client", "coreutils": "coreutils",
			"fonts-kacst": "fonts-kacst", "fonts-lohit-knda": "fonts-lohit-knda", "gir1.2-gspell-1": "gspell", "gstreamer1.0-plugins-good": "gstreamer1.0-plugins-good",
			"imagemagick": "imagemagick", "krb5-user": "krb5--client", "kwrite": "kate", "kate": "kate--kate", "ldnsutils": "ldns",
			"libapache2-mod-wsgi-py3": "mod-wsgi--plugin", "libboost-math1.83.0": "boost-math--lib", "libcommons-io-java": "commons-io",
			"libdbi-perl": "libdbi-perl", "libgspell-1-3": "gspell--lib", "libhivex-ocaml": "libhivex-ocaml", "libkate-dev": "libkate--dev", "libldns3t64": "ldns--lib", "libnbd-ocaml-dev": "libnbd-ocaml--dev", "libqt5svg5": "qtsvg--lib",
			"libqt5svg5-dev": "qtsvg--dev", "libqt6svg6": "qt6-svg--lib", "libssl-dev": "openssl--dev", "libssl3t64": "openssl--lib",
			"libx11-6": "libx11--lib", "locales": "glibc--lang", "node-abbrev": "node-abbrev", "openscap-common": "openscap", "openssl": "openssl",
			"perl-base": "perl--base", "php-redis": "php-redis", "python3-requests": "python3-requests", "rake": "rake", "zsh": "zsh",
		},
		canonicals: map[string]string{}, libraries: map[string]string{},
		provided: map[string]string{"libfile-temp-perl": "perl-base"},
		rows: map[string]Guess{
			"bind-utils":       {Relation: api.RelationRenamed, Confidence: 0.95, Targets: []string{"bind9-dnsutils"}, Method: Curated},
			"httpd":            {Relation: api.RelationRenamed, Confidence: 0.95, Targets: []string{"apache2"}, Method: Curated},
			"krb5-workstation": {Relation: api.RelationRenamed, Confidence: 0.95, Targets: []string{"krb5-user"}, Method: Curated},
			"mod_wsgi":         {Relation: api.RelationRenamed, Confidence: 0.95, Targets: []string{"libapache2-mod-wsgi-py3"}, Method: Curated},
			"openscap":         {Relation: api.RelationRenamed, Confidence: 0.95, Targets: []string{"openscap-common"}, Method: Curated},
		},
	}
	for name, canonical := range d.packages {
		d.canonicals[canonical] = name
		if strings.HasSuffix(canonical, "--lib") {
			d.libraries[Stem(name)] = canonical
		}
	}
	return d
}

func (d *debian) Package(name string) (string, bool)   { c, ok := d.packages[name]; return c, ok }
func (d *debian) Canonical(name string) (string, bool) { n, ok := d.canonicals[name]; return n, ok }
func (d *debian) Provided(name string) (string, bool)  { n, ok := d.provided[name]; return n, ok }
func (d *debian) Library(stem string) (string, bool)   { c, ok := d.libraries[stem]; return c, ok }
func (d *debian) Row(name string) (Guess, bool)        { g, ok := d.rows[name]; return g, ok }
func (d *debian) Pattern(name string) (Guess, bool) {
	if strings.HasPrefix(name, "glibc-langpack-") {
		return Guess{Relation: api.RelationIncluded, Confidence: 0.93, Targets: []string{"locales"}, Method: Curated}, true
	}
	return Guess{}, false
}

// TestNamesOfARepository guesses every name of a repository that createrepo_c
// made of packages that rpmbuild made.
func TestNamesOfARepository(t *testing.T) {
	is := is.New(t)
	listed, err := os.Open("testdata/repodata/repomd.xml")
	is.NoErr(err)
	defer listed.Close()
	parts, err := repomd.Parts(listed)
	is.NoErr(err)
	at := slices.IndexFunc(parts, func(p repomd.Part) bool { return p.Type == "primary" })
	packed, err := os.ReadFile("testdata/" + parts[at].Path)
	is.NoErr(err)
	text, err := gzip.NewReader(bytes.NewReader(packed))
	is.NoErr(err)
	debian := newDebian()
	var lines []string
	for p, err := range repomd.Packages(text) {
		is.NoErr(err)
		g, ok := Of(p.Name, debian)
		line := p.Name + "\tnothing"
		if ok {
			line = fmt.Sprintf("%s\t%s\t%s\t%.2f\t%s", p.Name, g.Relation, strings.Join(g.Targets, " "), g.Confidence, g.Method)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		is.NoErr(os.WriteFile("testdata/names.golden", []byte(got), 0o600))
	}
	want, err := os.ReadFile("testdata/names.golden")
	is.NoErr(err)
	is.Equal(got, string(want))
}

func TestNamesAsTheRpmDistributionsSayThem(t *testing.T) {
	is := is.New(t)
	for deb, name := range map[string]string{
		"libdbi-perl": "perl-Dbi", "libssl-dev": "libssl-devel", "ruby-rack": "rubygem-rack", "bash": "bash", "lib-perl": "perl-",
	} {
		is.Equal(Name(deb), name)
	}
	for name, canonical := range map[string]string{
		"NetworkManager": "networkmanager", "bash-doc": "bash--doc", "gtk2-devel": "gtk2--dev", "-doc": "doc", "PyYAML": "pyyaml",
	} {
		is.Equal(Canonical(name), canonical)
	}
	is.Equal(Stem("libx11-6"), Squeeze("libX11"))
	is.Equal(Stem("libssl3t64"), Stem("libssl1.1"))
	is.Equal(Stem("libglib-2_0-0"), Stem("libglib2.0-0t64"))
	is.True(slices.Contains(Names("gtk2--dev"), "gtk2-devel"))
}

func TestModulesOfOCaml(t *testing.T) {
	for name, want := range map[string]string{"ocaml-hivex": "libhivex-ocaml", "ocaml-libnbd-devel": "libnbd-ocaml-dev"} {
		g, ok := Of(name, newDebian())
		is := is.New(t)
		is.True(ok)
		is.Equal(g.Targets, []string{want})
		is.Equal(g.Relation, api.RelationRenamed)
	}
}

// Debian has the documentation of TeX Live beside what it is about, or with it.
func TestDocumentationOfTeXLive(t *testing.T) {
	is := is.New(t)
	debian := newDebian()
	for _, name := range []string{"texlive-base", "texlive-metapost", "texlive-metapost-doc", "texlive-latex-extra", "texlive-latex-extra-doc"} {
		debian.packages[name] = "texlive"
	}
	debian.canonicals["texlive--doc"] = "texlive-metapost-doc"
	debian.rows["texlive-amsfonts"] = Guess{Relation: api.RelationMerged, Confidence: 0.96, Targets: []string{"texlive-base"}, Method: Curated}
	debian.rows["texlive-acmart"] = Guess{Relation: api.RelationMerged, Confidence: 0.96, Targets: []string{"texlive-latex-extra"}, Method: Curated}
	for name, want := range map[string]string{"texlive-amsfonts-doc": "texlive-base", "texlive-acmart-doc": "texlive-latex-extra-doc"} {
		g, ok := Of(name, debian)
		is.True(ok)
		is.Equal(g.Relation, api.RelationMerged)
		is.Equal(g.Targets, []string{want})
	}
}

// TestEveryGuessIsSound holds whatever the name: what it leads to exists, and
// nothing is removed into something.
func TestEveryGuessIsSound(t *testing.T) {
	debian := newDebian()
	known := slices.Sorted(func(yield func(string) bool) {
		for name := range debian.packages {
			if !yield(name) {
				return
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom(known), rapid.StringMatching(`[a-zA-Z0-9._+]{1,8}`),
			rapid.SampledFrom([]string{"perl", "python3", "qt5", "rh-php73", "lib", "fonts", "devel", "libs", "doc", "lang", "javadoc", "debuginfo", "boost"}))
		name := strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), "-")
		if why := unsound(name, debian); why != "" {
			t.Errorf("%q: %s", name, why)
		}
	})
}

// unsound says what is wrong with the guess of a name; nothing where all is well.
func unsound(name string, debian *debian) string {
	g, ok := Of(name, debian)
	again, okAgain := Of(name, debian)
	switch {
	case ok != okAgain || fmt.Sprint(g) != fmt.Sprint(again):
		return "it is guessed otherwise the second time"
	case !ok:
		return ""
	case (g.Relation == api.RelationRemoved) != (len(g.Targets) == 0):
		return fmt.Sprintf("%s into %v", g.Relation, g.Targets)
	case g.Confidence <= 0 || g.Confidence > 1 || g.Method == "":
		return fmt.Sprintf("confidence %v by %q", g.Confidence, g.Method)
	}
	for _, target := range g.Targets {
		if _, ok := debian.Package(target); !ok {
			return target + " does not exist"
		}
	}
	return ""
}

func FuzzOf(f *testing.F) {
	for _, name := range []string{"perl-File-Temp", "qt5-qtsvg-devel", "-", "---", "lib", "fonts-fonts", "rh-php73-", "a-fonts-common", "kacst--fonts", "\x00", "java-1.8.0-openjdk-devel-debug"} {
		f.Add(name)
	}
	debian := newDebian()
	f.Fuzz(func(t *testing.T, name string) {
		if why := unsound(name, debian); why != "" {
			t.Errorf("%q: %s", name, why)
		}
		for _, s := range []string{Name(name), Canonical(name), Stem(name), Slug(name)} {
			if len(s) > 2*len(name)+20 {
				t.Errorf("%q grew to %q", name, s)
			}
		}
	})
}

func TestBeside(t *testing.T) {
	for _, c := range []struct {
		deb, software string
		want          bool
	}{
		{"openvswitch-pki", "openvswitch", true},
		{"libguice-java", "guice", false},
		{"openssh-server", "openssh", false},
		{"nagios4-core", "nagios", false},
		{"valac", "vala", false},
		{"python3-yaml", "python-yaml", false},
		{"bind9", "bind", false},
	} {
		is.New(t).Equal(IsSubpackage(c.deb, c.software), c.want)
	}
}

func TestAlike(t *testing.T) {
	is := is.New(t)
	is.True(Alike("java-21-openjdk-headless", "openjdk-21-jre-headless"))
	is.True(!Alike("java-21-openjdk-headless", "default-jre-headless")) // a word that says nothing of the software
	is.True(Alike("libdb-devel", "libdb5.3-dev"))
}

func TestModulesOfOneVersion(t *testing.T) {
	for name, of := range map[string]bool{"python3.12-pyyaml": true, "python36-six": true, "python3-pyyaml": false, "python-six": false, "pythonic": false, "python3.12": false} {
		if OfVersion(name) != of {
			t.Errorf("%s: %v", name, !of)
		}
	}
}

func TestSpellings(t *testing.T) {
	for name, want := range map[string]string{
		"bash":                    "",
		"ImageMagick":             "imagemagick",
		"google_benchmark":        "google-benchmark",
		"libre2-devel":            "re2-devel re-devel libre-devel",
		"exiv2-devel":             "libexiv2-devel exiv-devel libexiv-devel",
		"python3-":                "",
		"python3-Cycler":          "python3-cycler python3-Cycler python3-python-cycler python3-pycycler cycler",
		"python3-python-dateutil": "python3-Python-dateutil python3-python_dateutil python3-dateutil python3-pydateutil python-dateutil",
		"python3-pyserial":        "python3-Pyserial python3-python-pyserial python3-pypyserial python3-serial pyserial",
	} {
		is.New(t).Equal(strings.Join(slices.Collect(Spellings(name, strings.ToLower(name))), " "), want)
	}
	for range Spellings("python3-a_b-devel", "python3-a_b-devel") {
		break // it does not go on
	}
}
