package main

import (
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
)

// explainer explains the bundles of a server, one at a time, in the log and on a page next to the bundle.
func explainer(log *slog.Logger) func(path string) {
	var one sync.Mutex
	return func(path string) {
		one.Lock()
		defer one.Unlock()
		e, err := explainFile(path, desync.Options{Budget: 5000})
		page := strings.TrimSuffix(path, ".zip") + ".html"
		if err == nil {
			err = files.Create(page, func(out *os.File) error { return e.WriteHTML(out) })
		}
		if err != nil {
			log.Error("explain", "path", path, "err", err)
			return
		}
		cause := "unknown"
		if e.Cause != nil {
			cause = e.Cause.Text
		}
		log.Warn("explained", "verdict", e.Verdict.Text, "from", e.First.From, "to", e.First.To, "cause", cause, "page", page)
	}
}
