package assess

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// maxKept bounds what an assessment keeps beside the package database, in bytes:
// some times what a server of a thousand sites has.
const maxKept = 7 << 20

// manyRead is from how many bytes of a machine's files on what is kept is copied
// out of them: else a word would keep the whole file that it stands in.
const manyRead = 8 << 20

// room is what is left for the lists of an assessment.
type room struct {
	kept    int
	weighed map[string]int // entries of each list that were weighed, by its name
}

// bound cuts the lists that a step made to what there is room for, and says so.
// Packages, findings and sources are bounded where they are added.
func (m *machine) bound() {
	if m.room.weighed == nil {
		m.room.weighed = map[string]int{}
	}
	v := reflect.ValueOf(m.a).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if v.Field(i).Kind() == reflect.Slice && !slices.Contains([]string{"packages", "findings", "sources"}, name) {
			m.boundList(name, v.Field(i))
		}
	}
}

func (m *machine) boundList(name string, list reflect.Value) {
	n, all := m.room.weighed[name], list.Len()
	for ; n < all; n++ {
		w := weigh(list.Index(n), m.small.Load() > manyRead)
		if m.room.kept+w > maxKept {
			break
		}
		m.room.kept += w
	}
	m.room.weighed[name] = n
	if n >= all {
		return
	}
	kept := reflect.MakeSlice(list.Type(), n, n)
	reflect.Copy(kept, list) // of the rest nothing shall stay
	list.Set(kept)
	m.a.Sources = append(m.a.Sources, Source{"assessment." + name, SourceUnreadable, fmt.Sprintf("%d more than any real machine has are left out", all-n)})
}

// weigh is about how many bytes a value takes. On demand its words are copied.
func weigh(v reflect.Value, copied bool) (n int) {
	switch v.Kind() {
	case reflect.String:
		if copied {
			v.SetString(strings.Clone(v.String()))
		}
		return int(v.Type().Size()) + v.Len()
	case reflect.Slice:
		for i := range v.Len() {
			n += weigh(v.Index(i), copied)
		}
		return n + int(v.Type().Size())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return int(v.Type().Size())
		}
		for i := range v.NumField() {
			n += weigh(v.Field(i), copied)
		}
		return n
	}
	return int(v.Type().Size())
}
