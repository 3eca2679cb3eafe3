package judge

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/release"
)

func TestTheTargetIsJudged(t *testing.T) {
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for target, want := range map[string][]string{
		"debian-13": nil, "debian-11": {"target.same", "target.end-of-life"}, "debian-10": {"target.older", "target.end-of-life"}, "debian-14": {"target.unreleased"},
		"centos-7": {"target.earlier", "target.end-of-life"}, "ubuntu-20.04": {"target.earlier", "target.end-of-life"}, "ubuntu-22.04": nil, "fedora-40": {"target.end-of-life"}, "almalinux-9": nil,
	} {
		r, ok := release.Lookup(target)
		is.New(t).True(ok)
		var got []string
		for _, f := range JudgeTarget("debian-11", r, day) {
			got = append(got, f.Key)
			is.New(t).Equal(f.Inhibitor, f.Key == "target.older")
		}
		is.New(t).Equal(got, want)
	}
}
