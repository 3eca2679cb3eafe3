package hazards

import (
	"embed"
	"io/fs"
	"slices"
	"sync"
)

//go:embed data/*.tsv
var data embed.FS

// Curated are the program's own hazards. The test of this package finds what is
// wrong with them.
var Curated = sync.OnceValue(func() Table {
	dir, err := fs.Sub(data, "data")
	if err != nil {
		panic(err)
	}
	t, err := Read(dir)
	if err == nil {
		t, err = t.With(slices.Concat(settingTable(), removalTable(), functionTable()))
	}
	if err != nil {
		panic(err)
	}
	return t
})
