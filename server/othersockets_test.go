//go:build !js

package server_test

import (
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/server"
)

// WebSockets without our subprotocol come to their handler on any path, after the check of the host. All else stays with
// the routes.
func TestHandleOtherSockets(t *testing.T) {
	s := newStage(t, setup{})
	origin := ""
	dial := func(path, host string, subprotocols ...string) (answer string, status int) {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		ws, r, err := websocket.Dial(t.Context(), "ws://"+s.host+path, &websocket.DialOptions{Subprotocols: subprotocols, Host: host, HTTPHeader: header})
		if err != nil {
			if r == nil {
				t.Fatal(err)
			}
			return "", r.StatusCode
		}
		defer ws.CloseNow()
		if _, b, err := ws.Read(t.Context()); err == nil {
			answer = string(b)
		}
		return answer, r.StatusCode
	}
	if _, status := dial("/", ""); status != http.StatusNotFound {
		t.Errorf("without a handler: got status %d, want 404", status)
	}
	s.server.HandleOtherSockets(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		ws.Write(r.Context(), websocket.MessageText, []byte("hello "+r.URL.Path))
		ws.Close(websocket.StatusNormalClosure, "")
	}))
	for _, row := range []struct {
		path, host  string
		subprotocol string
		answer      string
		status      int
	}{
		{"/", "", "", "hello /", http.StatusSwitchingProtocols},
		{"/matches/duel/play", "", "", "hello /matches/duel/play", http.StatusSwitchingProtocols},
		{"/somewhere", "", "chat", "hello /somewhere", http.StatusSwitchingProtocols},
		{"/", "evil.example", "", "", http.StatusForbidden},
		{"/", "", server.Subprotocol, "", http.StatusNotFound},
	} {
		var subprotocols []string
		if row.subprotocol != "" {
			subprotocols = []string{row.subprotocol}
		}
		if answer, status := dial(row.path, row.host, subprotocols...); answer != row.answer || status != row.status {
			t.Errorf("%+v: got %q and status %d", row, answer, status)
		}
	}
	origin = "http://localhost:5173"
	if _, status := dial("/", ""); status != http.StatusForbidden {
		t.Errorf("a page of another host: got status %d, want 403", status)
	}
	if got := s.lines("turned away", "reason=origin", `fix="the setting origin: localhost:5173"`); len(got) != 1 {
		t.Errorf("a page of another host: the log says %q, want what lets it in", got)
	}
	r, err := http.Get("http://" + s.host + "/matches")
	if err != nil {
		t.Fatal(err)
	}
	if r.Body.Close(); r.StatusCode != http.StatusOK {
		t.Errorf("GET /matches: got %s", r.Status)
	}
}
