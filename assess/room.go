package assess

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// MaxKept bounds what an assessment keeps beside the package database, in bytes:
// some times what a server of a thousand sites has.
const MaxKept = 7 << 20

// mostOfOne bounds what one list has of that: where a machine has ten thousands of files
// in /etc, there is room left for its networks and its firewall.
const mostOfOne = MaxKept / 7 * 6

// manyRead is from how many bytes of a machine's files on what is kept is copied
// out of them: else a word would keep the whole file that it stands in.
const manyRead = 8 << 20

// room is what is left for the lists of an assessment.
type room struct {
	kept    int
	keptOf  map[string]int // bytes that are kept of each list, by its name
	weighed map[string]int // entries of each list that were weighed
	left    map[string]int // entries of each list that were left out
	read    int64          // bytes of files that were read when a list was weighed last
}

// A list is weighed once it got that many entries, or once that many bytes of files were
// read for it: an entry may be as long as a file.
const (
	maxUnweighed     = 10_000
	maxUnweighedRead = 2 << 20
)

// Grow adds to a list that one step may make longer than there is room for.
func Grow[T any](m *Machine, name string, list *[]T, entry T) {
	*list = append(*list, entry)
	if len(*list) > m.room.weighed[name]+maxUnweighed || m.small.Load() > m.room.read+maxUnweighedRead {
		m.boundList(name, reflect.ValueOf(list).Elem())
	}
}

// Bound cuts the lists that a step made to what there is room for, and says so.
// Packages, findings and sources are bounded where they are added.
func (m *Machine) Bound() {
	v := reflect.ValueOf(m.A).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if v.Field(i).Kind() == reflect.Slice && !slices.Contains([]string{"packages", "findings", "sources"}, name) {
			m.boundList(name, v.Field(i))
		}
	}
}

func (m *Machine) boundList(name string, list reflect.Value) {
	if m.room.weighed == nil {
		m.room.weighed, m.room.left, m.room.keptOf = map[string]int{}, map[string]int{}, map[string]int{}
	}
	m.room.read = m.small.Load()
	n, all := m.room.weighed[name], list.Len()
	for ; n < all; n++ {
		w := Weigh(list.Index(n), m.small.Load() > manyRead)
		if m.room.kept+w > MaxKept || m.room.keptOf[name]+w > mostOfOne {
			break
		}
		m.room.kept += w
		m.room.keptOf[name] += w
	}
	m.room.weighed[name] = n
	if n >= all {
		return
	}
	list.Slice(n, all).Clear() // of the rest nothing shall stay
	list.SetLen(n)
	m.leftOut(name, all-n)
}

// ListPrefix is what the sources begin with that are lists of an assessment: such a
// source is unreadable where the list had more than there is room for.
const ListPrefix = "assessment."

// leftOut says once of a list how many of its entries there was no room for.
func (m *Machine) leftOut(name string, n int) {
	m.room.left[name] += n
	said := Source{ListPrefix + name, SourceUnreadable, fmt.Sprintf("%d more than there is room for are left out", m.room.left[name])}
	if i := slices.IndexFunc(m.A.Sources, func(s Source) bool { return s.What == said.What }); i >= 0 {
		m.A.Sources[i] = said
		return
	}
	m.A.Sources = append(m.A.Sources, said)
}

// Weigh is about how many bytes a value takes. On demand its words are copied.
func Weigh(v reflect.Value, copied bool) (n int) {
	switch v.Kind() {
	case reflect.String:
		if copied {
			v.SetString(strings.Clone(v.String()))
		}
		return int(v.Type().Size()) + v.Len()
	case reflect.Slice:
		for i := range v.Len() {
			n += Weigh(v.Index(i), copied)
		}
		return n + int(v.Type().Size())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return int(v.Type().Size())
		}
		for i := range v.NumField() {
			n += Weigh(v.Field(i), copied)
		}
		return n
	}
	return int(v.Type().Size())
}
