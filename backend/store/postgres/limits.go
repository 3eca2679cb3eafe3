package postgres

import "time"

// Limits of a store on PostgreSQL.
const (
	connections = 16               // where the address has no pool_max_conns
	dialTime    = 5 * time.Second  // where it has no connect_timeout
	pingTime    = time.Second      // for a session that rested to show that it lives
	persistence = 10 * time.Second // how long a write is tried
	patience    = 4 * time.Second  // how long one try may take: a server that froze answers none
	quickly     = 2 * time.Second  // how long the first may, and each round trip of it
	firstPause  = 20 * time.Millisecond
	lastPause   = 500 * time.Millisecond
)
