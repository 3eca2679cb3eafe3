package advisory

import (
	"testing"

	"github.com/matryer/is"
)

func TestSeverity(t *testing.T) {
	const (
		v2 = "AV:N/AC:L/Au:N/C:C/I:C/A:C"                                      // 10.0
		v3 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"                    // 9.8
		v0 = "CVSS:3.0/AV:L/AC:L/PR:L/UI:N/S:U/C:N/I:N/A:L"                    // 3.3
		v4 = "CVSS:4.0/AV:L/AC:L/AT:N/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N" // 8.5
	)
	for name, c := range map[string]struct {
		grades []grade
		words  []string
		want   severity
		cvss   string
	}{
		"version 2 has none critical":   {[]grade{{"CVSS_V2", v2}}, nil, high, v2},
		"version 2 in brackets":         {[]grade{{"CVSS_V2", "(AV:N/AC:M/Au:N/C:N/I:P/A:N)"}}, nil, medium, "(AV:N/AC:M/Au:N/C:N/I:P/A:N)"},
		"version 3":                     {[]grade{{"CVSS_V3", v3}}, nil, critical, v3},
		"version 3.0":                   {[]grade{{"CVSS_V3", v0}}, nil, low, v0},
		"version 4":                     {[]grade{{"CVSS_V4", v4}}, nil, high, v4},
		"the newest version wins":       {[]grade{{"CVSS_V2", v2}, {"CVSS_V4", v4}, {"CVSS_V3", v3}}, nil, high, v4},
		"the worst of a version wins":   {[]grade{{"CVSS_V3", v0}, {"CVSS_V3", v3}}, nil, critical, v3},
		"a score is better than a word": {[]grade{{"Ubuntu", "critical"}, {"CVSS_V3", v0}}, []string{"high"}, low, v0},
		"a word of the distribution":    {[]grade{{"Ubuntu", "negligible"}}, nil, low, ""},
		"a word before a summary":       {nil, []string{"", "Important: kernel security update"}, high, ""},
		"Debian's urgency":              {nil, []string{"", "medium**"}, medium, ""},
		"no vector":                     {[]grade{{"CVSS_V3", "CVSS:3.1/AV:N"}}, []string{"low"}, low, ""},
		"another metric's text":         {[]grade{{"CVSS_V3", "9.8"}}, nil, unknown, ""},
		"nothing":                       {nil, []string{"not yet assigned"}, unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, cvss := graded(c.grades, c.words...)
			is.New(t).Equal(got, c.want)
			is.New(t).Equal(cvss, c.cvss)
		})
	}
}
