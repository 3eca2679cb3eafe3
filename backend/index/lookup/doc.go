// Package lookup answers what one release has: the package of a name, of a canonical or
// of a path, and what a name is that the release does not have itself. It opens the
// tables of all releases, and knows those that are derived from others.
package lookup
