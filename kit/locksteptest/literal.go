package locksteptest

import (
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// literals writes plain data as Go expressions, and collects the imports that they need.
type literals struct {
	own     string   // import path of the test, whose types need no package name
	imports []string // import paths
}

var errUnnamed = errors.New("has a type that this package cannot name")

// of returns an expression for a value: plain data, or a pointer to it.
func (l *literals) of(value any) (string, error) {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Pointer {
		return l.value(v)
	}
	s, err := l.value(v.Elem())
	return "&" + s, err
}

func (l *literals) value(v reflect.Value) (string, error) {
	switch {
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String()), nil
	case v.Kind() == reflect.Slice && v.Len() == 0:
		return "nil", nil
	}
	name, err := l.name(v.Type())
	if err != nil {
		return "", err
	}
	var parts []string
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() || v.Field(i).IsZero() {
				continue
			}
			s, err := l.value(v.Field(i))
			if err != nil {
				return "", err
			}
			parts = append(parts, field.Name+": "+s)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s, err := l.value(v.Index(i))
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
	default:
		return "", fmt.Errorf("a value of type %s is not plain data", v.Type())
	}
	return name + "{" + strings.Join(parts, ", ") + "}", nil
}

// name returns the name of a type in the test's package.
func (l *literals) name(t reflect.Type) (string, error) {
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Slice:
			s, err := l.name(t.Elem())
			return "[]" + s, err
		case reflect.Array:
			s, err := l.name(t.Elem())
			return fmt.Sprintf("[%d]%s", t.Len(), s), err
		}
		return "", fmt.Errorf("%s %w", t, errUnnamed)
	}
	switch path := t.PkgPath(); {
	case path == "" || path == l.own:
		return t.Name(), nil
	case !token.IsExported(t.Name()) || strings.Contains(t.Name(), "["):
		return "", fmt.Errorf("%s %w", t, errUnnamed)
	default:
		l.add(path)
		return t.String(), nil
	}
}

func (l *literals) add(path string) {
	if !slices.Contains(l.imports, path) {
		l.imports = append(l.imports, path)
	}
}
