package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxList is the largest list of matches that a server takes from another one, in bytes.
const maxList = 4 << 20

// A listed is a match in a list, with all that its server says.
type listed struct {
	name string
	view json.RawMessage
}

// An answer is what a server answers to a request for a list.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter].
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// list answers GET /matches with the matches of all servers. Those of a server that does not answer are left out. Only this server gets
// the client's token: the others tell what anybody may know, because an address in the directory proves nothing.
func (m *Member) list(w http.ResponseWriter, r *http.Request, h http.Handler) {
	own := &answer{header: w.Header(), status: http.StatusOK}
	h.ServeHTTP(own, r)
	all, err := parseList(own.body.Bytes())
	if own.status != http.StatusOK || err != nil { // such as too many requests
		w.WriteHeader(own.status)
		_, _ = w.Write(own.body.Bytes())
		return
	}
	more := own.header.Get("Link") != ""
	for _, of := range m.listsOfOthers(r) {
		all, more = append(all, of.matches...), more || of.more
	}
	slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.name, b.name) })
	all = slices.CompactFunc(all, func(a, b listed) bool { return a.name == b.name }) // one that is moving right now
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 {
		limit = mostListed
	}
	if len(all) > limit {
		all, more = all[:limit], true
	}
	w.Header().Del("Link")
	if more && len(all) > 0 {
		next := r.URL.Query()
		next.Set("after", all[len(all)-1].name)
		w.Header().Set("Link", "<?"+next.Encode()+`>; rel="next"`)
	}
	views := make([]json.RawMessage, 0, len(all))
	for _, one := range all {
		views = append(views, one.view)
	}
	_ = json.NewEncoder(w).Encode(views)
}

// mostListed is how many matches an answer has; server has the same limit.
const mostListed = 100

// A page is the list of one server.
type page struct {
	matches []listed
	more    bool
}

// listsOfOthers asks the other servers for their lists.
func (m *Member) listsOfOthers(r *http.Request) (all []page) {
	addresses := m.addresses()
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	pages := make(chan page, len(addresses))
	for _, a := range addresses {
		go func() { pages <- m.listOf(ctx, a, r) }()
	}
	for range addresses {
		all = append(all, <-pages)
	}
	return all
}

// listOf asks the server at an address for its list, on behalf of a client.
func (m *Member) listOf(ctx context.Context, address string, from *http.Request) (p page) {
	path, err := url.JoinPath(address, "matches")
	if err != nil {
		return p
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, path+query(from), nil)
	if err != nil {
		return p
	}
	r.Header.Set(hop, m.options.Name)
	client, _, err := net.SplitHostPort(from.RemoteAddr)
	if err == nil { // its budget there
		r.Header.Set("X-Forwarded-For", strings.Join(append(from.Header.Values("X-Forwarded-For"), client), ", "))
	}
	got, err := m.http.Do(r)
	if err != nil {
		return p
	}
	defer got.Body.Close()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxList))
	if err != nil || got.StatusCode != http.StatusOK {
		return p
	}
	p.matches, _ = parseList(body)
	p.more = got.Header.Get("Link") != ""
	return p
}

// parseList reads a list of matches.
func parseList(body []byte) (all []listed, err error) {
	var views []json.RawMessage
	if err := json.Unmarshal(body, &views); err != nil {
		return nil, err
	}
	for _, view := range views {
		var of struct{ Name string }
		if err := json.Unmarshal(view, &of); err != nil {
			return nil, err
		}
		all = append(all, listed{of.Name, view})
	}
	return all, nil
}
