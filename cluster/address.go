package cluster

import (
	"fmt"
	"net/url"
)

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
