//go:build !js

package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// tilesMap is the content of an asset, and tilesAsset is it in a list.
var (
	tilesMap      = []byte("a map of tiles")
	tilesAsset, _ = record.NewAsset("valley.map", tilesMap)
)

const (
	listPath  = "/matches/duel/assets"
	assetPath = "/assets/"
	playPath  = "/matches/duel/play"
)

// A stand is a server that answers requests as a test likes, and records them.
type stand struct {
	*httptest.Server
	answers map[string]http.HandlerFunc // by path; others get next
	next    http.Handler                // nil has nothing

	mu    sync.Mutex
	asked []string // request URIs, in order
}

// newStand returns a server that lists an asset, sends it, and refuses its clients then.
func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{answers: map[string]http.HandlerFunc{
		listPath:                      sends(listOf(tilesAsset)),
		assetPath + tilesAsset.SHA256: sends(string(tilesMap)),
		playPath:                      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
	}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// teapot is in the error of a session that came as far as the WebSocket of a newStand.
const teapot = "418"

func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.RequestURI)
	answer := s.answers[r.URL.Path]
	s.mu.Unlock()
	switch {
	case answer != nil:
		answer(w, r)
	case s.next != nil:
		s.next.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// answer changes the answer to requests of a path.
func (s *stand) answer(path string, f http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = f
}

// requests returns and forgets what was asked.
func (s *stand) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.asked = nil }()
	return s.asked
}

// websocket returns the URL of a path.
func (s *stand) websocket(path string) string { return "ws" + strings.TrimPrefix(s.URL, "http") + path }

// dial begins a session of the tile editor that tries once.
func (s *stand) dial(ctx context.Context, path string, o client.Options) *client.Session {
	if o.Reconnect == (player.ReconnectPolicy{}) {
		o.Reconnect.Attempts = -1
	}
	return client.Dial(ctx, s.websocket(path), lockstep.MustGame(testgame.TilesRules()), o)
}

func sends(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func listOf(list ...lockstep.Asset) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // assets are plain data
	}
	return string(b)
}
