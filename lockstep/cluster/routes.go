package cluster

import "net/http"

func (m *Member) Handler(h http.Handler) http.Handler { return h }
