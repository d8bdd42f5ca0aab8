//go:build !js

package server_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/assets"
)

// tilesMap is the content of an asset, and tilesAsset is it in a configuration.
var (
	tilesMap      = []byte("a map of tiles")
	tilesAsset, _ = record.NewAsset("valley.map", tilesMap)
)

// tilesSource has one asset.
func tilesSource(content []byte) func(lockstep.Asset) ([]byte, error) {
	return func(a lockstep.Asset) ([]byte, error) {
		if a.SHA256 != tilesAsset.SHA256 {
			return nil, record.ErrNoAsset
		}
		return content, nil
	}
}

// createTiles creates a match with assets.
func (s *stage) createTiles(t *testing.T, name string, list ...lockstep.Asset) *server.Match {
	t.Helper()
	m, err := s.newTiles(tilesSource(tilesMap), name, list...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (s *stage) newTiles(read func(lockstep.Asset) ([]byte, error), name string, list ...lockstep.Asset) (*server.Match, error) {
	settings := lockstep.DefaultSettings(2)
	return s.server.Create(server.MatchSpec{
		Name: name, Game: lockstep.MustGame(testgame.TilesRules()).WithAssets(read), Settings: settings,
		Config: &testgame.TilesConfig{Map: list[0], Others: list[1:]},
	})
}

// get returns the answer to a request of any path, as it is.
func (s *stage) get(t *testing.T, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(b)
}

func TestAssetsAreServed(t *testing.T) {
	s := newStage(t, setup{})
	path := "/assets/" + tilesAsset.SHA256
	if answer, _ := s.get(t, "GET", path); answer.StatusCode != http.StatusNotFound {
		t.Errorf("got %s before a match lists it, want 404", answer.Status)
	}
	m, other := s.createTiles(t, "tiles", tilesAsset), s.createTiles(t, "more", tilesAsset)
	for _, row := range []struct {
		name, method, path string
		header             []string
		status             int
		body               string
	}{
		{"whole", "GET", path, nil, 200, string(tilesMap)},
		{"head", "HEAD", path, nil, 200, ""},
		{"range", "GET", path, []string{"Range", "bytes=2-4"}, 206, string(tilesMap[2:5])},
		{"last bytes", "GET", path, []string{"Range", "bytes=-5"}, 206, "tiles"},
		{"known", "GET", path, []string{"If-None-Match", `"` + tilesAsset.SHA256 + `"`}, 304, ""},
		{"beyond the end", "GET", path, []string{"Range", "bytes=99-"}, 416, "bad_range"},
		{"another hash", "GET", "/assets/" + strings.Repeat("0", 64), nil, 404, "no_asset"},
		{"upper case", "GET", "/assets/" + strings.ToUpper(tilesAsset.SHA256), nil, 404, "no_asset"},
		{"name", "GET", "/assets/valley.map", nil, 404, "no_asset"},
		{"parent folder", "GET", "/assets/..%2f..%2fetc%2fpasswd", nil, 404, "no_asset"},
		{"dots", "GET", "/assets/%2e%2e", nil, 404, ""},
		{"NUL", "GET", "/assets/a%00b", nil, 404, "no_asset"},
		{"no list", "GET", "/assets/", nil, 404, ""},
		{"no list either", "GET", "/assets", nil, 404, ""},
		{"write", "PUT", path, nil, 405, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			answer, body := s.get(t, row.method, row.path, row.header...)
			if answer.StatusCode != row.status || (row.status < 300 && body != row.body) || !strings.Contains(body, row.body) {
				t.Errorf("got %s %q, want %d %q", answer.Status, body, row.status, row.body)
			}
			h := answer.Header
			if row.status < 300 && (h.Get("Cache-Control") != "public, max-age=31536000, immutable" || h.Get("ETag") != `"`+tilesAsset.SHA256+`"` ||
				h.Get("Content-Type") != "application/octet-stream" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Accept-Ranges") != "bytes") {
				t.Errorf("got headers %v", h)
			}
			if row.status >= 400 && h.Get("Cache-Control") != "" {
				t.Errorf("got Cache-Control %q of an error", h.Get("Cache-Control"))
			}
		})
	}
	if _, body := s.get(t, "GET", "/matches/tiles/assets"); body != `[{"name":"valley.map","sha256":"`+tilesAsset.SHA256+`","size":14}]`+"\n" {
		t.Errorf("got the list %s", body)
	}
	if _, body := s.get(t, "GET", "/matches/duel/assets"); body != "[]\n" {
		t.Errorf("got the list %s of a game without assets", body)
	}
	// It is there as long as one of the matches is.
	for i, x := range []*server.Match{m, other} {
		if answer, _ := s.get(t, "GET", path); answer.StatusCode != http.StatusOK {
			t.Errorf("got %s with %d matches, want 200", answer.Status, 2-i)
		}
		if err := x.End(t.Context(), "over"); err != nil {
			t.Fatal(err)
		}
		<-x.Done()
	}
	if answer, _ := s.get(t, "GET", path); answer.StatusCode != http.StatusNotFound {
		t.Errorf("got %s after the last match, want 404", answer.Status)
	}
}

// A match whose assets are missing or wrong does not begin, and leaves nothing.
func TestAssetsMissing(t *testing.T) {
	folder := assets.Folder{Dir: t.TempDir()}
	if _, err := folder.Add("valley.map", tilesMap); err != nil {
		t.Fatal(err)
	}
	missing, err := record.NewAsset("hills.map", []byte("another map"))
	if err != nil {
		t.Fatal(err)
	}
	short := tilesAsset
	short.Size--
	for _, row := range []struct {
		name string
		read func(lockstep.Asset) ([]byte, error)
		list []lockstep.Asset
		want error
		text string
	}{
		{"right", folder.Read, []lockstep.Asset{tilesAsset}, nil, ""},
		{"missing", folder.Read, []lockstep.Asset{tilesAsset, missing}, record.ErrNoAsset, `asset "hills.map"`},
		{"wrong content", tilesSource([]byte("b map of tiles")), []lockstep.Asset{tilesAsset}, record.ErrAssetContent, `asset "valley.map"`},
		{"wrong size", folder.Read, []lockstep.Asset{short}, record.ErrAssetContent, "want 13"},
		{"bad list", folder.Read, []lockstep.Asset{tilesAsset, tilesAsset}, record.ErrAsset, "duplicate name"},
		{"no source", nil, []lockstep.Asset{tilesAsset}, record.ErrNoAsset, `asset "valley.map"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStage(t, setup{})
			_, err := s.newTiles(row.read, "tiles", row.list...)
			if !errors.Is(err, row.want) || row.want != nil && !strings.Contains(err.Error(), row.text) {
				t.Errorf("got %v, want %v: %s", err, row.want, row.text)
			}
			if answer, _ := s.get(t, "GET", "/assets/"+tilesAsset.SHA256); (answer.StatusCode == http.StatusOK) != (row.want == nil) {
				t.Errorf("got %s for the asset after %v", answer.Status, err)
			}
		})
	}
}

// Over HTTP, the answer names the asset and has no path of the server.
func TestAssetsMissingOverHTTP(t *testing.T) {
	folder := assets.Folder{Dir: t.TempDir()}
	s := newStage(t, setup{options: server.Options{NewMatch: func(io.Reader) (server.MatchSpec, error) {
		return server.MatchSpec{Name: "tiles", Game: lockstep.MustGame(testgame.TilesRules()).WithAssets(folder.Read), Settings: lockstep.DefaultSettings(2), Config: &testgame.TilesConfig{Map: tilesAsset}}, nil
	}}})
	status, body := s.ask(t, "POST", "/matches", ops, "{}")
	if status != http.StatusBadRequest || !strings.Contains(body, "valley.map") || strings.Contains(body, folder.Dir) {
		t.Errorf("got %d %s, want a bad request that names the asset and no folder", status, body)
	}
}

// A bundle has the assets of its match and the module of its rules, as far as the disk of the match has room.
func TestBundleHasContents(t *testing.T) {
	t.Parallel()
	module := bytes.Repeat([]byte("a module of rules"), 1<<16)
	for _, row := range []struct {
		name string
		disk int64
		want bool
	}{{"room", 0, true}, {"no room", 1 << 20, false}} {
		inBubble(t, setup{options: server.Options{Limits: server.Limits{MatchDiskBytes: row.disk}, ModuleOf: func(*lockstep.Game) []byte { return module }}}, func(t *testing.T, s *stage) {
			m := s.createTiles(t, "tiles", tilesAsset)
			if err := m.Do(t.Context(), func(*host.Host) {
				m.Evidence(&host.Evidence{Report: coordinator.DesyncReport{Tick: 20, Player: 0}})
			}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "a bundle", func() bool { return len(s.files(t, "*-player0.zip")) > 0 })
			f, err := replay.Open(s.files(t, "*-player0.zip")[0])
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for _, content := range [][]byte{tilesMap, module} {
				got, err := f.Bundle().Content(replay.SumRules(content).String(), replay.MaxRules)
				if row.want && (err != nil || !bytes.Equal(got, content)) || !row.want && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: got %q, %v", row.name, got, err)
				}
			}
		})
	}
}
