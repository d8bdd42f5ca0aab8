package server

import (
	"net/http"
	"time"
)

// HTTPServer returns an http.Server for a handler such as a [Server]. It limits the size of a request and the time
// that a request may take. These limits do not apply to a WebSocket. Connections of a [Server.Listener] that are beyond the budget
// of their address reach h only with a valid token.
func HTTPServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           tried(h),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       withSocket,
	}
}

// A closeOnError is a ResponseWriter that closes the connection after an error status. Each retry then needs a new
// connection, and new connections have a budget.
type closeOnError struct{ http.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w closeOnError) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w closeOnError) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// tried serves the requests of connections that are not on trial, or pass it.
func tried(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if x, ok := r.Context().Value(socketKey{}).(*socket); ok && x.trial.Load() {
			if !x.gate.admit(x, w, r) {
				return
			}
			r = withReserve(r)
		}
		next.ServeHTTP(w, r)
	})
}
