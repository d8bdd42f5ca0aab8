package server

import (
	"net/http"
	"time"
)

// sendRules sends a module of rules.
func (s *Server) sendRules(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(assetTimeout)) // without it, the limit of all answers applies
	s.options.Rules.ServeHTTP(&foreignErrors{ResponseWriter: w}, r)
}
