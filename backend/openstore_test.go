package backend_test

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"svc/backend"
	"svc/backend/store"
)

func TestOpenStoreRefusesWhatIsNoStore(t *testing.T) {
	is := is.New(t)
	for _, address := range []string{"", "sqlite:", "mysql://x", "svc.db"} {
		_, err := backend.OpenStore(t.Context(), address, store.Options{})
		is.True(errors.Is(err, store.ErrAddress))
		is.True(errors.Is(backend.StoreExists(t.Context(), address), store.ErrAddress))
	}
}
