package release

import (
	_ "embed"
	"strings"

	"svc/backend/tsv"
)

//go:embed releases.tsv
var releaseRows string

// table is every release that svc has a name for.
var table = tsv.List(releaseRows, 6, func(c []string) Release {
	r := Release{Slug: c[0], Name: c[1], Family: Family(c[2]), Aliases: strings.Fields(c[3]), Released: c[4], EndOfLife: c[5]}
	r.ID, r.Version = Split(r.Slug)
	return r
})()

// folded are the distributions whose minor releases are one release, and how many numbers
// of a version tell their releases apart.
var folded = map[string]int{"centos": 1, "rhel": 1, "almalinux": 1, "rocky": 1, "ol": 1, "sles": 1, "sled": 1, "alpine": 2}

// calls are what people call distributions, beside the IDs of their os-release.
var calls = map[string]string{
	"alpine-linux": "alpine", "alma": "almalinux", "alma-linux": "almalinux", "almalinux-os": "almalinux", "rocky-linux": "rocky", "rockylinux": "rocky",
	"oracle": "ol", "oracle-linux": "ol", "oracle-linux-server": "ol", "oraclelinux": "ol", "oel": "ol", "redhat": "rhel", "red-hat": "rhel", "red-hat-enterprise-linux": "rhel", "red-hat-enterprise-linux-server": "rhel",
	"centos-stream": "centos", "centos-linux": "centos", "suse": "sles", "sle": "sles", "suse-linux-enterprise-server": "sles", "suse-linux-enterprise": "sles", "amazon": "amzn", "amazon-linux": "amzn", "amazonlinux": "amzn",
	"opensuse": "opensuse-leap", "leap": "opensuse-leap", "fedora-linux": "fedora", "fc": "fedora", "f": "fedora", "debian-gnu-linux": "debian", "debian-linux": "debian", "deb": "debian", "ubuntu-server": "ubuntu", "ubuntu-linux": "ubuntu",
}
