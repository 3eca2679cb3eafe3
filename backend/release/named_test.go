package release

import (
	"slices"
	"testing"

	"github.com/matryer/is"
)

func TestNamesThatPeopleWrite(t *testing.T) {
	for name, want := range map[string]string{
		"debian-13": "debian-13", "Debian 13": "debian-13", "debian13": "debian-13", " debian_13 ": "debian-13", "trixie": "debian-13",
		"alma9": "almalinux-9", "AlmaLinux 9.4": "almalinux-9", "almalinux 9": "almalinux-9", "rocky9": "rocky-9", "Rocky Linux 9": "rocky-9",
		"rhel9": "rhel-9", "RHEL-9.4": "rhel-9", "jammy": "ubuntu-22.04", "Red Hat Enterprise Linux 9.4": "rhel-9", "oracle linux 8": "ol-8", "ubuntu24.04": "ubuntu-24.04", "Ubuntu 24.04 LTS": "ubuntu-24.04",
		"centos stream 9": "centos-9", "amazon linux 2023": "amzn-2023", "openSUSE Leap 15.6": "opensuse-leap-15.6",
		"ubuntu-noble": "ubuntu-24.04", "Debian GNU/Linux 13 (trixie)": "debian-13", "debian 13.1": "debian-13", "Ubuntu 24.04.3 LTS": "ubuntu-24.04", "deb13": "debian-13",
		"SLES 15 SP6": "sles-15", "sles15sp5": "sles-15", "SUSE Linux Enterprise Server 12 SP5": "sles-12", "f42": "fedora-42", "CentOS 9 Stream": "centos-9", "AlmaLinux OS 9": "almalinux-9",
		"Rocky Linux 9.4 (Blue Onyx)": "rocky-9", "oel7": "ol-7", "Amazon Linux 2023.5": "amzn-2023",
	} {
		r, ok := Named(name)
		if !ok || r.Slug != want {
			t.Errorf("%q is %q, not %q", name, r.Slug, want)
		}
	}
	for _, name := range []string{"", "windows-2022", "latest", "debian", "13", "alma", "debian-99", "../debian-13", "debian-noble", "ubuntu-23.04", "noble-debian", "debian 13 14"} {
		if r, ok := Named(name); ok {
			t.Errorf("%q is %q", name, r.Slug)
		}
	}
}

func TestSuggestions(t *testing.T) {
	is := is.New(t)
	is.True(slices.Contains(Suggest("debian-99", 3), "debian-13"))
	is.Equal(Suggest("alma 99", 1)[0], "almalinux-10")
	is.True(slices.Contains(Suggest("debain 13", 3), "debian-13"))
	is.Equal(Suggest("ubuntu 1", 1)[0][:7], "ubuntu-")
	is.Equal(len(Suggest("windows-2022", 3)), 0)
	is.Equal(len(Suggest("", 3)), 0)
	is.Equal(len(Suggest("ubuntu", 1)), len(Suggest("ubuntu 1.2", 99))) // all, where no version was said
	is.True(slices.Contains(Suggest("el9", 3), "rocky-9"))
	is.True(slices.Contains(Suggest("EL 9.4", 3), "almalinux-9"))
	is.True(!slices.Contains(Suggest("el9", 3), "rocky-8"))
	is.Equal(Suggest("centos-5", 1), []string{"centos-6"})
	is.Equal(Suggest("ubuntu 23.10", 1), []string{"ubuntu-24.04"})
	is.Equal(Suggest("debian-stable", 1)[1], "debian-13")
	for _, other := range []string{"gentoo", "archlinux", "devuan 5", "void", "latest"} { // no misspellings
		is.Equal(len(Suggest(other, 3)), 0)
	}
	is.Equal(Suggest("alpine 3.40", 1), []string{"alpine-3.23"})
	is.True(len(Distributions()) > 5)
}

func TestNoLinux(t *testing.T) {
	is := is.New(t)
	for _, name := range []string{"windows-11", "Windows Server 2022", "freebsd 14", "macOS"} {
		is.True(NoLinux(name))
	}
	for _, name := range []string{"debian-13", "wind river 8", "", "alpine-3.20"} {
		is.True(!NoLinux(name))
	}
}
