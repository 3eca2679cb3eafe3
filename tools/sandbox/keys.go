//go:build linux

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architectures are those whose calls of the kernel are told apart, as seccomp numbers
// them: a call's number means another call to a program of 32 bits.
var architectures = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "ppc64le": unix.AUDIT_ARCH_PPC64LE,
	"riscv64": unix.AUDIT_ARCH_RISCV64, "s390x": unix.AUDIT_ARCH_S390X,
}

// Where a filter of seccomp finds what was called: struct seccomp_data of linux/seccomp.h.
const (
	callNumber       = 0
	callArchitecture = 4
)

// keys has the kernel say that it has none, as containers do. It keeps keys by users,
// whichever namespace they are in, and gives a user 200: systemd takes one for each
// service, so that two machines with a hundred each, which have the same users here, had
// none for a mount, and came up in emergency mode.
func keys() error {
	own, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: callArchitecture},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 4, K: own},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: callNumber},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 3, K: unix.SYS_ADD_KEY},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 2, K: unix.SYS_REQUEST_KEY},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.SYS_KEYCTL},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("keeping the kernel's keys away: %w", err)
	}
	return nil
}
