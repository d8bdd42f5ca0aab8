package client

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A session reads an answer in pieces, and gives up on one that is refused, too long or late.
func TestBrowserFetch(t *testing.T) {
	before := js.Global().Get("fetch")
	js.Global().Get("globalThis").Call("eval", `
		globalThis.fetch = (address, options) => {
			const body = (read) => Promise.resolve({status: address === "absent here" ? 404 : 200, body: {getReader: () => ({read})}});
			let n = 0;
			if (options.redirect !== "error" || options.credentials !== "omit") throw new Error("this may send secrets");
			switch (address) {
			case "empty": return Promise.resolve({status: 200, body: null});
			case "torn": return body(() => n++ < 1 ? Promise.resolve({done: false, value: new Uint8Array(5)}) : Promise.reject(new Error("torn")));
			case "absent": return Promise.reject(new TypeError("no network"));
			case "late": return new Promise((_, fail) => options.signal.addEventListener("abort", () => fail(new Error("aborted"))));
			case "endless": return body(() => Promise.resolve({done: false, value: new Uint8Array(64)}));
			}
			return body(() => Promise.resolve(n++ < 3 ? {done: false, value: new Uint8Array([97, 97 + n])} : {done: true}));
		}`)
	t.Cleanup(func() { js.Global().Set("fetch", before) })
	get, done, err := new(Options).fetcher()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for _, row := range []struct {
		address, want string
		limit         int64
		err           string // in its text
	}{
		{"found", "abacad", 1000, ""},
		{"found", "abacad", 6, ""},
		{"found", "", 5, errTooLong.Error()},
		{"absent here", "", 1000, "status 404"},
		{"absent", "", 1000, errFetch.Error()},
		{"empty", "", 1000, errFetch.Error()},
		{"torn", "", 1000, errFetch.Error()},
		{"late", "", 1000, context.DeadlineExceeded.Error()},
		{"endless", "", 1000, errTooLong.Error()},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if row.address != "late" {
			ctx = t.Context()
		}
		got, err := get(ctx, row.address, row.limit)
		cancel()
		if string(got) != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: got %q, %v, want %q, %q", row.address, got, err, row.want, row.err)
		}
	}
}

// A session in a browser shows its token to the server of the page only.
func TestBrowserShowsToken(t *testing.T) {
	for _, name := range []string{"fetch", "location"} {
		before := js.Global().Get(name)
		t.Cleanup(func() { js.Global().Set(name, before) })
	}
	js.Global().Get("globalThis").Call("eval", `
		globalThis.location = {origin: "https://game.example"};
		globalThis.fetch = (address, options) => {
			const text = options.headers?.Authorization ?? "nothing";
			const parts = [{done: false, value: new TextEncoder().encode(text)}, {done: true}];
			return Promise.resolve({status: 200, body: {getReader: () => ({read: () => Promise.resolve(parts.shift())})}});
		}`)
	get, done, err := (&Options{Options: player.Options{Token: "letmein"}}).fetcher()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for address, want := range map[string]string{
		"https://game.example/assets/1": "Bearer letmein", "https://game.example.evil/assets/1": "nothing", "http://game.example/assets/1": "nothing",
	} {
		if got, err := get(t.Context(), address, 100); string(got) != want || err != nil {
			t.Errorf("%s was shown %q, %v, want %q", address, got, err, want)
		}
	}
}

// A session in a browser fetches the assets of its match before it connects, and does not connect with a wrong one.
func TestBrowserAssets(t *testing.T) {
	content := []byte("a map of tiles")
	valley, err := record.NewAsset("valley.map", content)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal([]lockstep.Asset{valley})
	if err != nil {
		t.Fatal(err)
	}
	before := js.Global().Get("fetch")
	t.Cleanup(func() { js.Global().Set("fetch", before) })
	serve := func(content string) {
		js.Global().Get("globalThis").Call("eval", `
			globalThis.fetched = [];
			globalThis.serve = (list, content) => {
				globalThis.fetch = (address) => {
					fetched.push(address);
					return Promise.resolve(new Response(address.endsWith("/duel/assets") ? list : content));
				};
			}`)
		js.Global().Call("serve", string(list), content)
	}
	const address = "wss://host/game/matches/duel/play"
	want := []string{"https://host/game/matches/duel/assets", "https://host/game/assets/" + valley.SHA256}
	asked := func() (all []string) {
		f := js.Global().Get("fetched")
		for i := range f.Length() {
			all = append(all, f.Index(i).String())
		}
		return all
	}
	game := lockstep.MustGame(testgame.TilesRules())

	serve(string(content))
	l := &loader{options: new(Options), own: game.ReadAsset}
	for range 2 { // the second time only for the list
		if err := l.load(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := l.read(valley); err != nil || string(got) != string(content) {
		t.Errorf("got %q, %v, want %q", got, err, content)
	}
	if got := asked(); !slices.Equal(got, append(want, want[0])) {
		t.Errorf("asked for %q, want %q and the list again", got, want)
	}

	made := fakeWebSocket(t)
	js.Global().Set("lastSocket", js.Undefined())
	serve("b map of tiles")
	s := Dial(t.Context(), address, game, Options{Options: player.Options{Reconnect: player.ReconnectPolicy{Attempts: -1}}})
	if err := s.Wait(); !errors.Is(err, record.ErrAssetContent) || !strings.Contains(err.Error(), "valley.map") {
		t.Errorf("got %v, want that the content is wrong", err)
	}
	if got := asked(); !slices.Equal(got, want) || !made().IsUndefined() {
		t.Errorf("asked for %q, want %q and no WebSocket", got, want)
	}
}
