//go:build !js

package server_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A contract compares answers with the server's own document.
type contract struct {
	routes routers.Router
	seen   map[string]bool // "operation status"
}

// contractOf reads a document. Its objects get no other fields than it names.
func contractOf(t *testing.T, document string) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(document))
	if err == nil {
		err = doc.Validate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Components.Schemas {
		forbidOthers(s.Value)
	}
	routes, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &contract{routes, map[string]bool{}}
}

func forbidOthers(s *openapi3.Schema) {
	if len(s.Properties) > 0 {
		no := false
		s.AdditionalProperties = openapi3.AdditionalProperties{Has: &no}
	}
	for _, p := range s.Properties {
		forbidOthers(p.Value)
	}
	if s.Items != nil {
		forbidOthers(s.Items.Value)
	}
}

// check compares an answer, and the request if it was good.
func (c *contract) check(r *http.Request, body string, answer *http.Response, got []byte) error {
	route, params, err := c.routes.FindRoute(r)
	if err != nil {
		return err
	}
	c.seen[route.Operation.OperationID+" "+strconv.Itoa(answer.StatusCode)] = true
	o := &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true}
	asked := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: o}
	if answer.StatusCode < 300 {
		r.Body = io.NopCloser(strings.NewReader(body))
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		if err := openapi3filter.ValidateRequest(context.Background(), asked); err != nil {
			return err
		}
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
		got = nil // a text has no schema
		o.ExcludeResponseBody = true
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(got)), Options: o,
	})
}

// A call is a request with its answer.
type call struct {
	method, path, token, body string
	status                    int
}

