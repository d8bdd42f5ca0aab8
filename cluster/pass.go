package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"time"
)

// pass sends a request about a match to the server at an address. The connection is cut when another server gets the
// match. It reports false, and has not answered, if that server cannot be reached.
func (m *Member) pass(w http.ResponseWriter, r *http.Request, name, address string) bool {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		_ = m.wait(ctx, func() bool {
			e := m.entries[name] // nil if the match is over: its server closes the connection when all is sent
			return e != nil && (m.others[e.Server] == nil || m.others[e.Server].Address != address || m.leases.Expired(e.Server, m.now()))
		})
		cancel()
	}()
	return m.send(w, r.WithContext(ctx), address)
}

// send passes a request on to another server, or redirects it there. It reports false, and has not answered, if that server
// cannot be reached. A request that changes something is sent at most once.
func (m *Member) send(w http.ResponseWriter, r *http.Request, address string) (answered bool) {
	to, err := parseAddress(address)
	if err != nil {
		m.options.Log.Error("invalid address of a server in the directory", "err", err)
		return false
	}
	if m.options.Redirect {
		http.Redirect(w, r, to.JoinPath(r.URL.EscapedPath()).String()+query(r), http.StatusTemporaryRedirect)
		return true
	}
	answered = true
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			setClient(p.Out.Header, p.In.RemoteAddr)
			p.Out.Host = p.In.Host // which the origin of a browser's page is compared with
			p.Out.Header.Set(hop, m.options.Name)
			if p.Out.Body != nil && p.Out.Body != http.NoBody {
				p.Out.Body = io.NopCloser(p.Out.Body) // a connection that fails closes it, and then another one needs it
			}
		},
		Transport: m.http.Transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			m.options.Log.Debug("request not passed on", "address", address, "err", err)
			if answered = !isRepeatable(r, err); answered {
				refuse(w, http.StatusBadGateway, "unknown", "the connection to the match's server was lost: the request may have been carried out")
			}
		},
		ErrorLog: slog.NewLogLogger(m.options.Log.Handler(), slog.LevelDebug),
	}
	proxy.ServeHTTP(w, r)
	return answered
}

// isRepeatable reports whether a request may be sent again after an error: it changes nothing, or was not sent.
func isRepeatable(r *http.Request, err error) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	var e *net.OpError
	return errors.As(err, &e) && e.Op == "dial"
}

// setClient names the client of a request in both headers of which the next server may read one. What the client or a proxy
// has written there counts for nothing: this server has read it already.
func setClient(h http.Header, remote string) {
	h.Del("X-Forwarded-For")
	h.Del("Forwarded")
	client, err := netip.ParseAddrPort(remote)
	if err != nil {
		return // over a unix socket
	}
	a := client.Addr().Unmap().WithZone("")
	h.Set("X-Forwarded-For", a.String())
	if a.Is6() {
		h.Set("Forwarded", `for="[`+a.String()+`]"`)
	} else {
		h.Set("Forwarded", "for="+a.String())
	}
}

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// runsElsewhere asks the other servers whether one of them runs a match that this server has had.
func (m *Member) runsElsewhere(ctx context.Context, e *Match) bool {
	for runs := range askOthers(ctx, m, func(ctx context.Context, address string) bool {
		var of struct{ Match string }
		_, ok := get(ctx, m.http, http.Header{hop: {m.options.Name}}, &of, address, "", "matches", e.Name)
		return ok && of.Match == e.ID
	}) {
		if runs {
			return true
		}
	}
	return false
}

// askOthers calls f with the addresses of the other servers that live, all at once, and yields the answers as they come.
func askOthers[T any](ctx context.Context, m *Member, f func(ctx context.Context, address string) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		addresses := m.addresses()
		answers := make(chan T, len(addresses))
		for _, a := range addresses {
			go func() { answers <- f(ctx, a) }()
		}
		for range addresses {
			if !yield(<-answers) {
				return
			}
		}
	}
}

// get reads the JSON at a path of the server at an address into v. It reports false if the server does not answer so.
func get(ctx context.Context, client *http.Client, header http.Header, v any, address, query string, path ...string) (http.Header, bool) {
	to, err := url.JoinPath(address, path...)
	if err != nil {
		return nil, false
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to+query, nil)
	if err != nil {
		return nil, false
	}
	r.Header = header
	answer, err := client.Do(r)
	if err != nil {
		return nil, false
	}
	defer answer.Body.Close()
	err = json.NewDecoder(io.LimitReader(answer.Body, maxList)).Decode(v)
	return answer.Header, err == nil && answer.StatusCode == http.StatusOK
}

// maxList is the largest list of matches that a server takes from another one, in bytes.
const maxList = 4 << 20

// hop marks a request that a server has passed on: the next one answers it itself.
const hop = "Samestep-Hop"

// askTime is how long another server may take to answer.
const askTime = time.Second

// addresses returns the addresses of the other servers that live.
func (m *Member) addresses() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, s := range m.others {
		if name != m.id && !m.leases.Expired(name, m.now()) {
			all = append(all, s.Address)
		}
	}
	return all
}

// Hosts returns the hosts in the addresses of all servers of the cluster, also of this one. A [server.Server] accepts requests for them.
func (m *Member) Hosts() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.others {
		if u, err := url.Parse(s.Address); err == nil { // as sawServer has checked
			all = append(all, u.Host)
		}
	}
	return all
}
