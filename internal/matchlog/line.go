package matchlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var errEmpty = errors.New("got an empty line, want an object")

// decode decodes a line into l, which has all fields that the line may have.
func decode(line []byte, l any) error {
	if !utf8.Valid(line) {
		return errors.New("got bytes that are not UTF-8")
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return errEmpty
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return undecoded(err)
	}
	if bytes.Contains(line, []byte(`\u`)) && !paired(line) {
		return errors.New("got half of a surrogate pair, which is no character")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return checkFields(line)
}

// paired reports whether each escaped surrogate in valid JSON has its other half, for which encoding/json takes another character.
func paired(line []byte) bool {
	escaped := func(i int) uint64 { // the code unit that is escaped at i, or 0
		if i+6 > len(line) || line[i] != '\\' || line[i+1] != 'u' {
			return 0
		}
		unit, _ := strconv.ParseUint(string(line[i+2:i+6]), 16, 16)
		return unit
	}
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		if unit := rune(escaped(i)); utf16.IsSurrogate(unit) {
			if utf16.DecodeRune(unit, rune(escaped(i+6))) == utf8.RuneError {
				return false
			}
			i += 6
		}
		i++ // the escaped character, which may be a backslash
	}
	return true
}

// undecoded returns why a line cannot be decoded.
func undecoded(err error) error {
	var other *json.UnmarshalTypeError
	if !errors.As(err, &other) {
		return fmt.Errorf("%.200v", err) // the text may contain the name of a field
	}
	want := "a text"
	switch kind := other.Type.Kind(); kind {
	case reflect.Struct:
		return fmt.Errorf("got %.40s, want an object", other.Value)
	case reflect.Bool:
		want = "true"
	case reflect.Int:
		want = "a whole number"
	case reflect.Slice:
		want = "a list of texts"
		if other.Type.Elem().Kind() == reflect.Uint8 {
			want = "a text"
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		want = fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<other.Type.Bits()-1)
	}
	return fmt.Errorf("got %.40s for the field %q, want %s", other.Value, other.Field, want)
}

// checkFields makes the checks that encoding/json does not: it ignores the case of names, uses
// the last of two equal names, and accepts null.
func checkFields(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	d.Token() // no error: the line has been decoded
	seen := make([]string, 0, 8)
	for d.More() {
		name, _ := d.Token()
		value, _ := d.Token()
		field, _ := name.(string)
		if field == "sections" && value == json.Delim('[') {
			value = checkList(d)
		}
		_, nested := value.(json.Delim)
		switch {
		case strings.Trim(field, "abcdefghijklmnopqrstuvwxyz_") != "":
			return fmt.Errorf("got a field %.40q, want its name in lower case", field)
		case slices.Contains(seen, field):
			return fmt.Errorf("got the field %q twice", field)
		case value == nil:
			return fmt.Errorf("got null for the field %q, want another value or no such field", field)
		case nested || value == false:
			return fmt.Errorf("got %v for the field %q, want another value or no such field", value, field)
		}
		seen = append(seen, field)
	}
	return nil
}

// checkList reads a list of texts up to its end. It returns nil if a null is in it.
func checkList(d *json.Decoder) (value any) {
	value = ""
	for d.More() {
		if item, _ := d.Token(); item == nil {
			value = nil
		}
	}
	d.Token()
	return value
}