func (s *stage) call(t *testing.T, c *contract, x call, header ...string) (answer []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), x.method, "http://"+s.host+x.path, strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	if x.token != "" {
		r.Header.Set("Authorization", "Bearer "+x.token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		if answer, err = io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	if resp.StatusCode != x.status {
		t.Errorf("%s %s: got %d %s, want %d", x.method, x.path, resp.StatusCode, answer, x.status)
	}
	if err := c.check(r, x.body, resp, answer); err != nil {
		t.Errorf("%s %s: %d %s: %v", x.method, x.path, resp.StatusCode, answer, err)
	}
	return answer
}

// Every operation of the document is called, and every answer is one that the document has.
func TestContract(t *testing.T) {
	o := withRules(strings.NewReader("a module"))
	o.NewMatch, o.MaxMatches = newMatch, 4
	s, replay, bundle := archived(t, o)
	_, document := s.ask(t, "GET", "/openapi.json", "", "")
	c := contractOf(t, document)
	s.call(t, c, call{"POST", "/matches", ops, `{"name":"duel"}`, 201})
	defer s.raw(t, ada, protocol.SessionToken{}, 0).live().ws.CloseNow()
	s.createTiles(t, "tiles", tilesAsset)
	s.call(t, c, call{"GET", "/matches/duel/datagrams", "", "", 200})
	newPathAttacker(t, s, s.datagrams(t, netsim.Link{}))
	s.setAside(t, "lost")
	for _, x := range []call{
		{"GET", "/openapi.json", "", "", 200},
		{"GET", "/healthz", "", "", 200},
		{"GET", "/readyz", "", "", 200},
		{"GET", "/metrics", "", "", 200},
		{"POST", "/matches", ops, `{"name":"duel"}`, 409},
		{"POST", "/matches", ops, `{`, 400},
		{"POST", "/matches", ops, strings.Repeat(" ", 65<<10), 413},
		{"POST", "/matches", ada, `{"name":"two"}`, 403},
		{"GET", "/matches", "", "", 200},
		{"GET", "/matches?after=a", "", "", 200},
		{"GET", "/matches/duel", "", "", 200},
		{"GET", "/matches/none", "", "", 404},
		{"GET", "/matches/lost", "", "", 200},
		{"GET", "/matches?state=failed", "", "", 200},
		{"GET", "/matches/lost/schemas", "", "", 503},
		{"POST", "/matches/lost/retry", ops, "", 200},
		{"POST", "/matches/lost/retry", ada, "", 403},
		{"POST", "/matches/none/retry", ops, "", 409},
		{"GET", "/matches/duel/schemas", "", "", 200},
		{"GET", "/matches/none/schemas", "", "", 404},
		{"GET", "/matches/duel/datagrams", "", "", 200},
		{"GET", "/matches/none/datagrams", "", "", 404},
		{"GET", "/matches/tiles/assets", "", "", 200},
		{"GET", "/matches/duel/assets", "", "", 200},
		{"GET", "/matches/none/assets", "", "", 404},
		{"GET", "/assets/" + tilesAsset.SHA256, "", "", 200},
		{"GET", "/assets/none", "", "", 404},
		{"GET", rulesFile, "", "", 200},
		{"GET", "/rules/none", "", "", 404},
		{"GET", "/matches/duel/play", "", "", 426},
		{"GET", "/matches/none/play", "", "", 404},
		{"GET", "/matches/duel/save", ops, "", 200},
		{"GET", "/matches/duel/save", ada, "", 403},
		{"GET", "/matches/none/save", ops, "", 404},
		{"POST", "/matches", ops, `{"name":"lobby"}`, 201},
		{"GET", "/matches?state=lobby", ops, "", 200},
		{"POST", "/matches/lobby/start", ops, "", 200},
		{"POST", "/matches/duel/start", ops, "", 409},
		{"POST", "/matches/none/start", ops, "", 404},
		{"POST", "/matches/duel/start", ada, "", 403},
		{"POST", "/matches/duel/keyframe", ops, "", 200},
		{"POST", "/matches/none/keyframe", ops, "", 404},
		{"POST", "/matches/duel/keyframe", ada, "", 403},
		{"POST", "/matches/duel/pause", ops, "", 200},
		{"GET", "/matches/duel", "", "", 200},
		{"POST", "/matches/duel/resume", ops, "", 200},
		{"POST", "/matches/duel/resume", ops, "", 409},
		{"POST", "/matches/duel/pause?seat=x", ops, "", 400},
		{"POST", "/matches/duel/pause?seat=1", ops, "", 409},
		{"POST", "/matches/none/pause", ops, "", 404},
		{"POST", "/matches/duel/speed?percent=200", ops, "", 200},
		{"POST", "/matches/duel/speed?percent=1", ops, "", 400},
		{"POST", "/matches/duel/speed", ops, "", 400},
		{"POST", "/matches/duel/kick?seat=1", ops, "", 409},
		{"POST", "/matches/duel/kick?seat=0", ops, "", 200},
		{"POST", "/matches/duel/ban?subject=x&for=90s&reason=r", ops, "", 200},
		{"POST", "/matches/duel/ban", ops, "", 400},
		{"POST", "/matches/duel/ban", ops, `{"name":"x","reason":"r"}`, 200},
		{"POST", "/matches/duel/ban", ops, `{"nothing":1}`, 400},
		{"POST", "/matches/duel/speed", ops, `{"percent":100}`, 200},
		{"GET", "/matches/duel/connections", ops, "", 200},
		{"GET", "/matches/duel/connections", ada, "", 403},
		{"GET", "/matches/none/connections", ops, "", 404},
		{"GET", "/matches/duel/bans", ops, "", 200},
		{"GET", "/matches/duel/bans", "", "", 403},
		{"POST", "/matches/duel/unban?subject=x", ops, "", 200},
		{"POST", "/matches/duel/unban?subject=x", ops, "", 409},
		{"POST", "/revocations?subject=nobody&for=1h", ops, "", 200},
		{"POST", "/revocations", ops, "", 409},
		{"POST", "/revocations?subject=nobody&for=x", ops, "", 400},
		{"GET", "/revocations", ops, "", 200},
		{"DELETE", "/revocations?subject=nobody", ops, "", 200},
		{"DELETE", "/revocations?subject=nobody", ops, "", 404},
		{"DELETE", "/matches/none", ops, "", 404},
		{"GET", "/replays", ops, "", 200},
		{"GET", "/replays", "", "", 403},
		{"GET", "/replays?kind=bundle", ops, "", 200},
		{"GET", "/replays?since=x", ops, "", 400},
		{"GET", "/replays?after=none.ssr", ops, "", 404},
		{"GET", "/replays/" + replay, ops, "", 200},
		{"GET", "/replays/" + bundle, ops, "", 200},
		{"GET", "/replays/none.ssr", ops, "", 404},
		{"DELETE", "/replays/none.ssr", ops, "", 404},
	} {
		s.call(t, c, x)
	}
	s.call(t, c, call{"GET", "/replays/" + replay, ops, "", 206}, "Range", "bytes=0-9")
	s.call(t, c, call{"GET", "/replays/" + replay, ops, "", 416}, "Range", "bytes=99999999-")
	s.call(t, c, call{"DELETE", "/replays/" + replay, ops, "", 204})
	s.call(t, c, call{"GET", "/matches/duel/play", "", "", 101},
		"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol", server.Subprotocol)
	s.call(t, c, call{"DELETE", "/matches/duel", ops, "", 200})
	good := map[string]bool{}
	for _, seen := range slices.Sorted(maps.Keys(c.seen)) {
		id, status, _ := strings.Cut(seen, " ")
		good[id] = good[id] || status < "300"
	}
	for id, ok := range good {
		if !ok {
			t.Errorf("%s: no call of it succeeded", id)
		}
	}
	if want := strings.Count(document, `"operationId"`); len(good) != want || want < 20 {
		t.Errorf("called %d operations, want %d, and at least 20", len(good), want)
	}
	for _, x := range []struct{ change, to, path string }{ // controls
		{`"tick":`, `"other_tick":`, "/matches"},
		{`"sync_keyframes": `, `"sync_keyframes": {"type": "boolean"}, "x": `, "/matches"},
		{`"no_match", `, ``, "/matches/none"},
		{`"404": {"$ref"`, `"499": {"$ref"`, "/matches/none"},
	} {
		bad := contractOf(t, strings.ReplaceAll(document, x.change, x.to))
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.host+x.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || bad.check(r, "", resp, got) == nil || c.check(r, "", resp, got) != nil {
			t.Errorf("control: %s became %s: %s, %v", x.change, x.to, got, err)
		}
	}
}
