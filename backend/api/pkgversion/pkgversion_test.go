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
