//go:build !js

package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A mirror of a server that has no match. With a mirror.Cluster as its source it would read the replicated logs of a cluster.
func ExampleServer() {
	game := httptest.NewServer(http.NotFoundHandler())
	defer game.Close()
	var source mirror.Source = mirror.Upstream{URL: game.URL}
	var r *mirror.Server
	r, err := mirror.New(mirror.Options{Source: source, Audience: audience.Options{DelayTime: 60 * lockstep.Second}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var m *mirror.Match
	m, err = r.Follow(context.Background(), "duel")
	fmt.Println(m == nil, errors.Is(err, mirror.ErrNoMatch))
	var v mirror.Status = r.Status("duel")
	fmt.Println(v.Spectators, "spectators")
	fmt.Println(r.Shutdown(context.Background()))
	var _ mirror.Cluster
	// Output:
	// true true
	// 0 spectators
	// <nil>
}
