package database

import (
	_ "embed"
	"slices"
	"sync"

	"svc/backend/tsv"
)

// Way is what a method does with the data, whatever the engine's own name for it.
type Way string

// The ways.
const (
	Dump    Way = "dump"     // written out by the engine's own tools and loaded: fits newer versions, and other builds
	Copy    Way = "copy"     // the files of a server at rest: fit the same form alone
	Replica Way = "replica"  // the target follows the source until it takes over
	InPlace Way = "in place" // new programs take over the data on the host where these are
)

// Move is what a way is wanted for. The zero one is a move to a fresh host, while
// the source runs.
type Move struct {
	InPlace bool // the server is upgraded on the host it is on
	Offline bool // the source is stopped, and stays so
}

// preferred are the ways in the order in which they are recommended: here alone,
// for everything that recommends one.
var preferred = map[bool][]Way{ // by whether the server stays on its host
	false: {Dump, Copy, Replica, InPlace},
	true:  {InPlace, Dump, Copy, Replica},
}

// elsewhere is what the score of a way in place has on top where the data move to
// a fresh host, which has no old server: more than all else together, so that
// such a way is the last resort.
const elsewhere = 40

// rank is a way's place in the order: 1 is best.
func (m Move) rank(w Way) int {
	order := preferred[m.InPlace]
	if i := slices.Index(order, w); i >= 0 {
		return i + 1
	}
	return len(order) + 1
}

//go:embed methods.tsv
var methodRows string

// methods are the ways of the methods on record.
var methods = sync.OnceValue(func() map[string]Way {
	all := map[string]Way{}
	for row := range tsv.Rows(methodRows, 2) {
		all[row[0]] = Way(row[1])
	}
	return all
})

// WayOf is the way that a method is; empty where none is on record.
func WayOf(method string) Way { return methods()[method] }

// hostWays are the ways by which an engine's own tools bring its data to a fresh
// host of the next release.
var hostWays = map[string][]Way{
	"postgresql": {Dump, Replica},
	"mysql":      {Dump, Replica},
	"mariadb":    {Dump, Replica},
	"mongodb":    {Dump, Replica},
	"openldap":   {Dump, Replica},
	"redis":      {Copy, Replica},
	"valkey":     {Copy, Replica},
}

// Recommended is the best way of an engine's data to a fresh host; empty for
// engines that are not on record. An assessment's name of an engine will do.
func Recommended(engine string) Way {
	ways := hostWays[EngineOf(engine)]
	if len(ways) == 0 {
		return ""
	}
	return slices.MinFunc(ways, func(a, b Way) int { return Move{}.rank(a) - Move{}.rank(b) })
}
