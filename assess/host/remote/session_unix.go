//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// ownSession has a command run in a session of its own: there neither ssh nor the one
// of a jump host finds a terminal to ask on, and all of them end together.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
