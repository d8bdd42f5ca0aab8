//go:build !js

package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// maxAssets is how many bytes of assets and modules of rules a mirror keeps.
const maxAssets = 2 * record.MaxAssetBytes

// An assetCache has the assets of the matches that were asked for: their names are hashes of their content.
type assetCache struct {
	mu    sync.Mutex // held while an asset is fetched: many ask for the same one
	known map[string]known
	order []string // of kept, the oldest first
	kept  map[string][]byte
	bytes int
}

// known is where an asset comes from.
type known struct {
	from Upstream
	base string
	size uint32
}

func newAssetCache() *assetCache {
	return &assetCache{known: make(map[string]known), kept: make(map[string][]byte)}
}

// listAssets answers with the assets of a match: those that the upstream lists, or none.
func (s *Server) listAssets(w http.ResponseWriter, r *http.Request) {
	m := s.requested(w, r)
	if m == nil {
		return
	}
	list := []lockstep.Asset{}
	ctx, cancel := context.WithTimeout(r.Context(), findTime)
	defer cancel()
	if u, ok := s.options.Source.(Upstream); ok {
		var err error
		if list, err = s.assets.list(ctx, u, m); err != nil {
			w.Header().Set("Retry-After", "1")
			fail(w, http.StatusServiceUnavailable, "busy", "the mirror cannot reach the match")
			return
		}
	}
	reply(w, http.StatusOK, list)
}

// list asks the upstream for the assets of a match, once.
func (c *assetCache) list(ctx context.Context, u Upstream, m *Match) ([]lockstep.Asset, error) {
	if list := m.assets.Load(); list != nil {
		return *list, nil
	}
	base, _, err := u.base()
	if err != nil {
		return nil, err
	}
	b, err := u.get(ctx, base+"/matches/"+url.PathEscape(m.name)+"/assets", maxAnswer)
	if err != nil {
		return nil, err
	}
	list := []lockstep.Asset{}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	if err := record.CheckAssets(list); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range list {
		if len(c.known) < 64*record.MaxAssets {
			c.known[a.SHA256] = known{u, base, a.Size}
		}
	}
	m.assets.Store(&list)
	return list, nil
}

// sendAsset answers with an asset of a match.
func (s *Server) sendAsset(w http.ResponseWriter, r *http.Request) {
	sum := r.PathValue("sum")
	ctx, cancel := context.WithTimeout(r.Context(), fetchTime)
	defer cancel()
	b, err := s.assets.asset(ctx, sum)
	if err != nil {
		fail(w, http.StatusNotFound, "no_asset", "no match of this mirror lists such an asset")
		return
	}
	send(w, "application/octet-stream", sum, b)
}

// send sends a content that never changes.
func send(w http.ResponseWriter, contentType, sum string, b []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("ETag", `"`+sum+`"`)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(b)
}

// asset returns an asset that the upstream has listed.
func (c *assetCache) asset(ctx context.Context, sum string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.known[sum]
	if !ok {
		return nil, ErrNoMatch
	}
	return c.content(ctx, k.from, k.base+"/assets/"+sum, sum, int64(k.size))
}

// content returns what has a sum, and keeps it. c.mu is held.
func (c *assetCache) content(ctx context.Context, from Upstream, address, sum string, limit int64) ([]byte, error) {
	if b, ok := c.kept[sum]; ok {
		return b, nil
	}
	b, err := from.get(ctx, address, limit)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(b); hex.EncodeToString(got[:]) != sum {
		return nil, record.ErrAssetContent
	}
	for c.bytes+len(b) > maxAssets && len(c.order) > 0 {
		c.bytes -= len(c.kept[c.order[0]])
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
	c.kept[sum], c.order, c.bytes = b, append(c.order, sum), c.bytes+len(b)
	return b, nil
}

// maxModule is the size of a module of rules, in bytes.
const maxModule = 32 << 20

// sendRules answers with the module of rules of a match.
func (s *Server) sendRules(w http.ResponseWriter, r *http.Request) {
	sum, ok := strings.CutSuffix(r.PathValue("file"), ".wasm")
	if !ok {
		sum = ""
	}
	ctx, cancel := context.WithTimeout(r.Context(), fetchTime)
	defer cancel()
	b, err := s.rules(ctx, sum)
	if err != nil {
		fail(w, http.StatusNotFound, "no_route", "no match of this mirror has such a module of rules")
		return
	}
	send(w, "application/wasm", sum, b)
}

// rules returns the module of a match, from the upstream.
func (s *Server) rules(ctx context.Context, sum string) ([]byte, error) {
	u, ok := s.options.Source.(Upstream)
	if !ok || sum == "" || !slices.ContainsFunc(s.all(), func(m *Match) bool { return m.Status().Rules == sum }) {
		return nil, ErrNoMatch
	}
	base, _, err := u.base()
	if err != nil {
		return nil, err
	}
	s.assets.mu.Lock()
	defer s.assets.mu.Unlock()
	return s.assets.content(ctx, u, base+"/rules/"+sum+".wasm", sum, maxModule)
}
