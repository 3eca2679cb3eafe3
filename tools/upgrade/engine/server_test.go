package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

func TestUnitsAndMounts(t *testing.T) {
	is := is.New(t)
	is.Equal(unitIn([]byte("0::/system.slice/mariadb.service\n")), "mariadb.service")
	is.Equal(unitIn([]byte("1:name=systemd:/system.slice/system-redis.slice/redis@a.service\n")), "redis@a.service")
	is.Equal(unitIn([]byte("0::/user.slice/user-0.slice/session-1.scope\n0::/user.slice/user-0.slice/user@0.service\n")), "")
	mounts := []byte("22 1 254:0 / / rw - ext4 /dev/vda rw\n30 22 0:5 / /srv/a\\040b rw - tmpfs none rw\nshort\n")
	is.True(mountedAt(mounts, "/srv/a b"))
	is.True(!mountedAt(mounts, "/srv/a"))
}

func TestAServerIsFoundByWhereItWorks(t *testing.T) {
	is := is.New(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	is.NoErr(err)
	sleep, err := filepath.EvalSymlinks("/bin/sleep")
	is.NoErr(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	h := &Host{Backup: t.TempDir()}
	go func() {
		_, err := h.Run(ctx, Command{Args: []string{sleep, "60"}, Dir: dir})
		ended <- err
	}()
	var s *Server
	is.NoErr(Await(ctx, func(context.Context) error {
		if s, err = ServerOn(dir, sleep, []string{filepath.Base(sleep)}); s == nil {
			return errors.Join(errors.New("there is no process"), err)
		}
		return nil
	}))
	is.True(s.Same)
	other, err := ServerOn(dir, sleep, []string{"mariadbd"})
	is.NoErr(err)
	is.True(other == nil)
	is.NoErr(s.Stop(ctx, h))
	<-ended
	cancel()
	gone, err := ServerOn(filepath.Join(dir, "none"), sleep, nil)
	is.NoErr(err)
	is.True(gone == nil)
	_, err = os.Stat(dir)
	is.NoErr(err)
}
