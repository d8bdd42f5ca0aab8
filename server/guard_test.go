//go:build !js

package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seed-49bee653/samestep/server"
)

// Another handler behind the checks of a server: it is not asked for another host, nor too often.
func TestGuard(t *testing.T) {
	s, err := server.New(server.Options{Limits: server.Limits{MaxReads: 3}})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	web := httptest.NewServer(s.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		io.WriteString(w, "here")
	})))
	defer web.Close()
	get := func(host string) int {
		r, err := http.NewRequest(http.MethodGet, web.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		a, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		return a.StatusCode
	}
	for i, want := range []int{200, 200, 200, 429} {
		if got := get("localhost"); got != want {
			t.Errorf("request %d: got %d, want %d", i, got, want)
		}
	}
	if got := get("elsewhere.example"); got != http.StatusForbidden || asked != 3 {
		t.Errorf("another host: got %d, and %d requests, want 403 and 3", got, asked)
	}
}
