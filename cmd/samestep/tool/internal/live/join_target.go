//go:build !js

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/server"
)

// matchURLs returns the URLs of a match and of its WebSocket.
func matchURLs(text string) (page, socket string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", "", console.Usagef("got URL %q, want one such as http://127.0.0.1:8766/matches/match-1", text)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/play")
	if base, name := path.Split(u.Path); !strings.HasSuffix(base, "/matches/") || name == "" {
		return "", "", console.Usagef("got URL %q, want a path such as /matches/match-1", text)
	}
	ws := *u
	ws.Path += "/play"
	switch u.Scheme {
	case "http", "ws":
		u.Scheme, ws.Scheme = "http", "ws"
	case "https", "wss":
		u.Scheme, ws.Scheme = "https", "wss"
	default:
		return "", "", console.Usagef("got scheme %q, want http, https, ws or wss", u.Scheme)
	}
	return u.String(), ws.String(), nil
}

// crowdTime is how long a client tries again at a server that has no budget left for its address.
const crowdTime = 10 * time.Second

// insist tries again until it succeeds or a time is over, which is at least crowdTime if the server is crowded.
func insist(ctx context.Context, limit time.Duration, try func() error) error {
	for began, wait := time.Now(), 200*time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := try()
		if errors.Is(err, errCrowded) {
			limit = max(limit, crowdTime)
		}
		if err == nil || time.Since(began)+wait > limit {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// errCrowded is wrapped by the errors of a server that has no budget left for the client's address: it answers with 429, or closes
// the connection without an answer.
var errCrowded = errors.New("the server has too many requests from this address")

// ask sends a GET request, which shows a token unless that is "". It follows redirects if told so, and then shows the token to the same
// server only.
func ask(ctx context.Context, address, token string, follow bool) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if !follow || len(before) > maxRedirects {
			return fmt.Errorf("got a redirect to %.80q, want none", next.URL.Scheme+"://"+next.URL.Host)
		}
		if next.URL.Scheme != r.URL.Scheme || next.URL.Host != r.URL.Host {
			next.Header.Del("Authorization")
		}
		return nil
	}}
	answer, err := client.Do(r)
	if op := (*net.OpError)(nil); errors.Is(err, io.EOF) || errors.As(err, &op) && op.Op == "read" {
		return nil, fmt.Errorf("%w: %w", errCrowded, err)
	}
	if err == nil && answer.StatusCode == http.StatusTooManyRequests {
		defer answer.Body.Close()
		return nil, fmt.Errorf("%w: %s: %s", errCrowded, address, console.StatusOf(answer))
	}
	return answer, err
}

// maxRedirects is how many redirects a request follows.
const maxRedirects = 5

// viewOf asks the server for the view of a match, and shows it a token unless that is "".
func viewOf(ctx context.Context, page, token string) (*server.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := ask(ctx, page, token, true)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if token != "" && answer.StatusCode == http.StatusForbidden && codeOf(answer) == "refused" {
		return nil, fmt.Errorf("%s: %w", page, errToken)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", page, console.StatusOf(answer))
	}
	v := &server.Status{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(v); err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	return v, nil
}

// codeOf returns the code of a server's error, or "".
func codeOf(r *http.Response) string {
	var problem struct{ Error struct{ Code string } }
	if json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&problem) != nil {
		return ""
	}
	return problem.Error.Code
}
