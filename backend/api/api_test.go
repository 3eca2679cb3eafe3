package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func fingerprint() string { return strings.Repeat("ab", 32) }

func TestUsageRequestChecks(t *testing.T) {
	debian := OS{"debian", "11"}
	target := &OS{"debian", "13"}
	for name, c := range map[string]struct {
		r    UsageRequest
		want Code
	}{
		"good":            {UsageRequest{Migration, fingerprint(), debian, target, ""}, ""},
		"drift":           {UsageRequest{Drift, fingerprint(), debian, nil, ""}, ""},
		"license by hand": {UsageRequest{License, fingerprint(), debian, nil, ""}, BadKind},
		"upper-case":      {UsageRequest{Migration, strings.ToUpper(fingerprint()), debian, target, ""}, BadFingerprint},
		"no target":       {UsageRequest{Verify, fingerprint(), debian, nil, ""}, MalformedRequest},
		"drift target":    {UsageRequest{Drift, fingerprint(), debian, target, ""}, MalformedRequest},
		"bad distro":      {UsageRequest{Drift, fingerprint(), OS{"a b", "1"}, nil, ""}, MalformedRequest},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).Equal(CodeOf(c.r.Check()), c.want) })
	}
}

func TestHostHintIsRightOrAbsent(t *testing.T) {
	is := is.New(t)
	decode := func(s string) error {
		var r UsageRequest
		return json.Unmarshal([]byte(s), &r)
	}
	is.NoErr(decode(`{"kind":"drift"}`))
	is.NoErr(decode(fmt.Sprintf(`{"host_hint":%q}`, fingerprint())))
	for _, bad := range []string{`null`, `""`, `"abc"`, `17`, `"` + strings.Repeat("AB", 32) + `"`} {
		is.Equal(CodeOf(decode(`{"host_hint":`+bad+`}`)), BadHostHint)
	}
}

func TestBatchLimits(t *testing.T) {
	is := is.New(t)
	names := make([]string, MaxBatch+1)
	for i := range names {
		names[i] = "bash"
	}
	is.Equal(CodeOf(ResolveRequest{Release: "debian-12"}.Check()), EmptyBatch)
	is.Equal(CodeOf(ResolveRequest{Release: "debian-12", Packages: names}.Check()), BatchTooLarge)
	is.NoErr(ResolveRequest{Release: "debian-12", Packages: names[:MaxBatch]}.Check())
	is.Equal(CodeOf(TranslateRequest{Source: "debian-12", Canonicals: names[:1]}.Check()), MalformedRequest)
	is.Equal(CodeOf(TranslateRequest{Source: "debian-12", Target: "debian-13", Canonicals: names[:1], Architecture: "arm64;"}.Check()), MalformedRequest)
	is.NoErr(ResolveRequest{Release: "debian-12", Packages: names[:1], Architecture: "aarch64"}.Check())
}

func TestEveryCodeHasAStatusOfItsClass(t *testing.T) {
	is := is.New(t)
	for code, status := range statuses {
		is.Equal(Errorf(code, "x").Status(), status)
		is.True(status >= 400 && status < 600)
	}
	is.Equal((&Error{Code: "NEW"}).Status(), 500)
	is.Equal(CodeOf(fmt.Errorf("calling: %w", Errorf(SeatQuota, "full"))), SeatQuota)
	is.Equal(CodeOf(errors.New("x")), Code(""))
}
