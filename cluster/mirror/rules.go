//go:build !js

package mirror

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// maxModule is the size of a module of rules, in bytes.
const maxModule = 32 << 20

// sendRules answers with the module of rules of a match.
func (s *Server) sendRules(w http.ResponseWriter, r *http.Request) {
	sum, ok := strings.CutSuffix(r.PathValue("file"), ".wasm")
	if !ok {
		sum = ""
	}
	ctx, cancel := context.WithTimeout(r.Context(), fetchTime)
	defer cancel()
	b, err := s.rules(ctx, sum)
	if err != nil {
		fail(w, http.StatusNotFound, "no_route", "no match of this mirror has such a module of rules")
		return
	}
	send(w, "application/wasm", sum, b)
}

// rules returns the module of a match, from the upstream.
func (s *Server) rules(ctx context.Context, sum string) ([]byte, error) {
	u, ok := s.options.Source.(Upstream)
	if !ok || sum == "" || !slices.ContainsFunc(s.all(), func(m *Match) bool { return m.Status().Rules == sum }) {
		return nil, ErrNoMatch
	}
	base, _, err := u.base()
	if err != nil {
		return nil, err
	}
	s.assets.mu.Lock()
	defer s.assets.mu.Unlock()
	return s.assets.content(ctx, u, base+"/rules/"+sum+".wasm", sum, maxModule)
}
