//go:build !js

package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// An admin cannot revoke its own token: if it is the only one, nobody could take that back, now that it survives a restart.
func TestNoAdminRevokesItself(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		for range 2 {
			if status, text := s.ask(t, "POST", "/revocations", ops, `{"name":"ops"}`); status != http.StatusConflict || !strings.Contains(text, "your own token") {
				t.Errorf("got %d %s, want 409", status, text)
			}
		}
		if status, text := s.ask(t, "GET", "/revocations", ops, ""); status != http.StatusOK || strings.TrimSpace(text) != "[]" {
			t.Errorf("got %d %s, want no revocation", status, text)
		}
	})
}
