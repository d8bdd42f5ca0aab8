package state

import (
	"reflect"
	"strings"
)

// A Tag is what the tag of a field says to those who use a key. Path leads to the field from the type of the whole, such as
// "Units[].Pos".
type Tag struct {
	Path string `json:"path"`
	Text string `json:"tag"`
}

// Tags returns the tags of a type's fields with a key, in the order of the fields. Those of fields that are no part of the state are
// left out.
func Tags(t reflect.Type, key string) []Tag { return tags(nil, t, key, "") }

func tags(list []Tag, t reflect.Type, key, path string) []Tag {
	switch t.Kind() {
	case reflect.Array, reflect.Slice:
		return tags(list, t.Elem(), key, path+"[]")
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get("state") != "" {
				continue
			}
			at := strings.TrimPrefix(path+"."+f.Name, ".")
			if text, ok := f.Tag.Lookup(key); ok {
				list = append(list, Tag{at, text})
			}
			list = tags(list, f.Type, key, at)
		}
	}
	return list
}
