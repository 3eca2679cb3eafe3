package registry

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/rogpeppe/go-internal/txtar"

	"svc/tools/convert"
)

// otherwise are the lines that Debian 13 has otherwise than earlier releases of its
// family, by converter, and why.
var otherwise = []struct{ converter, lines, why string }{
	{"network", ".*", "Ubuntu's network is netplan's, and Debian 13's systemd-networkd or ifupdown: .ci/e2e boots both"},
	{"sshd", ".*_dsa_key|.*ssh-dss.*", "OpenSSH has DSA before 10"},
	{"haproxy", "nbproc .*", "HAProxy has it before 2.5, Ubuntu 22.04 at 2.4"},
	{"polkit", ".*", "Ubuntu 22.04's polkit reads .pkla files"},
	{"tuned", ".*", "before Debian 13 tuned has people's profiles in /etc/tuned itself"},
	{"dovecot", ".*", "before Debian 13 and Ubuntu 26.04 Dovecot is 2.3, whose form the files have"},
}

// TestWhatHoldsOfDebianHoldsOfUbuntu: what a converter does towards Debian 13, it does
// towards the other releases of the family.
func TestWhatHoldsOfDebianHoldsOfUbuntu(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	is.New(t).NoErr(err)
	compared := 0
	for _, file := range cases {
		a, err := txtar.ParseFile(file)
		is.New(t).NoErr(err)
		first := input(t, a)
		if first.Target.Slug != "debian-13" {
			continue
		}
		for _, slug := range []string{"debian-12", "ubuntu-22.04", "ubuntu-24.04", "ubuntu-26.04"} {
			second := first
			second.Target = lookup(t, slug)
			if second.Target.Slug == second.Source.Slug {
				continue
			}
			want, got := byConverter(first), byConverter(second)
			for name, r := range want {
				compared++
				for line := range didTo(r) {
					if !didTo(got[name])[line] && !slices.ContainsFunc(otherwise, func(o struct{ converter, lines, why string }) bool {
						return o.converter == name && regexp.MustCompile("^(?:"+o.lines+")$").MatchString(line[strings.Index(line, "\t")+1:])
					}) {
						t.Errorf("%s: %s, towards %s not: %s", filepath.Base(file), name, slug, line)
					}
				}
			}
		}
	}
	is.New(t).True(compared > 50)
}

// didTo are the lines that a result touched, and the files that it wrote.
func didTo(r convert.Result) map[string]bool {
	all := map[string]bool{}
	for file, changes := range r.Changes {
		for _, c := range changes {
			all[fmt.Sprintf("%s:%d\t%s", file, c.Line, c.Was)] = true
		}
	}
	for file, refusals := range r.Refusals {
		for _, c := range refusals {
			all[fmt.Sprintf("%s:%d\t%s", file, c.Line, c.Text)] = true
		}
	}
	for _, f := range r.Files {
		all[f.From+"\tto "+f.Path] = true
	}
	return all
}
