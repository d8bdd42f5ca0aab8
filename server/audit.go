package server

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// audited logs each call of a handler for admins, also a refused one.
func (ac *access) audited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := &audit{log: ac.log}
		if name := matchIn(r); name != "" {
			a.log = ac.registry.logOf(name) // the call may end the match
		}
		r = r.WithContext(context.WithValue(r.Context(), auditKey{}, a))
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			if v := recover(); v != nil {
				ac.logCall(r, a, http.StatusInternalServerError, "")
				panic(v)
			}
			ac.logCall(r, a, answer.status, answer.message)
		}()
		next(answer, r)
	}
}

// auditedValues are the values of a request that the log may have. The others, such as a token's ID, may not.
var auditedValues = []string{"seat", "peer", "percent", "subject", "name", "address", "for", "reason"}

// roleRefused is the reason in the log why a valid token was refused.
const roleRefused = "its role does not permit this"

// logCall writes the line of a call, with the message of an error.
func (ac *access) logCall(r *http.Request, a *audit, status int, message string) {
	log := a.log
	if a.match != "" {
		log = ac.registry.logOf(a.match)
	}
	words := []any{"action", r.Method + " " + wsmatch.Clip(r.URL.Path), "status", status, "address", clientText(r.RemoteAddr)}
	if a.grant.Subject != "" {
		words = append(words, "identity", a.grant.Subject, "name", a.grant.Name)
	}
	for _, name := range auditedValues {
		if v := r.Form.Get(name); v != "" {
			if name == "name" {
				name = "named" // the caller's own is in the line, too
			}
			words = append(words, name, wsmatch.Clip(v))
		}
	}
	switch {
	case a.why != nil && status >= http.StatusBadRequest:
		words = append(words, "why", refusalText(a.why))
	case message == refusedText:
		words = append(words, "why", roleRefused)
	case message != "":
		words = append(words, "why", wsmatch.Clip(message))
	}
	level := slog.LevelInfo
	if status == http.StatusForbidden || status == http.StatusTooManyRequests {
		omitted, ok := ac.refusals.allow()
		if !ok {
			return
		}
		level = slog.LevelWarn
		if omitted > 0 {
			words = append(words, "omitted", omitted)
		}
	}
	log.Log(r.Context(), level, "admin", words...)
}

// A statusWriter keeps the status of an answer, and the message of an error.
type statusWriter struct {
	http.ResponseWriter
	status  int
	message string
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// onlyAdmins lets only admins pass.
func (ac *access) onlyAdmins(next http.HandlerFunc) http.HandlerFunc {
	return ac.audited(func(w http.ResponseWriter, r *http.Request) {
		if g, ok := ac.authenticate(w, r); ok && permitted(w, g.Role == protocol.Admin) {
			next(w, r)
		}
	})
}
