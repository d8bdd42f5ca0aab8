package words

import "strings"

// Clipped returns the beginning of a text, a copy if it is longer.
func Clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// OfError returns the text of an error, or nothing for nil.
func OfError(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
