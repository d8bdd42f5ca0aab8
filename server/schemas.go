package server

import (
	"net/http"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// schemas answers with the schemas of a match, so that a client that is refused because of one can name the field.
func (ma *matchAPI) schemas(w http.ResponseWriter, r *http.Request) {
	if m := ma.registry.requested(w, r); m != nil {
		reply(w, http.StatusOK, protocol.SchemasOf(m.host.Header())) // a header does not change
	}
}
