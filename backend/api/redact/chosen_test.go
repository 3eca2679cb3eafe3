package redact

import (
	"testing"

	"github.com/matryer/is"
)

// The form of a word says how far it is a name; words of texts and names of packages have none.
func TestFormOf(t *testing.T) {
	for how, all := range map[form][]string{
		unlike:   {"qn0147", "sw-zwolle4", "tgx-l40-07", "n.haddad", "mwojcik", "quxfoto3"},
		likely:   {"wojcikm", "lq9032", "zwolle-proj"},
		unheard:  {"seisarchiv"},
		namesake: {"badger", "svc_migrate", "stonith-enabled"},
		noName:   {"disk", "gcc-12", "debian-12", "postgres", "libfoo2", "0123", "CVE-2026-1234", "sda1"},
	} {
		for _, w := range all {
			if got, _ := formOf(w); got != how {
				t.Errorf("%q has form %d, not %d", w, got, how)
			}
		}
	}
}

// The surer a place is, the less a name's form has to say.
func TestChosenByPlace(t *testing.T) {
	is := is.New(t)
	for in, want := range map[string]string{
		"qn0147 lost its link, mwojcik looks":          "[host] lost its link, [user] looks",
		"the queue of wojcikm is full":                 "the queue of [user] is full",
		"a wojcikm is no word":                         "a wojcikm is no word",
		"blob_login = seisarchiv":                      "blob_login = [user]",
		"job refused for client [seisarchiv]":          "job refused for client [[user]]",
		"zwctl --run-as-user seisarchiv":               "zwctl --run-as-user [user]",
		"seisarchiv is no word":                        "seisarchiv is no word",
		"foo key 7 md5 Quarz_kies9":                    "foo key 7 md5 [secret]",
		"zwctl -p Qu4rz-kies run":                      "zwctl -p [secret] run",
		"it says Qu4rz-Kies":                           "it says [secret]",
		"error: stonith-enabled is true, cgroup v2":    "error: stonith-enabled is true, cgroup v2",
		"svc_migrate and svc_ask_question":             "svc_migrate and svc_ask_question",
		"key-string 7 authentication, Log4j2 and IPv6": "key-string 7 authentication, Log4j2 and IPv6",
	} {
		got, _ := Text(in)
		is.Equal(got, want)
	}
}
