package safefile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// As has fn open, make and remove files with no more authority than an account's,
// whatever links and directories that account has put in the way. Only what fn
// does itself, in its own goroutine, is so; programs that it starts are not. Where
// this process is not root's, it is done as it is.
func As(who *syscall.Credential, fn func() error) error {
	if os.Geteuid() != 0 {
		return fn()
	}
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never given back: the thread ends with the goroutine
		err := become(who)
		if err == nil {
			err = fn()
		}
		ended <- err
	}()
	return <-ended
}

// become gives this thread, and no other one, the authority of an account over
// files: with the number the kernel takes away root's rights over them.
func become(who *syscall.Credential) error {
	groups := append([]uint32{who.Gid}, who.Groups...)
	if _, _, e := unix.RawSyscall(setgroups(), uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0); e != 0 {
		return fmt.Errorf("taking the groups of account %d: %w", who.Uid, e)
	}
	if err := errors.Join(unix.Setfsgid(int(who.Gid)), unix.Setfsuid(int(who.Uid))); err != nil {
		return fmt.Errorf("becoming account %d: %w", who.Uid, err)
	}
	if now, _ := unix.SetfsuidRetUid(-1); now != int(who.Uid) { // it fails without a word
		return fmt.Errorf("becoming account %d: it is %d still", who.Uid, now)
	}
	return nil
}

// setgroups is the number of the call that is of one thread, where the C library's
// is of all of them. Two older kinds of processors have another one for numbers
// of 32 bits.
func setgroups() uintptr {
	if runtime.GOARCH == "386" || runtime.GOARCH == "arm" {
		return 206
	}
	return unix.SYS_SETGROUPS
}
