package pkgversion

import (
	"cmp"
	"slices"
	"strings"
)

// The suffixes of an apk version, before and after the version without one.
var (
	apkBefore = []string{"alpha", "beta", "pre", "rc"}
	apkAfter  = []string{"cvs", "svn", "git", "hg", "p"}
)

// compareApk is the order of apk-tools: numbers, a letter, suffixes, a commit's
// hash, the package's revision.
func compareApk(a, b string) int {
	a, revisionA, _ := strings.Cut(a, "-r")
	b, revisionB, _ := strings.Cut(b, "-r")
	a, hashA, _ := strings.Cut(a, "~")
	b, hashB, _ := strings.Cut(b, "~")
	a, suffixA, _ := strings.Cut(a, "_")
	b, suffixB, _ := strings.Cut(b, "_")
	return cmp.Or(
		compareApkNumbers(a, b),
		compareApkSuffixes(suffixA, suffixB),
		cmp.Compare(hashA, hashB),
		compareNumbers(revisionA, revisionB),
	)
}

// compareApkNumbers compares dotted numbers, the last maybe with a letter.
func compareApkNumbers(a, b string) int {
	for first := true; a != "" && b != ""; first = false {
		partA, restA, _ := strings.Cut(a, ".")
		partB, restB, _ := strings.Cut(b, ".")
		i, j := digits(partA), digits(partB)
		if c := compareApkNumber(partA[:i], partB[:j], first); c != 0 {
			return c
		}
		if c := compareApkLetter(partA[i:], partB[j:]); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// compareApkLetter compares what stands after a number: a letter, and in the
// versions of some software a number of its own, such as 6.6.2p1.
func compareApkLetter(a, b string) int {
	nameA, nameB := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	return cmp.Or(strings.Compare(nameA, nameB), compareNumbers(a[len(nameA):], b[len(nameB):]))
}

// compareApkNumber compares one number. All but the first are fractions where
// they begin with a zero.
func compareApkNumber(a, b string, first bool) int {
	if !first && (strings.HasPrefix(a, "0") || strings.HasPrefix(b, "0")) {
		return strings.Compare(a, b)
	}
	return compareNumbers(a, b)
}

// compareApkSuffixes compares suffixes one by one: pre-releases come before
// none, none before patches.
func compareApkSuffixes(a, b string) int {
	for a != "" || b != "" {
		var partA, partB string
		partA, a, _ = strings.Cut(a, "_")
		partB, b, _ = strings.Cut(b, "_")
		nameA, nameB := strings.TrimRight(partA, "0123456789"), strings.TrimRight(partB, "0123456789")
		c := cmp.Or(cmp.Compare(suffixRank(nameA), suffixRank(nameB)), compareNumbers(partA[len(nameA):], partB[len(nameB):]))
		if c != 0 {
			return c
		}
	}
	return 0
}

// suffixRank is zero for no suffix.
func suffixRank(name string) int {
	if i := slices.Index(apkBefore, name); i >= 0 {
		return i - len(apkBefore)
	}
	return slices.Index(apkAfter, name) + 1
}
