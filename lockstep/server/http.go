package server

import (
	"net/http"
	"time"
)

// HTTPServer returns an http.Server of a handler, such as a [Server], with
// bounds on what a client may send before it has said what it wants, and on how
// long that may take. The bounds end where a WebSocket begins.
func HTTPServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       withSocket,
	}
}

// A refusing is a ResponseWriter that ends the connection of a request which is
// refused: whoever asks again has to connect again, and connections have a budget.
type refusing struct{ http.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w refusing) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w refusing) Unwrap() http.ResponseWriter { return w.ResponseWriter }
