package cluster

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// dialTime is how long a connection to another server may take to be made.
const dialTime = 2 * time.Second

// newTransport returns what carries requests to the other servers. It uses no proxy of the environment, because the requests
// have the tokens of clients.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, TLSHandshakeTimeout: dialTime,
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 64, DisableCompression: true,
	}
}

// noRedirect refuses redirects: a server of the cluster answers itself.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// refuseFor answers that a request may succeed in a second.
func refuseFor(w http.ResponseWriter, code, message string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, code, message)
}

// refuse answers with an error of the form that server has.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code, "message": message}})
}

// parseAddress reads the address of a server: a URL with a host, and with a path at most.
func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("cluster: the address of a server: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("cluster: got the address %q of a server, want http://HOST:PORT or https://HOST:PORT", address)
	}
	return u, nil
}

// maxCreation is the largest body of a request to create a match, in bytes; server has the same limit.
const maxCreation = 64 << 10
