package pkgversion

import (
	"cmp"
	"os/exec"
	"testing"

	deb "github.com/knqyf263/go-deb-version"
	rpm "github.com/knqyf263/go-rpm-version"
	"github.com/matryer/is"
	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		a, b string
		want int
	}{
		{Deb, "1.0", "1.0", 0},
		{Deb, "1.0-1", "1.0-2", -1},
		{Deb, "1:0.9", "2.0", 1},
		{Deb, "0:1.0", "1.0", 0},
		{Deb, "1.0~rc1-1", "1.0-1", -1},
		{Deb, "1.0", "1.0-0", 0},
		{Deb, "1.0a", "1.0+", -1},
		{Deb, "2.4.57-2", "2.4.57-2+deb12u1", -1},
		{Deb, "20240102112233445566778", "20240102112233445566779", -1}, // no integer holds these
		{Deb, "r12", "r9", 1},                                           // starts with a letter
		{Deb, "1.0-", "1.0", 0},
		{Deb, "1.0-1-1", "1.0-2", 1},
		{Deb, "", "0", 0},
		{RPM, "1.0-1.el7", "1.0-1.el7", 0},
		{RPM, "2.4.6-97.el7.centos", "2.4.6-99.el7.centos", -1},
		{RPM, "1:1.0-1", "9.0-1", 1},
		{RPM, "1.0~rc1-1", "1.0-1", -1},
		{RPM, "1.0^git1-1", "1.0-1", 1},
		{RPM, "1.0^git1-1", "1.0.1-1", -1},
		{RPM, "1.el7", "1.1", -1},
		{RPM, "0:1.0-1", "1.0-1", 0},
		{Apk, "3.3.2-r0", "3.3.1-r3", 1},
		{Apk, "1.36.1-r9", "1.36.1-r29", -1},
		{Apk, "1.2_rc1-r0", "1.2-r0", -1},
		{Apk, "1.2_alpha2", "1.2_beta1", -1},
		{Apk, "1.2_p1-r0", "1.2-r5", 1},
		{Apk, "1.1.1w-r1", "1.1.1l-r1", 1},
		{Apk, "6.6.2p9-r0", "6.6.2p10-r0", -1}, // as OpenSMTPD and sudo have it
		{Apk, "1.2.3", "1.2", 1},
		{Apk, "1.10-r0", "1.9-r0", 1},
		{Apk, "1.01", "1.1", -1}, // a fraction
		{Apk, "20240101-r0", "2.0-r0", 1},
	} {
		t.Run(string(c.kind)+" "+c.a+" "+c.b, func(t *testing.T) {
			is := is.New(t)
			is.Equal(Compare(c.kind, c.a, c.b), c.want)
			is.Equal(Compare(c.kind, c.b, c.a), -c.want)
		})
	}
}

func TestWithoutEpoch(t *testing.T) {
	is := is.New(t)
	is.Equal(WithoutEpoch("4:5.26-1"), "5.26-1")
	is.Equal(WithoutEpoch("5.26-1"), "5.26-1")
}

// versions draws what dpkg takes as a version, small enough to collide often.
func versions() *rapid.Generator[string] {
	return rapid.StringMatching(`([0-2]:)?[0-9][0-9a-b.+~]{0,6}(-[0-9a-b.+~]{1,4})?`)
}

// TestRPMAgreesWithTheLibrary has it order what rpm takes and what it does not.
func TestRPMAgreesWithTheLibrary(t *testing.T) {
	one := rapid.StringMatching(`([0-2]:)?[0-9a-b.+~^_]{1,7}(-[0-9a-b.+~^_]{1,6})?`)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := one.Draw(rt, "a"), one.Draw(rt, "b")
		if got, want := Compare(RPM, a, b), rpm.NewVersion(a).Compare(rpm.NewVersion(b)); got != want {
			rt.Fatalf("Compare(%q, %q) = %d, the library has %d", a, b, got, want)
		}
	})
}

func TestDebAgreesWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := versions().Draw(t, "a"), versions().Draw(t, "b")
		va, errA := deb.NewVersion(a)
		vb, errB := deb.NewVersion(b)
		if errA != nil || errB != nil {
			t.Skip("the library does not take it")
		}
		if got, want := Compare(Deb, a, b), cmp.Compare(va.Compare(vb), 0); got != want {
			t.Fatalf("%s against %s: %d, the library says %d", a, b, got, want)
		}
	})
}

func TestDebAgreesWithDpkg(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("no dpkg here")
	}
	pairs := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := versions().Draw(t, "a"), versions().Draw(t, "b")
		less := exec.Command(dpkg, "--compare-versions", a, "lt", b).Run() == nil
		if got := Compare(Deb, a, b) < 0; got != less {
			t.Fatalf("%s < %s: %v, dpkg says %v", a, b, got, less)
		}
		pairs++
	})
	if pairs == 0 {
		t.Fatal("nothing was compared")
	}
}

// FuzzCompare checks that any two strings are ordered, the same in both ways.
func FuzzCompare(f *testing.F) {
	f.Add("1:1.0~rc1-1", "1.0^git-1")
	f.Add("-", ":")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, kind := range []Kind{Deb, RPM} {
			c := Compare(kind, a, b)
			if c < -1 || c > 1 || Compare(kind, b, a) != -c {
				t.Fatalf("%s: %q against %q is %d, the other way %d", kind, a, b, c, Compare(kind, b, a))
			}
			if Compare(kind, a, a) != 0 {
				t.Fatalf("%s: %q is not itself", kind, a)
			}
		}
	})
}

func TestValid(t *testing.T) {
	is := is.New(t)
	for kind, versions := range map[Kind][]string{
		Deb: {"1", "1:2.3-4+deb12u1", "2.4.62-1~deb11u1", "r12", "1.0-1-1"},
		RPM: {"1.0-1.el7", "1:1.1.1k-12.el8_9", "1.0~rc1-1", "1.0^git1-1", "1:18.9.1-1.module_el8.7.0+3343+ea2b7901"},
		Apk: {"1.2", "3.3.2-r0", "1.1.1w-r1", "1.2_rc1_p2-r3", "6.6.2p1-r0", "0.1.0~8a2bd5d-r0"},
	} {
		for _, v := range versions {
			is.True(Valid(kind, v))
		}
	}
	for kind, versions := range map[Kind][]string{
		Deb: {"", "not a version", "1_2", "a:1"},
		RPM: {"", "1-2-3", "a:1", "1 2"},
		Apk: {"", "v1", "1.2_blah", "1-ruff", "1.2-r", "1:2"},
		"":  {"1"},
	} {
		for _, v := range versions {
			is.True(!Valid(kind, v))
		}
	}
}
