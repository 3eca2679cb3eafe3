package store_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"svc/backend/store"
	"svc/backend/store/storetest"
)

var databases atomic.Int64

// postgresAddress is the address of a new empty database.
func postgresAddress(t testing.TB) string {
	t.Helper()
	is := is.New(t)
	server := os.Getenv("SVC_TEST_POSTGRES")
	if server == "" {
		if os.Getenv("SVC_TEST_REQUIRE_POSTGRES") == "1" {
			t.Fatal("SVC_TEST_POSTGRES is not set")
		}
		t.Skip("SVC_TEST_POSTGRES is not set")
	}
	name := fmt.Sprintf("svc_%d_%d", os.Getpid(), databases.Add(1))
	admin := func(sql string) error {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, sql)
		return err
	}
	is.NoErr(admin("CREATE DATABASE " + name))
	t.Cleanup(func() { is.NoErr(admin("DROP DATABASE " + name + " WITH (FORCE)")) })
	u, err := url.Parse(server)
	is.NoErr(err)
	u.Path = "/" + name
	return u.String()
}

func openPostgres(t testing.TB, address string, o store.Options) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address, o)
	is.New(t).NoErr(err)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPostgres(t *testing.T) {
	storetest.Run(t, func(t *testing.T, o store.Options) store.Store {
		return openPostgres(t, postgresAddress(t), o)
	})
}

func TestPostgresBackup(t *testing.T) {
	is := is.New(t)
	err := openPostgres(t, postgresAddress(t), store.Options{}).Backup(t.Context(), "a file")
	is.True(strings.Contains(err.Error(), `pg_dump --format=custom --file="a file"`))
}
