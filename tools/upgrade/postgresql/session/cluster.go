package session

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
)

// Cluster is a cluster of PostgreSQL in one version.
type Cluster struct {
	Version string // 13
	Bin     string // folder of its programs
	Clients string `json:",omitzero"` // and of those of clients, where it is another
	Data    string
	Config  string // folder of postgresql.conf
}

// Program is one of the cluster's version.
func (c Cluster) Program(name string) string { return filepath.Join(c.Bin, name) }

// Client is a program that connects to servers.
func (c Cluster) Client(name string) string { return filepath.Join(cmp.Or(c.Clients, c.Bin), name) }

// Major is the first number of the version; of 9.6 it is 9.
func (c Cluster) Major() int {
	first, _, _ := strings.Cut(c.Version, ".")
	n, _ := strconv.Atoi(first) // what Look takes is a number
	return n
}

// Database is a database of a cluster.
type Database struct {
	Name    string
	Sorting string // what is sorted by a library, for people; empty where nothing is
}

// At is a cluster whose configuration is among its data.
func (c Cluster) At(dir string) Cluster {
	c.Data, c.Config = dir, dir
	return c
}
