package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBody is the size limit of a request's body, in bytes.
const maxBody = 64 << 10

// admin lets only admins pass. The values of the request are in its Form then; a JSON object may have the given names.
func (ac *access) admin(next http.HandlerFunc, names ...string) http.HandlerFunc {
	return ac.onlyAdmins(func(w http.ResponseWriter, r *http.Request) {
		if takeArguments(w, r, names) {
			next(w, r)
		}
	})
}

// takeArguments reads the values of a request from its query and its body, which is a form or a JSON object, into its Form. Only a
// JSON object is checked for other names. It answers the request and reports false if the body is wrong.
func takeArguments(w http.ResponseWriter, r *http.Request, names []string) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		fail(w, codeTooLarge, err.Error())
		return false
	}
	isObject := bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
	if !isObject {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if err == nil {
		err = r.ParseForm()
	}
	if err == nil && isObject {
		err = takeObject(r, body, names)
	}
	if err != nil {
		fail(w, codeRequest, err.Error())
		return false
	}
	return true
}

// takeObject adds the fields of a JSON object to the Form of a request.
func takeObject(r *http.Request, body []byte, names []string) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	fields := map[string]any{}
	if err := d.Decode(&fields); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("body: want one JSON object and nothing after it")
	}
	for name, value := range fields {
		if !slices.Contains(names, name) {
			return fmt.Errorf("body: unknown field %q, want %s", name, orNone(names))
		}
		switch v := value.(type) {
		case string:
			r.Form.Set(name, v)
		case json.Number:
			r.Form.Set(name, v.String())
		case bool:
			r.Form.Set(name, strconv.FormatBool(v))
		default:
			return fmt.Errorf("%s: want a text, a number, true or false", name)
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "no fields"
	}
	return strings.Join(names, ", ")
}

// maxBanDuration is the longest ban that is not for the rest of the match.
const maxBanDuration = 365 * 24 * time.Hour

// banDuration reads the duration of a ban or a revocation; "" is 0, which means no end.
func banDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > maxBanDuration {
		return 0, fmt.Errorf("for: got %q, want a duration from 1s to %v, such as 90s or 24h", text, maxBanDuration)
	}
	return d, nil
}
