package remote

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownSession has a command run without a console, so that ssh can't ask on it.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
}
