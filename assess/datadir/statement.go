package datadir

// Statement is what a database directory states of itself. No list is null.
type Statement struct {
	Version     string    `json:"version"`   // of the server that wrote the data, as exactly as they state it; empty where they don't
	Form        string    `json:"form"`      // of the data: "catalog 202209061", "rdb 11"; empty where they don't state one
	State       string    `json:"state"`     // how the server left them: "shut down", "in production"; empty where unknown
	Checksums   string    `json:"checksums"` // of pages: on, off; empty where unknown
	Bytes       int64     `json:"bytes"`
	Files       int       `json:"files"`
	Partial     bool      `json:"partial"` // more was there than is counted
	Facts       []Fact    `json:"facts"`
	Databases   []Catalog `json:"databases"`
	Engines     []Count   `json:"engines"`     // storage engines by their files, tables of the server's own left out
	Auth        []Count   `json:"auth"`        // ways in which clients authenticate, by lines or accounts that name them
	Replication []string  `json:"replication"` // what the server is to others
	Unread      []string  `json:"unread"`      // what could not be read, and why
}

// Fact is a value and the file that states it.
type Fact struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Path  string `json:"path"`
}

// Catalog is a database within a server.
type Catalog struct {
	Name             string      `json:"name"`
	Encoding         string      `json:"encoding"`
	Provider         string      `json:"provider"` // of collation: libc, icu, builtin; empty where there is none
	Collate          string      `json:"collate"`
	CType            string      `json:"ctype"`
	CollationVersion string      `json:"collation_version"` // of the library when the indexes were made; empty where not recorded
	Extensions       []Extension `json:"extensions"`
}

// Extension is what was added to a database.
type Extension struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Count is how often something is there.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Bounds of what is named of a server, and of each database in it.
const (
	maxDatabases  = 1000
	maxExtensions = 300
)

// The states in which a server leaves its files.
const (
	shutDown     = "shut down"
	inProduction = "in production"
)

// count adds one to what is counted under a name.
func count(list []Count, name string) []Count {
	for i := range list {
		if list[i].Name == name {
			list[i].Count++
			return list
		}
	}
	return append(list, Count{name, 1})
}
