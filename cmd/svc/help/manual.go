// Package help is the manual of svc: what commands are for, how they are called, and what
// was meant by a call that is none.
package help

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"svc/cmd/svc/exit"
)

// page is what the manual says of a command beyond its flags.
type page struct {
	about    string   // what it is for, in a few sentences
	Examples []string // calls that parse as they stand, each with what it does after a "#"
	codes    []int    // exit codes beside 0, 1, 2 and 130, which every command has
	Left     string   // what an interruption leaves; leftNothing where it is empty
}

// LeftNothing is what an interrupted command leaves where its page says nothing of it.
const LeftNothing = "Nothing was changed; the same call begins again."

// codeMeanings are what the exit codes of the contract mean.
var codeMeanings = map[int]string{
	exit.Done:            "done",
	exit.Failed:          "failed; stderr says why",
	exit.Usage:           "the call was not understood, or --confirm was missing; nothing was done",
	exit.Refused:         "refused by the service: no seat, no licence, no permission",
	exit.NotFound:        "what was named is not known to the service",
	exit.Unauthenticated: "no token, or one that the service does not take",
	exit.Differ:          "inhibitors or differences were found",
	exit.NotCompared:     "nothing could be compared",
	exit.Interrupted:     "interrupted",
}

// everyCode are the exit codes that any command may have.
var everyCode = []int{exit.Done, exit.Failed, exit.Usage, exit.Interrupted}

// codesOf are the exit codes of a command, in order.
func codesOf(p page) []int {
	codes := slices.Concat(everyCode, p.codes)
	slices.Sort(codes)
	return codes
}

// Sections are the commands of the first page, in the order of work.
var Sections = []struct {
	title    string
	Commands []string
}{
	{"LOOK", []string{"releases", "assess", "readiness", "cve-scan", "advisories"}},
	{"MOVE", []string{"rehearse", "migrate", "data", "db"}},
	{"PROVE", []string{"verify", "drift", "attest"}},
	{"ACCOUNT", []string{"auth", "account", "enroll"}},
	{"AGENTS", []string{"mcp"}},
	{"HELP AND NEWS", []string{"ask", "report", "findings", "questions", "status", "whats-new", "updates", "version", "completion", "manual"}},
	{"SERVICE", []string{"serve", "admin"}},
}

// pagesText are the pages of the manual. A page begins with the words of its command after
// a "#", and says what the command is for, then its examples after a "$", its exit codes,
// and what an interruption leaves.
//
//go:embed pages.txt
var pagesText string

// Pages are those of the manual of the commands, by the words that are typed.
var Pages = sync.OnceValue(func() map[string]page {
	all := map[string]page{}
	for text := range strings.SplitSeq(strings.TrimPrefix(pagesText, "# "), "\n# ") {
		full, text, _ := strings.Cut(text, "\n")
		all[full] = pageOf(text)
	}
	return all
})

func pageOf(text string) (p page) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch mark, rest, _ := strings.Cut(line, " "); mark {
		case "$":
			p.Examples = append(p.Examples, rest)
		case "exit:":
			for code := range strings.FieldsSeq(rest) {
				n, err := strconv.Atoi(code)
				if err != nil {
					panic(err)
				}
				p.codes = append(p.codes, n)
			}
		case "left:":
			p.Left = rest
		default:
			p.about += line
		}
	}
	return p
}

// environment are the variables that svc reads beside those of its settings, and
// that people look for.
var environment = []struct{ name, what string }{
	{"CREDENTIALS_DIRECTORY", "of a service that systemd started: svc.db, svc.signing-key, svc.tls-cert and svc.tls-key in it are these settings"},
	{"SVC_API_KEY", "the API token, in place of the stored one"},
	{"SVC_…", "any setting: SVC_SERVER for --server, SVC_DB for --db, SVC_JSON=1 for --json; a flag wins, the configuration file loses"},
	{"XDG_CONFIG_HOME", "where settings are, in svc/; likewise XDG_DATA_HOME for the store and keys, XDG_STATE_HOME for counters, XDG_CACHE_HOME for copies of archives"},
}
