package datadir

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"svc/assess/datadir/rdb"
	"svc/backend/sliced"
)

// redis reads the dump and the append-only files of Redis or Valkey, and what
// cluster and modules the folder tells of.
func (r *reader) redis() {
	dumps := sliced.Filter(r.names("."), func(name string) bool { return strings.HasSuffix(name, ".rdb") })
	for _, folder := range r.names(".") {
		if strings.HasPrefix(folder, "appendonly") && r.isFolder(folder) {
			dumps = append(dumps, r.appendOnly(folder)...)
		}
	}
	if r.exists("appendonly.aof") {
		r.fact("append-only file", "one file, as before Redis 7.0", "appendonly.aof")
		dumps = append(dumps, "appendonly.aof")
	}
	for _, name := range dumps {
		r.dump(name)
	}
	if r.exists("nodes.conf") {
		r.s.Replication = append(r.s.Replication, "node of a cluster (nodes.conf)")
	}
}

// dump notes what a file states; that of the newest form counts.
func (r *reader) dump(name string) {
	b := r.head(name, 4096)
	d, err := rdb.Parse(b)
	if err != nil {
		if len(b) > 0 && !strings.HasSuffix(name, ".aof") {
			r.unread("/%s: %v", path.Join(r.dir, name), err)
		}
		return
	}
	r.fact("form", d.Form, name)
	r.fact("written by", d.Version(), name)
	r.fact("bits", d.Aux["redis-bits"], name)
	if d.Keys >= 0 {
		r.fact("keys of the first database", fmt.Sprint(d.Keys), name)
	}
	if formNumber(d.Form) >= formNumber(r.s.Form) {
		r.s.Form, r.s.Version = d.Form, d.Version()
	}
}

// formNumber is the number of a form such as "rdb 11"; none is zero.
func formNumber(form string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(form, "rdb "))
	return n
}

// appendOnly reads the manifest of append-only files and names their bases.
func (r *reader) appendOnly(folder string) (bases []string) {
	for _, name := range r.names(folder) {
		if !strings.HasSuffix(name, ".manifest") {
			continue
		}
		kinds := map[string]int{}
		for line := range strings.Lines(r.text(path.Join(folder, name))) {
			file, kind := manifestLine(line)
			if kind == "b" && strings.HasSuffix(file, ".rdb") && !strings.Contains(file, "/") {
				bases = append(bases, path.Join(folder, file))
			}
			kinds[kind]++
		}
		r.fact("append-only files", fmt.Sprintf("%d base, %d incremental, %d history", kinds["b"], kinds["i"], kinds["h"]), path.Join(folder, name))
	}
	return bases
}

// manifestLine reads a line as "file appendonly.aof.1.base.rdb seq 1 type b".
func manifestLine(line string) (file, kind string) {
	words := strings.Fields(line)
	for i := 0; i+1 < len(words); i += 2 {
		switch words[i] {
		case "file":
			file = strings.Trim(words[i+1], `"`)
		case "type":
			kind = words[i+1]
		}
	}
	return file, kind
}
