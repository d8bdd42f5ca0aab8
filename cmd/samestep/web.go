package main

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/seed-49bee653/samestep/internal/site"
)

// A webPage is the page of a game.
type webPage struct {
	files    func() fs.FS
	programs map[string]string // of which NAME.wasm is built: import paths by name
}

// A pageHandler serves a game's page, once it is ready, over another handler.
type pageHandler struct {
	next  http.Handler
	wait  time.Duration // how long who asks for the page too early waits
	ready chan struct{} // closed when one of the following is there
	site  *site.Site
	err   error
}

// newPageHandler makes the page ready beside what else is going on: to build it
// for the first time takes a minute.
func newPageHandler(ctx context.Context, p *webPage, next http.Handler, log *slog.Logger) *pageHandler {
	h := &pageHandler{next: next, wait: 20 * time.Second, ready: make(chan struct{})}
	go func() {
		defer close(h.ready)
		programs, err := pagePrograms(ctx, p, func(text string) { log.Warn(text) })
		if err == nil {
			h.site, err = site.New(p.files(), programs)
		}
		if h.err = err; err != nil && ctx.Err() == nil {
			log.Error("there is no page to play on", "err", err)
		}
	}()
	return h
}

// ServeHTTP implements [http.Handler].
func (h *pageHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-h.ready:
	default:
		if r.URL.Path != "/" {
			h.next.ServeHTTP(w, r)
			return
		}
		select {
		case <-h.ready:
		case <-r.Context().Done():
			return
		case <-time.After(h.wait): // a browser does not wait for minutes
			w.Header().Set("Refresh", "1")
			http.Error(w, "The page is being built, which takes a minute when it is done for the first time …", http.StatusServiceUnavailable)
			return
		}
	}
	switch {
	case h.site != nil:
		h.site.Over(h.next).ServeHTTP(w, r)
	case r.URL.Path == "/":
		http.Error(w, "There is no page to play on here: "+h.err.Error(), http.StatusServiceUnavailable)
	default:
		h.next.ServeHTTP(w, r)
	}
}
