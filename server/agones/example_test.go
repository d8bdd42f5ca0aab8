package agones_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/seed-49bee653/samestep/server/agones"
)

// A Sidecar tells Agones that a server is ready, and that it has ended.
func ExampleSidecar() {
	told := make(chan string, 100)
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			told <- r.URL.Path
		}
	}))
	defer gateway.Close()
	u, err := url.Parse(gateway.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	sidecar, err := agones.Start(agones.Options{
		Port:  u.Port(), // os.Getenv(agones.PortVariable)
		Ready: func() bool { return true }, Used: func() bool { return false }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-told)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(sidecar.Shutdown(ctx), <-told)
	// Output:
	// /ready
	// <nil> /shutdown
}
