//go:build !js

package serving

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/page"
)

// A pageHandler serves a game's page in front of another handler.
type pageHandler struct {
	next  http.Handler
	wait  time.Duration // of requests that come before the page is ready
	also  []string      // origins to which the page may connect, see [site.Site.Over]
	Ready chan struct{} // closed when site or err is set
	site  *site.Site
	err   error
}

// NewPageHandler builds the page in the background, which takes a minute for the first time.
func NewPageHandler(ctx context.Context, p *gameset.WebPage, next http.Handler, log *slog.Logger) *pageHandler {
	h := &pageHandler{next: next, wait: 20 * time.Second, Ready: make(chan struct{})}
	go func() {
		defer close(h.Ready)
		programs, err := PagePrograms(ctx, p, func(text string) { log.Warn(text) })
		if err == nil {
			h.site, err = site.NewWith(p.Made, p.Files(), page.Parts(), programs)
		}
		if h.err = err; err != nil && ctx.Err() == nil {
			log.Error("the page to play on is not available", "err", err)
		}
	}()
	return h
}

// ServeHTTP implements [http.Handler].
func (h *pageHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-h.Ready:
	default:
		if r.URL.Path != "/" {
			h.next.ServeHTTP(w, r)
			return
		}
		select {
		case <-h.Ready:
		case <-r.Context().Done():
			return
		case <-time.After(h.wait): // a browser does not wait for minutes
			w.Header().Set("Refresh", "1")
			http.Error(w, "The page is being built, which takes a minute for the first time …", http.StatusServiceUnavailable)
			return
		}
	}
	switch {
	case h.site != nil:
		h.site.Over(h.next, h.also...).ServeHTTP(w, r)
	case r.URL.Path == "/":
		http.Error(w, "The page to play on is not available: "+h.err.Error(), http.StatusServiceUnavailable)
	default:
		h.next.ServeHTTP(w, r)
	}
}
