//go:build !js

package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/seed-49bee653/samestep/server"
)

// A program that serves matches over HTTP also takes datagrams, at the same port of UDP.
func ExampleServer_ServeDatagrams() {
	s, err := server.New(server.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer udp.Close()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.ServeDatagrams(ctx, udp, "") }()
	stop()
	fmt.Println(<-ended)
	// Output: <nil>
}
