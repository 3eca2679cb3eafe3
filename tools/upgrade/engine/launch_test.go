package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestAServerThatWasStartedComesToItsData has a run begin where a former one was killed, and
// a server that this had just started has not come to its data; and a person reads the log.
func TestAServerThatWasStartedComesToItsData(t *testing.T) {
	is := is.New(t)
	h := &Host{Backup: t.TempDir(), ID: fmt.Sprintf("coming-%d", os.Getpid())}
	log, err := h.Open("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	is.NoErr(err)
	defer log.Close()
	reader := exec.Command("tail", "-f", h.LogFile())
	reader.Dir = "/"
	data := t.TempDir()
	server := exec.Command("sh", "-c", "read go; cd "+data+" && exec sleep 60")
	server.Dir, server.Stdout = "/", log
	begin, err := server.StdinPipe()
	is.NoErr(err)
	for _, c := range []*exec.Cmd{reader, server} {
		is.NoErr(c.Start())
		defer func() { _, _ = c.Process.Kill(), c.Wait() }()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	is.True(h.EndLeftovers(ctx) != nil) // it is still at the root
	_, err = begin.Write([]byte("\n"))
	is.NoErr(err)
	is.NoErr(h.EndLeftovers(t.Context()))
	is.True(SameDir(filepath.Join("/proc", fmt.Sprint(server.Process.Pid), "cwd"), data)) // and it lives
}

// TestALaunchThatIsCutShortLeavesNoServerOnItsWay has svc be told to stop while a server starts.
func TestALaunchThatIsCutShortLeavesNoServerOnItsWay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts a server as another account")
	}
	is := is.New(t)
	h, data := &Host{Backup: t.TempDir()}, t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	server := Command{User: "root", Args: []string{"sh", "-c", "sleep 0.5; cd " + data + " && exec sleep 3"}}
	err := h.Launch(ctx, server, func(context.Context) error { cancel(); return errNotYet })
	is.True(errors.Is(err, context.Canceled))
	there, err := ServerOn(data, "/bin/sleep", []string{"sleep", "coreutils"})
	is.NoErr(err)
	is.True(there != nil)
	is.NoErr(there.Stop(t.Context(), h))
}
