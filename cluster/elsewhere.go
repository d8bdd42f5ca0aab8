package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// runsElsewhere asks the other servers whether one of them runs a match that this server has had.
func (m *Member) runsElsewhere(ctx context.Context, e *Match) bool {
	addresses := m.addresses()
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	answers := make(chan bool, len(addresses))
	for _, a := range addresses {
		go func() { answers <- m.runs(ctx, a, e) }()
	}
	for range addresses {
		if <-answers {
			return true
		}
	}
	return false
}

// runs asks the server at an address whether it runs a match.
func (m *Member) runs(ctx context.Context, address string, e *Match) bool {
	path, err := url.JoinPath(address, "matches", e.Name)
	if err != nil {
		return false
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return false
	}
	r.Header.Set(hop, m.options.Name)
	answer, err := m.http.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var view struct{ Match string }
	err = json.NewDecoder(http.MaxBytesReader(nil, answer.Body, maxCreation)).Decode(&view)
	return err == nil && answer.StatusCode == http.StatusOK && view.Match == e.ID
}
