// Package lazyregexp compiles regular expressions when they are first used, so
// that a run of the program pays for those that it uses. Variables and tables
// that are made with New cost nothing before: the compiler lays them out.
package lazyregexp

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Regexp is a regular expression. Its methods are those of regexp.Regexp, and
// several goroutines may use it.
type Regexp struct {
	pattern  string
	once     sync.Once
	compiled *regexp.Regexp
	needed   []string // of which every match has one; none where nothing can be said
}

// New takes a pattern that stands in the program: one that does not compile
// panics where it is first used, and the test of this package finds it.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

// Whole is New for a pattern that has to match all of a text.
func Whole(pattern string) *Regexp { return New("^(?:" + pattern + ")$") }

func (r *Regexp) get() *regexp.Regexp {
	r.once.Do(func() { r.compiled, r.needed = regexp.MustCompile(r.pattern), neededBy(r.pattern) })
	return r.compiled
}

// Match is that of regexp.Regexp, as are all that follow.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// lacks reports whether s surely has no match. Most texts have none, and show it by what
// they lack: that is seen many times faster.
func (r *Regexp) lacks(s string) bool {
	r.get()
	return len(r.needed) > 0 && !slices.ContainsFunc(r.needed, func(text string) bool { return strings.Contains(s, text) })
}

// MatchString reports whether s has a match.
func (r *Regexp) MatchString(s string) bool { return !r.lacks(s) && r.get().MatchString(s) }

// FindString is the first match.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindSubmatch is the first match and its groups.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.get().FindSubmatch(b) }

// FindStringSubmatch is the first match and its groups.
func (r *Regexp) FindStringSubmatch(s string) []string {
	if r.lacks(s) {
		return nil
	}
	return r.get().FindStringSubmatch(s)
}

// FindAll is the first n matches.
func (r *Regexp) FindAll(b []byte, n int) [][]byte { return r.get().FindAll(b, n) }

// FindAllSubmatch is the first n matches and their groups.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

// FindAllString is the first n matches.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringIndex is where the first n matches begin and end.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.get().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is the first n matches and their groups.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// ReplaceAllString replaces every match; $1 in the replacement is a group.
func (r *Regexp) ReplaceAllString(s, by string) string { return r.get().ReplaceAllString(s, by) }

// ReplaceAllStringFunc replaces every match by what a function makes of it.
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, by)
}

// FindAllStringSubmatchIndex is where the first n matches and their groups begin and end.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// SubexpNames are the names of the groups; the first is that of the whole, "".
func (r *Regexp) SubexpNames() []string { return r.get().SubexpNames() }
