package index

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
	"svc/backend/index/course"
)

// onMachine is what becomes of a package of a machine of an architecture.
func onMachine(t *testing.T, architecture, source, name, target string) (r api.Resolution, got api.Translation) {
	t.Helper()
	m := embeddedIndex(t).Of(architecture)
	resolved, err := m.Resolve(source, []string{name})
	is.New(t).NoErr(err)
	if resolved[0].Canonical == nil {
		return resolved[0], got
	}
	all, err := m.Translate(source, target, []string{*resolved[0].Canonical})
	is.New(t).NoErr(err)
	return resolved[0], all[0]
}

// TestAnArmMachineHasItsOwnKernelAndLoader: what is made for x86-64 alone is not installed
// on another architecture.
func TestAnArmMachineHasItsOwnKernelAndLoader(t *testing.T) {
	for _, c := range []struct{ source, name, target, packages string }{
		{"debian-12", "linux-image-arm64", "debian-13", "linux-image-arm64"},
		{"debian-12", "linux-image-6.1.0-18-arm64", "debian-13", "linux-image-arm64"},
		{"debian-12", "linux-image-cloud-arm64", "debian-13", "linux-image-cloud-arm64"},
		{"debian-12", "linux-image-arm64", "rhel-9", "kernel"},
		{"debian-12", "grub-efi-arm64", "debian-13", "grub-efi-arm64"},
		{"debian-12", "grub-efi-arm64", "rhel-9", "grub2-efi-aa64"},
		{"debian-12", "grub-efi-arm64:arm64", "sles-15", "grub2-arm64-efi"},
		{"rhel-9", "kernel-core", "debian-13", "linux-image-arm64"},
		{"rhel-9", "kernel-devel", "debian-13", "linux-headers-arm64"},
		{"rhel-9", "grub2-efi-aa64", "debian-13", "grub-efi-arm64"},
		{"rhel-9", "grub2-efi-aa64", "sles-15", "grub2-arm64-efi"},
		{"rhel-8", "shim-aa64", "rhel-9", "shim-aa64"},
		{"sles-15", "grub2-arm64-efi", "rhel-9", "grub2-efi-aa64"},
		{"rhel-9", "nginx", "debian-13", "nginx"},
		{"rhel-9", "microcode_ctl", "debian-13", ""},
	} {
		r, got := onMachine(t, "aarch64", c.source, c.name, c.target)
		if r.Package != c.name || packageNames(got) != c.packages {
			t.Errorf("%s of %s in %s: %s %q, not %q", c.name, c.source, c.target, got.Relation, packageNames(got), c.packages)
		}
	}
	is := is.New(t)
	_, got := onMachine(t, "arm64", "rhel-9", "microcode_ctl", "debian-13")
	is.Equal(got.Relation, api.RelationRemoved)
	is.True(hasCaveat(got, CaveatArchitecture) && got.Confidence >= course.SureConfidence)
	_, got = onMachine(t, "s390x", "rhel-9", "kernel-core", "debian-13")
	is.True(got.Confidence < course.SureConfidence && strings.Contains(got.Caveats[len(got.Caveats)-1].Text, "s390x"))
	_, x86 := onMachine(t, "x86_64", "rhel-9", "kernel-core", "debian-13")
	is.Equal(packageNames(x86), "linux-image-amd64") // and the answers that are kept were not changed
}

// TestArmHasNoNameOfX86 asks for the packages of every machine as if it were of arm64: no
// answer names what only x86-64 has.
func TestArmHasNoNameOfX86(t *testing.T) {
	for source, names := range machines(t) {
		m := embeddedIndex(t).Of(api.ARM64)
		resolved, err := m.Resolve(source, names)
		is.New(t).NoErr(err)
		var canonicals []string
		for _, r := range resolved {
			if r.Canonical != nil {
				canonicals = append(canonicals, *r.Canonical)
			}
		}
		for _, target := range []string{"debian-13", "ubuntu-24.04", "rhel-9", "sles-15", "fedora-42", "amzn-2023"} {
			all, err := m.Translate(source, target, canonicals)
			is.New(t).NoErr(err)
			for _, got := range all {
				for _, p := range got.Packages {
					if _, only := abroad(lineOf(target), p.Name); only {
						t.Errorf("%s of %s in %s: %s is for x86-64 alone", got.Canonical, source, target, p.Name)
					}
				}
			}
		}
	}
}

// TestCounterpartsLeadBack: what arm64 has in the place of a package leads to one that it
// is in the place of.
func TestCounterpartsLeadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"debian", "el", "suse"}).Draw(t, "line")
		c := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(armNames()[line]), func(c armName) bool { return c.arm == "" })).Draw(t, "row")
		x86 := strings.Replace(c.x86, "*", rapid.StringMatching(`[a-z0-9.]{0,8}`).Draw(t, "asterisk"), 1)
		arm, only := abroad(line, x86)
		if !only || arm == "" {
			t.Fatalf("%s has no counterpart", x86)
		}
		if again, _ := abroad(line, home(line, arm)); again != arm {
			t.Fatalf("%s is %s on arm64, and that is in the place of %s", x86, arm, home(line, arm))
		}
	})
}
