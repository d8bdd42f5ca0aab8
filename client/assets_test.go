//go:build !js

package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/assets"
)

// A server's list and its contents are not trusted: what is wrong is a failed attempt to connect, whose error says what.
func TestAssetsRefused(t *testing.T) {
	elsewhere := newStand(t)
	changed := func(change func(*lockstep.Asset)) string {
		a := tilesAsset
		change(&a)
		return listOf(a)
	}
	var many []lockstep.Asset
	for i := range record.MaxAssets + 1 {
		a := tilesAsset
		a.Name = fmt.Sprint("map", i)
		many = append(many, a)
	}
	large := tilesAsset
	large.Name, large.Size = "large", record.MaxAssetBytes
	other := []byte("b map of tiles")
	var sent atomic.Int64
	for _, row := range []struct {
		name string
		path string
		does http.HandlerFunc
		want error  // or nil
		text string // in the error
	}{
		{"right", "", nil, nil, teapot},
		{"wrong sum", assetPath, sends(string(other)), record.ErrAssetContent, `asset "valley.map"`},
		{"shorter", assetPath, sends(string(tilesMap[1:])), record.ErrAssetContent, "got 13 bytes, want 14"},
		{"empty", assetPath, sends(""), record.ErrAssetContent, "got 0 bytes, want 14"},
		{"longer", assetPath, sends(string(tilesMap) + "."), nil, "longer than it may be: want at most 14 bytes"},
		{"without end", assetPath, func(w http.ResponseWriter, _ *http.Request) {
			for part := make([]byte, 16<<10); ; {
				n, err := w.Write(part)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		}, nil, `asset "valley.map"`},
		{"torn", assetPath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "14")
			w.Write(tilesMap[:5])
		}, io.ErrUnexpectedEOF, `asset "valley.map"`},
		{"redirected", assetPath, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
		}, nil, "another address"},
		{"missing", assetPath, http.NotFound, nil, "got status 404, want 200"},
		{"a part", assetPath, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			w.Write(tilesMap)
		}, nil, "got status 206, want 200"},

		{"no match", listPath, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"no_match","message":"no such match"}}`)
		}, nil, "list of assets: no such match (status 404)"},
		{"endless error", listPath, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, strings.Repeat("no", 40_000))
		}, nil, "list of assets: got status 404"},
		{"no list", listPath, http.NotFound, nil, "list of assets: got status 404"},
		{"redirected list", listPath, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
		}, nil, "another address"},
		{"not JSON", listPath, sends("<html>"), nil, "list of assets: invalid character"},
		{"another type", listPath, sends(`{"name":"valley.map"}`), nil, "list of assets: json"},
		{"huge number", listPath, sends(`[{"size":` + strings.Repeat("1", 60_000) + `}]`), nil, "list of assets: json"},
		{"long list", listPath, sends(listOf(tilesAsset) + strings.Repeat(" ", 64<<10)), nil, "want at most 65536 bytes"},
		{"too many", listPath, sends(listOf(many...)), record.ErrAsset, "65 assets, want at most 64"},
		{"too large", listPath, sends(listOf(large, tilesAsset)), record.ErrAsset, "the list exceeds 67108864 bytes"},
		{"twice", listPath, sends(listOf(tilesAsset, tilesAsset)), record.ErrAsset, "duplicate name"},
		{"parent folder", listPath, sends(changed(func(a *lockstep.Asset) { a.Name = "../valley.map" })), record.ErrAsset, "begins with a dot"},
		{"folder", listPath, sends(changed(func(a *lockstep.Asset) { a.Name = "maps/valley.map" })), record.ErrAsset, `the character '/'`},
		{"no name", listPath, sends(changed(func(a *lockstep.Asset) { a.Name = "" })), record.ErrAsset, "a name of 0 bytes"},
		{"terminal", listPath, sends(changed(func(a *lockstep.Asset) { a.Name = "\x1b[2J" })), record.ErrAsset, `\x1b`},
		{"endless name", listPath, sends(changed(func(a *lockstep.Asset) { a.Name = strings.Repeat("a", 50_000) })), record.ErrAsset, "a name of 50000 bytes"},
		{"path as sum", listPath, sends(changed(func(a *lockstep.Asset) { a.SHA256 = strings.Repeat("../x", 16) })), record.ErrAsset, "want a sha256"},
		{"no size", listPath, sends(changed(func(a *lockstep.Asset) { a.Size = 0 })), record.ErrAsset, "got a size of 0 bytes"},
		{"negative size", listPath, sends(strings.Replace(listOf(tilesAsset), `:14`, `:-14`, 1)), nil, "list of assets: json"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStand(t)
			want := []string{listPath, assetPath + tilesAsset.SHA256, playPath}
			switch row.path {
			case listPath:
				s.answers[listPath], want = row.does, want[:1]
			case assetPath:
				s.answers[want[1]], want = row.does, want[:2]
			}
			folder := assets.Folder{Dir: filepath.Join(t.TempDir(), "cache")}
			var events []any
			err := s.dial(t.Context(), playPath, client.Options{Assets: folder, Handle: func(_ *player.Client, e any) { events = append(events, e) }}).Wait()
			if !errors.Is(err, player.ErrGaveUp) || row.want != nil && !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
				t.Errorf("got %.300v, want %v: %s", err, row.want, row.text)
			}
			if n := len(err.Error()); n > 2<<10 {
				t.Errorf("got a text of %d bytes, want at most 2 KiB", n)
			}
			if len(events) != 3 { // Dialing, ConnectFailed, LostForGood
				t.Errorf("got events %v, want three", events)
			} else if _, ok := events[1].(player.ConnectFailed); !ok {
				t.Errorf("got event %T, want ConnectFailed", events[1])
			}
			if got := s.requests(); !slices.Equal(got, want) {
				t.Errorf("got requests %q, want %q", got, want)
			}
			if _, err := folder.Read(tilesAsset); (err == nil) != (row.path == "") {
				t.Errorf("the cache: got %v", err)
			}
		})
	}
	if got := elsewhere.requests(); len(got) > 0 {
		t.Errorf("another server was asked %q", got)
	}
	if n := sent.Load(); n > 16<<20 { // the buffers of two sockets
		t.Errorf("%d bytes were sent of an asset of 14", n)
	}
}

// A content comes once. The next session finds it in the cache, unless it is damaged there.
func TestAssetsCached(t *testing.T) {
	s := newStand(t)
	folder := assets.Folder{Dir: t.TempDir()}
	file := filepath.Join(folder.Dir, tilesAsset.SHA256)
	own := lockstep.MustGame(testgame.TilesRules()).WithAssets(func(lockstep.Asset) ([]byte, error) { return tilesMap, nil })
	fetched := []string{listPath, assetPath + tilesAsset.SHA256, playPath}
	found := []string{listPath, playPath}
	for _, row := range []struct {
		name  string
		begin func() error
		cache client.AssetCache
		game  *lockstep.Game
		want  []string
	}{
		{"first", nil, folder, nil, fetched},
		{"second", nil, folder, nil, found},
		{"damaged", func() error { return os.WriteFile(file, []byte("b map of tiles"), 0o600) }, folder, nil, fetched},
		{"mended", nil, folder, nil, found},
		{"removed", func() error { return os.Remove(file) }, folder, nil, fetched},
		{"no cache", nil, nil, nil, fetched},
		{"broken cache", nil, brokenCache{nil, errors.New("no disk")}, nil, fetched},
		{"lying cache", nil, brokenCache{[]byte("b map of tiles"), nil}, nil, fetched},
		{"source of the game", nil, nil, own, found},
		{"source of the game, broken cache", nil, brokenCache{nil, errors.New("no disk")}, own, found},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.begin != nil {
				if err := row.begin(); err != nil {
					t.Fatal(err)
				}
			}
			if row.game == nil {
				row.game = lockstep.MustGame(testgame.TilesRules())
			}
			o := client.Options{Assets: row.cache, Options: player.Options{Reconnect: player.ReconnectPolicy{Attempts: -1}}}
			if err := client.Dial(t.Context(), s.websocket(playPath), row.game, o).Wait(); !strings.Contains(err.Error(), teapot) {
				t.Errorf("got %v, want that the session came to its WebSocket", err)
			}
			if got := s.requests(); !slices.Equal(got, row.want) {
				t.Errorf("got requests %q, want %q", got, row.want)
			}
		})
	}
}

// A brokenCache reads the same for everything, and keeps nothing.
type brokenCache struct {
	content []byte
	err     error
}

func (c brokenCache) Read(lockstep.Asset) ([]byte, error) { return c.content, c.err }

func (brokenCache) Write(lockstep.Asset, []byte) error { return errors.New("read-only") }

// A failed fetch is a failed attempt, which the session repeats with the usual waits. It asks again only for what has not come.
func TestAssetsRetried(t *testing.T) {
	s := newStand(t)
	hills, err := record.NewAsset("hills.map", []byte("hills"))
	if err != nil {
		t.Fatal(err)
	}
	s.answers[listPath] = sends(listOf(tilesAsset, hills))
	tries := 0
	s.answers[assetPath+hills.SHA256] = func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries < 3 {
			http.Error(w, "too many files are being sent", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "hills")
	}
	var events []string
	session := s.dial(t.Context(), playPath, client.Options{
		Options: player.Options{Reconnect: player.ReconnectPolicy{First: lockstep.Millisecond, Longest: lockstep.Millisecond, Attempts: 2}},
		Handle: func(_ *player.Client, e any) {
			text := fmt.Sprintf("%T", e)
			if e, ok := e.(player.ConnectFailed); ok {
				text += " " + e.Err.Error()
			}
			events = append(events, text)
		},
	})
	if err := session.Wait(); !errors.Is(err, player.ErrGaveUp) || !strings.Contains(err.Error(), teapot) {
		t.Errorf("got %v, want that the third attempt came to the WebSocket", err)
	}
	first := []string{listPath, assetPath + tilesAsset.SHA256, assetPath + hills.SHA256}
	want := append(slices.Concat(first, first[:1], first[2:], first[:1], first[2:]), playPath)
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("got requests %q, want %q", got, want)
	}
	busy := fmt.Sprintf(`player.ConnectFailed client: lockstep: asset "hills.map" with sha256 %s: got status 503, want 200`, hills.SHA256)
	events[len(events)-2], _, _ = strings.Cut(events[len(events)-2], " ")
	if want := []string{
		"player.Dialing", busy, "player.Retrying",
		"player.Dialing", busy, "player.Retrying",
		"player.Dialing", "player.ConnectFailed", "player.LostForGood",
	}; !slices.Equal(events, want) {
		t.Errorf("got events %q, want %q", events, want)
	}
}

// What the last list does not have is dropped, so a server that always lists other assets does not fill the memory.
func TestAssetsForgotten(t *testing.T) {
	s := newStand(t)
	hills, err := record.NewAsset("hills.map", []byte("hills"))
	if err != nil {
		t.Fatal(err)
	}
	s.answers[assetPath+hills.SHA256] = sends("hills")
	tries := 0
	s.answers[listPath] = func(w http.ResponseWriter, _ *http.Request) {
		tries++
		io.WriteString(w, listOf([]lockstep.Asset{hills, tilesAsset}[tries%2]))
	}
	session := s.dial(t.Context(), playPath, client.Options{
		Options: player.Options{Reconnect: player.ReconnectPolicy{First: lockstep.Millisecond, Longest: lockstep.Millisecond, Attempts: 2}},
	})
	if err := session.Wait(); !errors.Is(err, player.ErrGaveUp) {
		t.Errorf("got %v, want %v", err, player.ErrGaveUp)
	}
	var want []string
	for i := range 3 {
		want = append(want, listPath, assetPath+[]lockstep.Asset{tilesAsset, hills}[i%2].SHA256, playPath)
	}
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("got requests %q, want %q", got, want)
	}
}

// The place of a match is found from the end of its URL. What is not such a URL has no list.
func TestAssetPlaces(t *testing.T) {
	for path, want := range map[string][]string{
		"/matches/duel/play":                     {"/matches/duel/assets", "/assets/"},
		"/game/matches/duel/play":                {"/game/matches/duel/assets", "/game/assets/"},
		"/matches/x/matches/duel/play":           {"/matches/x/matches/duel/assets", "/matches/x/assets/"},
		"/matches/matches/play":                  {"/matches/matches/assets", "/assets/"},
		"/matches/play/play":                     {"/matches/play/assets", "/assets/"},
		"/matches/duel/play?region=eu&to=/play":  {"/matches/duel/assets?region=eu&to=/play", "/assets/?region=eu&to=/play"},
		"/a%2fb/matches/d%C3%BCll%20%25/play":    {"/a%2fb/matches/d%C3%BCll%20%25/assets", "/a%2fb/assets/"},
		"/matches/duel/play#part":                {"/matches/duel/assets", "/assets/"},
		"/play":                                  nil,
		"/matches//play":                         nil,
		"/duel/play":                             nil,
		"/xmatches/duel/play":                    nil,
		"/matches/duel":                          nil,
		"/":                                      nil,
		"/matches/duel/playback?x=/matches/play": nil,
	} {
		s := newStand(t)
		s.answers = nil
		s.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/assets"):
				io.WriteString(w, listOf(tilesAsset))
			case strings.HasSuffix(r.URL.Path, tilesAsset.SHA256):
				w.Write(tilesMap)
			default:
				w.WriteHeader(http.StatusTeapot)
			}
		})
		if err := s.dial(t.Context(), path, client.Options{}).Wait(); !strings.Contains(err.Error(), teapot) {
			t.Errorf("%s: got %v, want that the session came to its WebSocket", path, err)
		}
		if len(want) > 0 {
			want[1] = strings.Replace(want[1], "/assets/", "/assets/"+tilesAsset.SHA256, 1)
		}
		path, _, _ := strings.Cut(path, "#")
		if got := s.requests(); !slices.Equal(got, append(want, path)) {
			t.Errorf("%s: got requests %q, want %q", path, got, append(want, path))
		}
	}
}

// A session that ends while it fetches stops the request.
func TestEndWhileFetching(t *testing.T) {
	for _, path := range []string{listPath, assetPath + tilesAsset.SHA256} {
		for _, closes := range []bool{false, true} {
			t.Run(fmt.Sprint(path[:8], closes), func(t *testing.T) {
				s := newStand(t)
				asked, gone := make(chan struct{}), make(chan struct{})
				s.answers[path] = func(w http.ResponseWriter, r *http.Request) {
					w.Write([]byte("["))
					w.(http.Flusher).Flush()
					close(asked)
					<-r.Context().Done()
					close(gone)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				session := s.dial(ctx, playPath, client.Options{})
				<-asked
				began := time.Now()
				var want error
				if closes {
					session.Close()
				} else {
					cancel()
					want = context.Canceled
				}
				if err := session.Wait(); !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
				<-gone
				if d := time.Since(began); d > 5*time.Second {
					t.Errorf("the end took %v", d)
				}
			})
		}
	}
}
