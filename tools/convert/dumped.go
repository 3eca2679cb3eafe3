package convert

import "strings"

// dumped are the engines whose configuration is dumped as their databases are, each with
// where lines of families keep what it names.
var dumped = map[string]Homes{"slapd": HomesOf("slapd")}

// Dump is the configuration of an engine that comes with the dump of its databases.
type Dump struct {
	From, To string // its folders on the source and on the target
	Names    Places // what it names, and where the target has that
}

// Dumped is that of an engine which the target keeps elsewhere; nothing where it stays in
// its place, and so comes with the role.
func Dumped(in Input, engine string) (d Dump) {
	if source, target := in.sides(); source == target || dumped[engine] == nil {
		return Dump{}
	}
	places := dumped[engine].Between(in)
	for folder, of := range WordsOf("dumped") {
		if at := places.Move(folder); of.Now == engine && at != folder {
			d = Dump{folder, at, places}
		}
	}
	return d
}

// WithDump reports whether a file comes with the dump of an engine.
func WithDump(in Input, engine, file string) bool {
	d := Dumped(in, engine)
	return d.From != "" && strings.HasPrefix(file, d.From+"/")
}
