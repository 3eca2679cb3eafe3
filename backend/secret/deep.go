package secret

import (
	"reflect"
	"strings"
)

// MaskIn masks every text of the value that a pointer leads to: in slices, in
// structs and behind pointers, but not in maps. A field Value is looked at with
// the field Key beside it, which says what it is.
func MaskIn(pointer any) { mask(reflect.ValueOf(pointer)) }

func mask(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if masked := Mask(v.String()); masked != v.String() {
			v.SetString(masked)
		}
	case reflect.Slice:
		for i := range v.Len() {
			mask(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			mask(v.Elem())
		}
	case reflect.Struct:
		maskSetting(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				mask(v.Field(i))
			}
		}
	}
}

// maskSetting masks what a setting says.
func maskSetting(v reflect.Value) {
	key, value := v.FieldByName("Key"), v.FieldByName("Value")
	if key.Kind() != reflect.String || value.Kind() != reflect.String {
		return
	}
	if masked, ok := strings.CutPrefix(Mask(key.String()+"="+value.String()), key.String()+"="); ok && masked != value.String() {
		value.SetString(masked)
	}
}
