package config

import (
	"testing"

	"github.com/matryer/is"
)

func TestAptSetting(t *testing.T) {
	for text, want := range map[string]string{
		`APT::Install-Recommends "false";`:                                       "false",
		"// x\nAPT { Install-Recommends \"0\"; Get { Assume-Yes \"true\"; }; };": "0",
		"APT\n{\n  install-recommends no;\n}":                                    "no",
		`/* APT::Install-Recommends "false"; */ # "x`:                            "",
		`APT::Install-Recommends "true"; APT::Install-Recommends "false";`:       "false",
		`}}};;{{;APT::Install-Recommends`:                                        "",
		`X { APT::Install-Recommends "false"; };`:                                "",
	} {
		is.New(t).Equal(aptSetting(text, aptRecommends), want)
	}
}
