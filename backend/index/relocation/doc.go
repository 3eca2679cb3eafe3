// Package relocation says where configuration, units and accounts go when a package
// moves: by rows of how the families differ, and by comparing what both releases ship.
package relocation
