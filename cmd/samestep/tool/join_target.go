//go:build !js

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// matchURLs returns the URLs of a match and of its WebSocket.
func matchURLs(text string) (page, socket string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", "", usagef("got URL %q, want one such as http://127.0.0.1:8766/matches/match-1", text)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/play")
	if base, name := path.Split(u.Path); !strings.HasSuffix(base, "/matches/") || name == "" {
		return "", "", usagef("got URL %q, want a path such as /matches/match-1", text)
	}
	ws := *u
	ws.Path += "/play"
	switch u.Scheme {
	case "http", "ws":
		u.Scheme, ws.Scheme = "http", "ws"
	case "https", "wss":
		u.Scheme, ws.Scheme = "https", "wss"
	default:
		return "", "", usagef("got scheme %q, want http, https, ws or wss", u.Scheme)
	}
	return u.String(), ws.String(), nil
}

// await returns the view of a match at one of its servers. With --retry it tries again until one answers.
func (j *join) await(ctx context.Context, pages []string) (*server.View, error) {
	var limit time.Duration
	if j.flags.IsSet("retry") {
		limit = j.flags.Duration("retry")
	}
	for began, wait := time.Now(), 200*time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		var view *server.View
		var err error
		for _, page := range pages {
			if view, err = viewOf(ctx, page); err == nil {
				break
			}
		}
		if err == nil || time.Since(began)+wait > limit {
			return view, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// viewOf asks the server for the view of a match.
func viewOf(ctx context.Context, page string) (*server.View, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", page, statusOf(answer))
	}
	v := &server.View{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(v); err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	return v, nil
}

// statusOf returns the status of an answer in our own words, since a server can send any text.
func statusOf(r *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
}
