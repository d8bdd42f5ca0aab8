package server

import (
	"bytes"
	"cmp"
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

// A code names an error of the HTTP interface for programs. A name never changes its meaning.
type code string

// statuses has the one HTTP status of each code.
var statuses = make(map[code]int)

func newCode(name code, status int) code {
	statuses[name] = status
	return name
}

var (
	codeRequest      = newCode("bad_request", http.StatusBadRequest)
	codeRefused      = newCode("refused", http.StatusForbidden)
	codeOrigin       = newCode("wrong_origin", http.StatusForbidden)
	codeHost         = newCode("wrong_host", http.StatusForbidden)
	codeNoRoute      = newCode("no_route", http.StatusNotFound)
	codeNoAction     = newCode("no_action", http.StatusNotFound)
	codeNoMatch      = newCode("no_match", http.StatusNotFound)
	codeNoReplay     = newCode("no_replay", http.StatusNotFound)
	codeNoAsset      = newCode("no_asset", http.StatusNotFound)
	codeNoRevocation = newCode("no_revocation", http.StatusNotFound)
	codeMethod       = newCode("wrong_method", http.StatusMethodNotAllowed)
	codeExists       = newCode("match_exists", http.StatusConflict)
	codeConflict     = newCode("conflict", http.StatusConflict)
	codeInProgress   = newCode("in_progress", http.StatusConflict)
	codeKeyReused    = newCode("key_reused", http.StatusUnprocessableEntity)
	codeOver         = newCode("match_over", http.StatusGone)
	codePrecondition = newCode("precondition_failed", http.StatusPreconditionFailed)
	codeTooLarge     = newCode("too_large", http.StatusRequestEntityTooLarge)
	codeRange        = newCode("bad_range", http.StatusRequestedRangeNotSatisfiable)
	codeUpgrade      = newCode("upgrade_required", http.StatusUpgradeRequired)
	codeRequests     = newCode("too_many_requests", http.StatusTooManyRequests)
	codeGuesses      = newCode("too_many_guesses", http.StatusTooManyRequests)
	codeGuestLimit   = newCode("guest_limit", http.StatusTooManyRequests)
	codeInternal     = newCode("internal", http.StatusInternalServerError)
	codeGame         = newCode("game_failed", http.StatusInternalServerError)
	codeUnsupported  = newCode("not_supported", http.StatusNotImplemented)
	codeBusy         = newCode("busy", http.StatusServiceUnavailable)
	codeRecovering   = newCode("recovering", http.StatusServiceUnavailable)
	codeGuestsFull   = newCode("guests_full", http.StatusServiceUnavailable)
	codeFull         = newCode("too_many_matches", http.StatusServiceUnavailable)
	codeShutdown     = newCode("shutting_down", http.StatusServiceUnavailable)
	codeStorage      = newCode("storage", http.StatusInsufficientStorage)
)

// An apiError is the JSON of an error: {"error":{"code":"no_match","message":"no such match"}}.
type apiError struct {
	Error apiProblem `json:"error"`
}

type apiProblem struct {
	Code    code   `json:"code"`
	Message string `json:"message"`
}

// reply answers with a value as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	b, _ := json.Marshal(v) // no value of ours has an error
	replyJSON(w, status, append(b, '\n'))
}

// replyJSON answers with JSON.
func replyJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// fail answers with an error. The message is for people.
func fail(w http.ResponseWriter, c code, message string) {
	h := w.Header()
	for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified", "Cache-Control"} { // of the answer without the error
		h.Del(name)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	message = strings.TrimPrefix(message, "server: ")
	if a, ok := w.(*statusWriter); ok {
		a.message = message
	}
	reply(w, statuses[c], apiError{apiProblem{c, message}})
}

// failFor is fail for an error that may be over after some seconds.
func failFor(w http.ResponseWriter, seconds int, c code, message string) {
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	fail(w, c, message)
}

// sendsFile sets the headers of an answer that is a file.
func sendsFile(w http.ResponseWriter, name, cache string) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", cache)
	if name != "" {
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	}
}

// foreignErrors writes the errors of handlers that are not ours: those of net/http and of the WebSocket library.
type foreignErrors struct {
	http.ResponseWriter
	failed code // of an error whose text is to come
	told   bool
}

// foreignCodes are the codes of their statuses. All others are codeRequest.
var foreignCodes = map[int]code{
	http.StatusForbidden:                    codeOrigin,
	http.StatusNotFound:                     codeNoRoute,
	http.StatusMethodNotAllowed:             codeMethod,
	http.StatusPreconditionFailed:           codePrecondition,
	http.StatusRequestedRangeNotSatisfiable: codeRange,
	http.StatusUpgradeRequired:              codeUpgrade,
	http.StatusInternalServerError:          codeInternal,
	http.StatusNotImplemented:               codeInternal,
}

func (w *foreignErrors) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.failed = cmp.Or(foreignCodes[status], codeRequest)
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") { // no text follows
		w.tell(http.StatusText(status))
	}
}

// Write implements [http.ResponseWriter]. The text of an error comes in one call.
func (w *foreignErrors) Write(b []byte) (int, error) {
	if w.failed == "" {
		return w.ResponseWriter.Write(b)
	}
	w.tell(string(b))
	return len(b), nil
}

// tell answers with the error, once.
func (w *foreignErrors) tell(text string) {
	if !w.told {
		w.told = true
		fail(w.ResponseWriter, w.failed, strings.TrimSpace(text))
	}
}

func (w *foreignErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// linkNext names the next page of a list, which follows after a name.
func linkNext(w http.ResponseWriter, r *http.Request, after string) {
	v := r.URL.Query()
	v.Set("after", after)
	w.Header().Set("Link", `<?`+v.Encode()+`>; rel="next"`)
}

// maxBody is the size limit of a request's body, in bytes.
const maxBody = 64 << 10

// readBody reads the body of a request. It answers the request and reports false if it cannot.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		fail(w, codeTooLarge, err.Error())
	} else if err != nil {
		fail(w, codeRequest, err.Error())
	}
	return body, err == nil
}

// takeArguments reads the values of a request from its query and its body, which is a form or a JSON object, into its Form. Only a
// JSON object is checked for other names. It answers the request and reports false if the body is wrong.
func takeArguments(w http.ResponseWriter, r *http.Request, names []string) bool {
	body, ok := readBody(w, r)
	if !ok {
		return false
	}
	isObject := bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
	if !isObject {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	err := r.ParseForm()
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
			return fmt.Errorf("body: unknown field %q, want %s", name, cmp.Or(strings.Join(names, ", "), "no fields"))
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
