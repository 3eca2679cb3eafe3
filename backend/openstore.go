package backend

import (
	"context"
	"strings"

	"svc/backend/store"
	"svc/backend/store/postgres"
	"svc/backend/store/sqlite"
)

// OpenStore opens a store by its address, sqlite:PATH or postgres://…, and brings its
// schema up to date.
func OpenStore(ctx context.Context, address string, o store.Options) (store.Store, error) {
	if path, ok := file(address); ok {
		return sqlite.Open(ctx, path, o)
	}
	if inPostgres(address) {
		return postgres.Open(ctx, address, o)
	}
	return nil, store.ErrAddress
}

// StoreExists is nil where there is a store at an address: not where OpenStore would
// make a new one.
func StoreExists(ctx context.Context, address string) error {
	if path, ok := file(address); ok {
		return sqlite.Exists(path)
	}
	if inPostgres(address) {
		return postgres.Exists(ctx, address)
	}
	return store.ErrAddress
}

func file(address string) (path string, ok bool) {
	path, ok = strings.CutPrefix(address, "sqlite:")
	return path, ok && path != ""
}

func inPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}
