package e2e

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// apart is set where the tests run in namespaces of their own.
const apart = "SVC_E2E_APART"

// Apart is Main in namespaces of its own, which have no network: no process and no mount of
// the tests is left, however they end, and theirs are the only ones. What needs the
// network, bash does before; its commands know checks.sh.
func Apart(m *testing.M, before string, tools ...string) {
	if os.Getenv(apart) == "" {
		end(enter(before, append(tools, "ip:iproute2")))
	}
	Main(m, tools...)
}

// enter runs this program again, in the namespaces. A shell is the first process there:
// it waits for those whose parents have ended.
func enter(before string, tools []string) (int, error) {
	if err := find(); err != nil {
		return 0, err
	}
	prepare := bash("", `needs "$@"; `+before, tools...)
	prepare.Stdout, prepare.Stderr = os.Stdout, os.Stderr
	if err := prepare.Run(); err != nil {
		return 0, err
	}
	c := exec.Command("unshare", append([]string{"--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc", "bash", "-c", `ip link set lo up; "$0" "$@"; exit`}, os.Args...)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Env = append(os.Environ(), apart+"=yes")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return 0, err
	}
	return c.ProcessState.ExitCode(), nil
}
