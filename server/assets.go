package server

import (
	"fmt"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
)

// An assetStore has the contents of the assets that the server's matches list, by sum. They are in memory, so a folder that
// changes meanwhile cannot give two machines different files.
type assetStore struct {
	mu   sync.Mutex
	held map[string]*heldAsset
}

// A heldAsset is the content of an asset that matches list.
type heldAsset struct {
	content []byte
	matches int
}

// find returns the content with a sum, or nil if no match lists it.
func (s *assetStore) find(sum string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[sum]; h != nil {
		return h.content
	}
	return nil
}

// before returns the game with a source that looks here before it asks the game's own.
func (s *assetStore) before(g *lockstep.Game) *lockstep.Game {
	if g == nil || !g.HasAssets() {
		return g
	}
	return g.WithAssets(func(a lockstep.Asset) ([]byte, error) {
		if b := s.find(a.SHA256); b != nil {
			return b, nil
		}
		return g.ReadAsset(a)
	})
}

// hold reads an asset for a match of a game, until release.
func (s *assetStore) hold(g *lockstep.Game, a lockstep.Asset) error {
	b, err := g.ReadAsset(a)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[a.SHA256] == nil {
		s.held[a.SHA256] = &heldAsset{content: b}
	}
	s.held[a.SHA256].matches++
	return nil
}

// release is called once, when the match is forgotten.
func (s *assetStore) release(held []lockstep.Asset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range held {
		h := s.held[a.SHA256]
		if h.matches--; h.matches == 0 {
			delete(s.held, a.SHA256)
		}
	}
}

// holdAll reads the assets of a match with header h. It returns those that it holds, also after an error, which names the first one that is
// missing or wrong.
func (s *assetStore) holdAll(match string, g *lockstep.Game, h *lockstep.Header) (held []lockstep.Asset, err error) {
	list, err := g.Assets(h)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if err := s.hold(g, a); err != nil {
			return held, fmt.Errorf("server: match %s: %w", match, err)
		}
		held = append(held, a)
	}
	return held, nil
}
