package cluster

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/seed-49bee653/samestep/server"
)

// Views asks servers, such as those of [Read], for the matches that they run, and returns what they say by the ids of the matches. A
// server that does not answer before ctx ends is left out.
func Statuses(ctx context.Context, servers []Server) map[string]server.Status {
	client := &http.Client{Transport: newTransport(), CheckRedirect: noRedirect}
	defer client.CloseIdleConnections()
	all := make(map[string]server.Status)
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, s := range servers {
		asking.Go(func() {
			for _, v := range statusesOf(ctx, client, s.Address) {
				mu.Lock()
				all[v.Match] = v
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	return all
}

// viewsOf asks the server at an address for all its matches.
func statusesOf(ctx context.Context, client *http.Client, address string) (all []server.Status) {
	to, err := parseAddress(address)
	if err != nil {
		return nil
	}
	path := to.JoinPath("matches")
	for more := true; more; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, path.String(), nil)
		if err != nil {
			return all
		}
		r.Header.Set(hop, "status") // its own matches only
		answer, err := client.Do(r)
		if err != nil {
			return all
		}
		var page []server.Status
		err = json.NewDecoder(io.LimitReader(answer.Body, maxList)).Decode(&page)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || len(page) == 0 {
			return all
		}
		all, more = append(all, page...), answer.Header.Get("Link") != ""
		path.RawQuery = url.Values{"after": {page[len(page)-1].Name}}.Encode()
	}
	return all
}
