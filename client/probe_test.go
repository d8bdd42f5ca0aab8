//go:build !js

package client_test

import (
	"context"
	"fmt"

	"github.com/seed-49bee653/samestep/client"
)

// A program asks whether datagrams pass before its player joins. Here is no server.
func ExampleDatagramProbe() {
	var p client.DatagramProbe
	p, err := client.ProbeDatagrams(context.Background(), "ws://127.0.0.1:1/matches/duel/play", client.Options{})
	fmt.Println(p.Address == "", err != nil)
	// Output: true true
}
