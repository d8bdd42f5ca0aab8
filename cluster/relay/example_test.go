//go:build !js

package relay_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/cluster/relay"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A relay of a server that has no match. With a relay.Cluster as its source it would read the replicated logs of a cluster.
func ExampleServer() {
	game := httptest.NewServer(http.NotFoundHandler())
	defer game.Close()
	var source relay.Source = relay.Upstream{URL: game.URL}
	var r *relay.Server
	r, err := relay.New(relay.Options{Source: source, Audience: audience.Options{DelayTime: 60 * lockstep.Second}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var m *relay.Match
	m, err = r.Follow(context.Background(), "duel")
	fmt.Println(m == nil, errors.Is(err, relay.ErrNoMatch))
	var v relay.View = r.View("duel")
	fmt.Println(v.Spectators, "spectators")
	fmt.Println(r.Shutdown(context.Background()))
	var _ relay.Cluster
	// Output:
	// true true
	// 0 spectators
	// <nil>
}
