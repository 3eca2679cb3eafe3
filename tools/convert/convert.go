// Package convert carries what people wrote into /etc over to another release:
// the same settings in the target's places, names and versions. It is pure:
// texts in, texts out.
//
// A converter is a row of registry: which files of a source it takes, for
// which pairs of releases, and the function that converts them, all files of
// one service at once. That function
//
//   - keeps every line, comment and the order: a setting that the target lacks
//     becomes a comment, one that has another name or value is rewritten in its
//     line, so that a line of the result is a line of the source;
//   - says of each line that it touched what stands there now, and why;
//   - refuses what it does not understand, with the line, instead of guessing.
//     A file with a refusal is not written: a person carries it over.
//
// To add one: its function in the room of its trade and a row in registry; a file of
// testdata there with what comes in, and one with what is expected (go test -update);
// where the program is at hand, a check of .ci/e2e that it takes the result.
package convert

import (
	"path"

	"svc/backend/release"
)

// Input is what people wrote for one service, with what converters may ask.
type Input struct {
	Source, Target release.Release
	Files          []File
	// Links are the links among the files, with the files that they lead to.
	Links map[string]string
	// Installed are the versions of packages on the source, by name; Brought
	// are those that the target gets. A version may be empty.
	Installed, Brought map[string]string
	// Folder gives the texts of a folder of the source whose names end so, for what a
	// configuration means by them; nil where nothing can be asked.
	Folder func(name, end string) []File
	// Pages are files in folders of pages that set how these are served, such as .htaccess.
	Pages []File
}

// File is a file with its whole text. On the source it is where it stands; in a
// result it is for the target.
type File struct {
	Path string
	Text string
	// From is the file of the source that a result follows.
	From string
	// Mode is octal, where it is not that of the source.
	Mode string
}

// Enabled are the names of the links by which files of the source are enabled, by file.
func (in Input) Enabled() map[string]string {
	names := map[string]string{}
	for link, file := range in.Links {
		names[file] = path.Base(link)
	}
	return names
}

// Change is a line that is not as it was.
type Change struct {
	Line int    `json:"line"` // from 1; 0 is the file as a whole
	Was  string `json:"was"`
	Now  string `json:"now"`
	Why  string `json:"why"`
}

// Refusal is a line that is not understood.
type Refusal struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// Link is a symbolic link that a converted file needs: what a2ensite would make.
type Link struct {
	Path, Target string
	From, Why    string
}

// Result is what becomes of the files of one service.
type Result struct {
	Files    []File
	Changes  map[string][]Change  // by path on the source
	Refusals map[string][]Refusal // by path on the source
	Links    []Link
	Removed  []Link   // what must not be there, such as a default site; Target is empty
	Packages []string // what the settings need beside what the plan installs
}

func (r *Result) Refuse(path string, all ...Refusal) {
	if r.Refusals == nil {
		r.Refusals = map[string][]Refusal{}
	}
	r.Refusals[path] = append(r.Refusals[path], all...)
}
