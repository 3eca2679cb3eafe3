package record

import "svc/backend/lazyregexp"

// versionedKernel is a kernel package with its ABI in its name.
var versionedKernel = lazyregexp.New(`^linux-(image|headers)-[0-9][0-9a-z.+~-]*?-((?:cloud-|rt-)?(?:amd64|arm64|686-pae|686|armmp-lpae|armmp|ppc64el|riscv64|s390x))(?:-dbg|-unsigned)?$`)

// KernelMeta is the metapackage of a kernel package with its ABI in its name.
func KernelMeta(name string) (string, bool) {
	m := versionedKernel.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return "linux-" + m[1] + "-" + m[2], true
}

// ubuntuKernel is a package of one of Ubuntu's kernels for a place to run, with
// its ABI or its series in its name.
var ubuntuKernel = lazyregexp.New(`^linux-(?:(image|headers|modules|modules-extra|tools|cloud-tools)(?:-unsigned|-uc)?-(?:[0-9][0-9.]*-[0-9]+-)?(aws|azure|gcp|gke|ibm|kvm|lowlatency|oem|oracle|raspi)(?:-(?:lts-|hwe-)?[0-9.]+[a-z]?|-edge|-fde)*|(aws|azure|gcp|gke|ibm|kvm|lowlatency|oracle|raspi)(?:-(?:lts-|hwe-)?[0-9.]+)?(?:-(headers|tools|cloud-tools)-[0-9][0-9.]*-[0-9]+)?)$`)

// UbuntuKernelMeta is the metapackage of a package of such a kernel; that of the
// modules is the image's.
func UbuntuKernelMeta(name string) (string, bool) {
	m := ubuntuKernel.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	part, kind := m[1]+m[4], m[2]+m[3]
	switch part {
	case "":
		return "linux-" + kind, true
	case "modules":
		part = "image"
	}
	return "linux-" + part + "-" + kind, true
}
