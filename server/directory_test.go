//go:build !js

package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// A ban or a revocation of a name as a subject says whose name it is, also of somebody who is not connected. One that no listed token has
// says so.
func TestWhyNobodyFits(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		for _, path := range []string{"/matches/duel/ban", "/revocations"} {
			for body, want := range map[string]string{
				`{"subject":"ada"}`:                 `it is the name of \"token `,
				`{"subject":"jwt eve"}`:             "no listed token has this subject",
				`{"name":"eve"}`:                    "it holds for those who come",
				`{"subject":"eve","name":"nobody"}`: "no listed token has this subject",
			} {
				if status, text := s.ask(t, "POST", path, ops, body); status != http.StatusOK || !strings.Contains(text, want) {
					t.Errorf("%s %s: got %d %s, want %q", path, body, status, text, want)
				}
			}
		}
	})
}

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
