// Package nearest finds the known names that a mistyped one may mean.
package nearest

import (
	"cmp"
	"slices"
	"strings"

	"svc/backend/sliced"
)

// To gives up to n of the known names, those first that look most like a name.
func To(name string, n int, known []string) []string {
	name = strings.ToLower(name)
	sorted := slices.Clone(known)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(distance(name, a), distance(name, b))
	})
	return sorted[:min(n, len(sorted))]
}

// Typo is the known name that another one is a misspelling of: at most one letter in
// three is wrong, one even in a short one.
func Typo(name string, known []string) (meant string, ok bool) {
	for _, meant := range To(name, 1, known) {
		return meant, distance(strings.ToLower(name), meant) <= max(1, len(meant)/3)
	}
	return "", false
}

// Meant is the known name that another one means: as a misspelling of it, as one of its
// parts ("scan" of "cve-scan"), or as another word for it that other programs have.
func Meant(name string, known []string) (meant string, ok bool) {
	name = strings.ToLower(name)
	if meant, ok := first(senses[strings.ReplaceAll(name, "_", "-")], known); ok {
		return meant, true
	}
	if meant, ok := Typo(name, known); ok {
		return meant, true
	}
	of := sliced.Filter(known, func(k string) bool {
		return slices.Contains(strings.FieldsFunc(k, func(r rune) bool { return r == '-' || r == '_' }), name)
	})
	if len(of) == 1 { // of several it may mean each
		return of[0], true
	}
	return "", false
}

// first is the first of the wanted names that is known, by whichever of - and _ it is written.
func first(wanted, known []string) (string, bool) {
	for _, w := range wanted {
		for _, spelt := range []string{w, strings.ReplaceAll(w, "-", "_")} {
			if slices.Contains(known, spelt) {
				return spelt, true
			}
		}
	}
	return "", false
}

// senses are words that people bring along from other programs, and what svc calls the
// same, the likeliest first: of commands, and of flags and arguments.
// Origin: the flags and commands of ansible-playbook, docker, gh, leapp, rsync, terraform,
// trivy and virt-v2v.
var senses = map[string][]string{
	"scan": {"cve-scan"}, "audit": {"cve-scan"}, "vulnerabilities": {"cve-scan"}, "fleet": {"readiness"}, "inventory": {"readiness"}, "inspect": {"assess"}, "analyze": {"assess"}, "analyse": {"assess"}, "info": {"assess"},
	"plan": {"migrate"}, "convert": {"migrate"}, "move": {"migrate"}, "upgrade": {"migrate"}, "apply": {"migrate"}, "test": {"rehearse"}, "try": {"rehearse"}, "check": {"verify", "preflight"}, "compare": {"verify"}, "diff": {"drift"}, "watch": {"drift"},
	"login": {"auth"}, "logout": {"auth"}, "token": {"auth"}, "licence": {"enroll", "account"}, "license": {"enroll", "account"}, "billing": {"account"}, "start": {"serve"}, "server": {"serve"}, "man": {"manual"}, "list": {"releases"}, "distros": {"releases"}, "targets": {"releases"}, "issue": {"report"}, "bug": {"report"},
	"path": {"root"}, "dir": {"root"}, "directory": {"root"}, "folder": {"root"}, "mount": {"root"}, "chroot": {"root"}, "host": {"ssh", "source"}, "hostname": {"ssh"}, "remote": {"ssh"}, "address": {"ssh"}, "ip": {"ssh"}, "disk": {"image"}, "vm": {"image", "vms"}, "qcow2": {"image"}, "vmdk": {"image"},
	"to": {"target"}, "dest": {"target"}, "destination": {"target"}, "distro": {"target"}, "os": {"target"}, "release": {"target"}, "dry-run": {"preflight"}, "dryrun": {"preflight"}, "simulate": {"preflight"}, "what-if": {"preflight"}, "plan-only": {"preflight"}, "n": {"preflight"},
	"y": {"confirm"}, "yes": {"confirm"}, "force": {"confirm"}, "approve": {"confirm"}, "auto-approve": {"confirm"}, "o": {"out"}, "output": {"out"}, "output-dir": {"out"}, "out-dir": {"out"}, "dest-dir": {"out"},
	"secrets": {"include-secrets"}, "with-secrets": {"include-secrets"}, "feed": {"advisories"}, "severity": {"fail-on"}, "exit-code": {"fail-on"}, "jobs": {"parallel"}, "forks": {"parallel"}, "j": {"parallel"}, "format": {"json"}, "debug": {"verbose"}, "v": {"verbose"}, "q": {"quiet"}, "silent": {"quiet"}, "c": {"config"}, "h": {"help"},
	"max": {"limit"}, "count": {"limit"}, "page": {"cursor"}, "offset": {"cursor"}, "filter": {"match"}, "search": {"match"}, "query": {"match"}, "grep": {"match"}, "fields": {"section"}, "port": {"listen"}, "bind": {"listen"}, "addr": {"listen"}, "database": {"db"}, "url": {"server"}, "api-key": {"server"}, "new": {"ssh"}, "old": {"source"},
}

// distance is the Levenshtein distance of two short ASCII strings, in which two
// neighbours that changed places are one step.
func distance(a, b string) int {
	var before []int // the row before the last one
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
