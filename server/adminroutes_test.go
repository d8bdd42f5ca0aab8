//go:build !js

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Every call of admins checks the host and the token before anything else, and takes its values in a JSON object as well as in the query.
// The routes are those of the server's own document, which TestContract compares with the server.
func TestAdminRoutes(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{})
	_, document := s.ask(t, "GET", "/openapi.json", "", "")
	doc, err := openapi3.NewLoader().LoadFromData([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	walked, open := 0, 0
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			if o.Security == nil {
				continue
			}
			if !slices.Contains(o.Tags, "admin") {
				open++
				continue
			}
			walked++
			to := strings.NewReplacer("{name}", "duel", "{file}", "none").Replace(path)
			if status, body := s.at(t, method, to, "evil.example", ops, ""); status != http.StatusForbidden || !strings.Contains(body, "wrong_host") {
				t.Errorf("%s %s with a foreign host: got %d %s", method, path, status, body)
			}
			for _, token := range []string{"", ada, press} {
				if status, body := s.ask(t, method, to, token, ""); status != http.StatusForbidden || !strings.Contains(body, `"refused"`) {
					t.Errorf("%s %s with the token %q: got %d %s", method, path, token, status, body)
				}
			}
			if method == http.MethodGet {
				continue
			}
			if status, body := s.ask(t, method, to, ops, `{"nothing":1}`); status != http.StatusBadRequest || !strings.Contains(body, "nothing") {
				t.Errorf("%s %s with an unknown field: got %d %s", method, path, status, body)
			}
			for _, p := range o.Parameters {
				if p.Value.In != "query" {
					continue
				}
				if status, body := s.ask(t, method, to, ops, fmt.Sprintf(`{%q:[1]}`, p.Value.Name)); status != http.StatusBadRequest || !strings.Contains(body, p.Value.Name+": want") {
					t.Errorf("%s %s with a list as %s: got %d %s", method, path, p.Value.Name, status, body)
				}
				if o.RequestBody == nil || o.RequestBody.Value.Content["application/json"].Schema.Value.Properties[p.Value.Name] == nil {
					t.Errorf("%s %s: the document has no %s in the body", method, path, p.Value.Name)
				}
			}
		}
	}
	if walked < 14 || open != 5 {
		t.Errorf("got %d routes of admins and %d of players, too; want at least 14, and 5: those of replays, the metrics, and POST /matches", walked, open)
	}
}

// A ban, a kick and a revocation say what they have ended. One that fits nobody says so. Names are matched, too.
func TestAffected(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		enter := func() {
			t.Helper()
			s.do(t, unbanAll)
			for _, token := range []string{ada, bob, press} {
				s.raw(t, token, protocol.SessionToken{}, 0).live()
			}
		}
		for _, x := range []struct {
			path, body       string
			seats, connected int
			message          string
		}{
			{"/matches/duel/ban", `{"name":"press"}`, 0, 1, ""},
			{"/matches/duel/ban", `{"name":"ada","for":"90s","reason":"rude"}`, 1, 1, ""},
			{"/matches/duel/ban", `{"seat":1}`, 1, 1, ""},
			{"/matches/duel/ban", `{"name":"eve"}`, 0, 0, "nobody"},
			{"/matches/duel/ban", `{"subject":"ada"}`, 0, 0, "name"},
			{"/matches/duel/ban", `{"subject":"eve"}`, 0, 0, "nobody"},
			{"/matches/duel/kick", `{"seat":0}`, 1, 1, ""},
			{"/revocations", `{"name":"bob","for":"1h"}`, 1, 1, ""},
			{"/revocations", `{"subject":"nobody","for":"1h"}`, 0, 0, "nobody"},
		} {
			enter()
			status, text := s.ask(t, "POST", x.path, ops, x.body)
			var got struct {
				Affected struct {
					Seats, Connections int
					Message            string
				}
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK {
				t.Errorf("%s %s: got %d %s, %v", x.path, x.body, status, text, err)
				continue
			}
			if a := got.Affected; a.Seats != x.seats || a.Connections != x.connected || !strings.Contains(a.Message, x.message) || (a.Message == "") != (x.message == "") {
				t.Errorf("%s %s: got %+v, want %d seats, %d connections and a message with %q", x.path, x.body, a, x.seats, x.connected, x.message)
			}
			if strings.Contains(x.path, "revocations") {
				s.ask(t, "DELETE", x.path, ops, strings.Replace(x.body, `,"for":"1h"`, "", 1))
			}
		}
		enter()
		s.ask(t, "POST", "/matches/duel/ban", ops, `{"name":"ada"}`)
		if code := s.raw(t, ada, protocol.SessionToken{}, 0).end(); code != protocol.CloseBanned {
			t.Errorf("a player who is banned by name: got code %d", code)
		}
		if status, _ := s.ask(t, "POST", "/matches/duel/unban", ops, `{"name":"ada"}`); status != http.StatusOK {
			t.Errorf("unban by name: got %d", status)
		}
		s.raw(t, ada, protocol.SessionToken{}, 0).welcomed()
	})
}

func unbanAll(h *host.Host) {
	for _, b := range h.Bans().List(0) {
		h.Bans().Remove(0, b)
	}
}

// An admin sees who has each connection, and what the holder and the address have spent of their budgets.
func TestConnections(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		a := s.from(t, "203.0.113.1").raw(t, ada, protocol.SessionToken{}, 0).live()
		s.from(t, "203.0.113.2").open(t, "203.0.113.2:1")
		for range 3 {
			a.say(&protocol.Message{Kind: protocol.KindChat, Text: "hello"})
		}
		a.read(func() bool { return len(a.chats) == 3 })
		status, text := s.ask(t, "GET", "/matches/duel/connections", ops, "")
		var got []struct {
			State, Name, Subject, Address string
			Seat                          *int
			Spent                         map[string]int
			AddressSpent                  map[string]int `json:"address_spent"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK || len(got) != 2 {
			t.Fatalf("got %d %s, %v", status, text, err)
		}
		p, silent := got[0], got[1]
		if p.Name != "ada" || !strings.HasPrefix(p.Subject, "token ") || p.Address != "203.0.113.1/32" || p.Seat == nil || *p.Seat != 0 || p.Spent["chat"] < 50 || p.AddressSpent["connections"] != 1 {
			t.Errorf("a player: got %+v", p)
		}
		if silent.State != "connecting" || silent.Subject != "" || silent.Address != "203.0.113.2/32" || silent.Seat != nil || silent.AddressSpent["connections"] != 1 {
			t.Errorf("a silent connection: got %+v", silent)
		}
	})
}
