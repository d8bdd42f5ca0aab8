package server

import (
	_ "embed"
	"net/http"
)

// openAPI describes the HTTP interface for programs; docs/spec/http.md, a page made from it, for people.
//
//go:embed openapi.json
var openAPI []byte

// document answers with the description of the HTTP interface.
func (s *Server) document(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(openAPI)
}
