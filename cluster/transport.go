package cluster

import (
	"net"
	"net/http"
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
