package advisory

import (
	"strings"

	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
)

var (
	// kernelSource tells the source packages of kernels.
	kernelSource = lazyregexp.New(`^linux($|-signed|-[0-9]|-(aws|azure|bluefield|fips|gcp|gke|gkeop|hwe|ibm|intel|iot|kvm|laptop|lowlatency|nvidia|oem|oracle|raspi|realtime|riscv|starfive|xilinx)($|-))`)
	// signedSource is linux-signed-amd64 of Debian, linux-signed-aws of Ubuntu.
	signedSource = lazyregexp.New(`^linux-signed(-.+?)??(-(?:amd64|arm64|i386|armhf))?$`)
	// debImage is a kernel that can be booted: linux-image-6.1.0-18-amd64.
	debImage = lazyregexp.New(`^linux-image-(?:unsigned-)?([0-9][0-9.]*(?:-[0-9]+)?)(.*)$`)
	// rpmKernel is what is installed beside its older versions.
	rpmKernel = lazyregexp.New(`^kernel($|-)`)
)

// kernelOf is the source package of a signed copy of a kernel.
func kernelOf(source string) (name string, signed bool) {
	m := signedSource.FindStringSubmatch(source)
	if m == nil {
		return "", false
	}
	return "linux" + m[1], true
}

// bootable gives the numbers of the packages to compare: of kernels only the
// newest of each flavour is the machine's, and what is made from a kernel's
// source without being one (headers, tools) has none of its faults. A caller
// who knows which kernel runs sends only that.
func bootable(kind pkgversion.Kind, packages []api.ScannedPackage) []int {
	newest := map[string]string{} // version by flavour
	for i := range packages {
		p := &packages[i]
		flavour, kernel := flavourOf(kind, p)
		if kernel && flavour != "" && (newest[flavour] == "" || pkgversion.Compare(kind, p.Version, newest[flavour]) > 0) {
			newest[flavour] = p.Version
		}
	}
	chosen := make([]int, 0, len(packages))
	for i := range packages {
		flavour, kernel := flavourOf(kind, &packages[i])
		if !kernel || flavour != "" && packages[i].Version == newest[flavour] {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// flavourOf tells kernels; the flavour is "" for what only comes from the same
// source.
func flavourOf(kind pkgversion.Kind, p *api.ScannedPackage) (flavour string, kernel bool) {
	switch {
	case kind == pkgversion.RPM && rpmKernel.MatchString(p.Name):
		return p.Name + " " + p.Arch, true
	case kind != pkgversion.Deb || !strings.HasPrefix(p.Source, "linux") || !kernelSource.MatchString(p.Source):
		return "", false
	}
	m := debImage.FindStringSubmatch(p.Name)
	if m == nil || strings.HasSuffix(p.Name, "-dbg") {
		return "", true
	}
	return p.Source + m[2] + " " + p.Arch, true
}
