//go:build !js

package serving

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// While the page is being built, a request gets a note and retries.
func TestPageTooEarly(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "next") })
	h := &pageHandler{next: next, wait: time.Millisecond, ready: make(chan struct{})}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Refresh") == "" || !strings.Contains(w.Body.String(), "being built") {
		t.Errorf("got %d %q", w.Code, w.Body.String())
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/matches", nil))
	if w.Body.String() != "next" {
		t.Errorf("another path: got %q, want next", w.Body.String())
	}
}
