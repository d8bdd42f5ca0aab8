package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// A listed is a match in a list, with all that its server says.
type listed struct {
	name string
	said json.RawMessage
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *listed) UnmarshalJSON(b []byte) error {
	var of struct{ Name string }
	err := json.Unmarshal(b, &of)
	l.name, l.said = of.Name, bytes.Clone(b)
	return err
}

// MarshalJSON implements [json.Marshaler].
func (l listed) MarshalJSON() ([]byte, error) { return l.said, nil }

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
	var all []listed
	err := json.Unmarshal(own.body.Bytes(), &all)
	if own.status != http.StatusOK || err != nil { // such as too many requests
		w.WriteHeader(own.status)
		_, _ = w.Write(own.body.Bytes())
		return
	}
	more := own.header.Get("Link") != ""
	for of := range askOthers(r.Context(), m, func(ctx context.Context, address string) page { return m.listOf(ctx, address, r) }) {
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
	_ = json.NewEncoder(w).Encode(all)
}

// mostListed is how many matches an answer has; server has the same limit.
const mostListed = 100

// A page is the list of one server.
type page struct {
	matches []listed
	more    bool
}

// listOf asks the server at an address for its list, on behalf of a client.
func (m *Member) listOf(ctx context.Context, address string, from *http.Request) (p page) {
	h := http.Header{hop: {m.options.Name}}
	if client, _, err := net.SplitHostPort(from.RemoteAddr); err == nil { // its budget there
		h.Set("X-Forwarded-For", strings.Join(append(from.Header.Values("X-Forwarded-For"), client), ", "))
	}
	if got, ok := get(ctx, m.http, h, &p.matches, address, query(from), "matches"); ok {
		p.more = got.Get("Link") != ""
		return p
	}
	return page{}
}

// Statuses asks servers, such as those of [Read], for the matches that they run, and returns what they say by the ids of the matches. A
// server that does not answer before ctx ends is left out.
func Statuses(ctx context.Context, servers []Server) map[string]server.Status {
	client := &http.Client{Transport: newTransport(), CheckRedirect: noRedirect}
	defer client.CloseIdleConnections()
	all := make(map[string]server.Status)
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, s := range servers {
		asking.Go(func() {
			for _, v := range statusesOf(ctx, client, s.Address) {
				mu.Lock()
				all[v.Match] = v
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	return all
}

// statusesOf asks the server at an address for all its matches.
func statusesOf(ctx context.Context, client *http.Client, address string) (all []server.Status) {
	if _, err := parseAddress(address); err != nil {
		return nil
	}
	for after := ""; ; {
		var page []server.Status
		got, ok := get(ctx, client, http.Header{hop: {"status"}}, &page, address, after, "matches") // its own matches only
		if !ok || len(page) == 0 {
			return all
		}
		if all = append(all, page...); got.Get("Link") == "" {
			return all
		}
		after = "?" + url.Values{"after": {page[len(page)-1].Name}}.Encode()
	}
}

// Denials returns the bans and revocations of the whole cluster, for [server.Options.Denials].
func (m *Member) Denials() server.Denials { return denials{m} }

// denials are the bucket of bans and revocations.
type denials struct{ m *Member }

// Put implements [server.Denials].
func (d denials) Put(key string, value []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.m.ctx), writeTime)
	defer cancel()
	if _, err := d.m.denied.Put(ctx, key, value); err != nil {
		return fmt.Errorf("cluster: %s: %w", key, err)
	}
	return nil
}

// Delete implements [server.Denials].
func (d denials) Delete(key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.m.ctx), writeTime)
	defer cancel()
	if err := d.m.denied.Purge(ctx, key, jetstream.PurgeTTL(storage.MarkerTime)); err != nil {
		return fmt.Errorf("cluster: %s: %w", key, err)
	}
	return nil
}

// Get implements [server.Denials].
func (d denials) Get(key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(d.m.ctx, writeTime)
	defer cancel()
	e, err := d.m.denied.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", key, err)
	}
	return e.Value(), nil
}

// Sweep implements [server.Denials]. The time is that of the storage when it has stored this server's lease, so a server whose clock is
// wrong deletes nothing that others need.
func (d denials) Sweep(stale func(key string, value []byte, now time.Time, live func(lockstep.MatchID) bool) bool) error {
	ctx, cancel := context.WithTimeout(d.m.ctx, sweepTime)
	defer cancel()
	var all []jetstream.KeyValueEntry
	err := readBucket(ctx, d.m.options.Conn, storage.DeniedBucket, func(e jetstream.KeyValueEntry) error {
		all = append(all, e)
		return nil
	})
	live := make(map[string]bool) // by ID; read later than the bans, because the directory has a match before it has bans
	if err == nil {
		err = readBucket(ctx, d.m.options.Conn, storage.MatchesBucket, func(e jetstream.KeyValueEntry) error {
			m, err := parseMatch(e.Value(), e.Revision())
			if err == nil {
				live[m.ID] = true
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	lease, err := d.m.servers.Get(ctx, d.m.id)
	if err != nil {
		return fmt.Errorf("cluster: the lease of server %s: %w", d.m.options.Name, err)
	}
	for _, e := range all {
		if !stale(e.Key(), e.Value(), lease.Created(), func(match lockstep.MatchID) bool { return live[match.String()] }) {
			continue
		}
		err := d.m.denied.Purge(ctx, e.Key(), jetstream.LastRevision(e.Revision()), jetstream.PurgeTTL(storage.MarkerTime))
		if err != nil && !isStale(err) { // another server has put or deleted one meanwhile
			return fmt.Errorf("cluster: %s: %w", e.Key(), err)
		}
	}
	return nil
}

// sweepTime is how long a sweep may take.
const sweepTime = 30 * time.Second

// Watch implements [server.Denials].
func (d denials) Watch(saw func(key string, value []byte), gone func(key string)) error {
	err := readBucket(d.m.ctx, d.m.options.Conn, storage.DeniedBucket, func(e jetstream.KeyValueEntry) error {
		saw(e.Key(), e.Value())
		return nil
	})
	if err != nil {
		return err
	}
	d.m.running.Go(func() {
		d.m.watch("denials", d.m.denied, func(key string, value []byte, _ uint64) { saw(key, value) }, gone)
	})
	return nil
}

// ErrUnused is the error of [Read] for a storage that no server has used yet.
var ErrUnused = errors.New("cluster: no server has used this storage yet")

// Read returns the servers with a lease and the matches that are not over, sorted by name, as the storage has them now.
func Read(ctx context.Context, conn *storage.Conn) (servers []Server, matches []Match, err error) {
	if unused(ctx, conn) {
		return nil, nil, ErrUnused
	}
	err = readBucket(ctx, conn, storage.ServersBucket, func(e jetstream.KeyValueEntry) error {
		var s Server
		err := json.Unmarshal(e.Value(), &s)
		servers = append(servers, s)
		return err
	})
	if err == nil {
		err = readBucket(ctx, conn, storage.MatchesBucket, func(e jetstream.KeyValueEntry) error {
			m, err := parseMatch(e.Value(), e.Revision())
			if err == nil {
				matches = append(matches, *m)
			}
			return err
		})
	}
	slices.SortFunc(servers, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(matches, func(a, b Match) int { return cmp.Compare(a.Name, b.Name) })
	return servers, matches, err
}

// unused reports whether the storage has nothing of a cluster. The directory is on disk, so it outlives a restart.
func unused(ctx context.Context, conn *storage.Conn) bool {
	_, err := conn.JS.KeyValue(ctx, storage.MatchesBucket)
	return errors.Is(err, jetstream.ErrBucketNotFound)
}

// readBucket calls f with all that is in a bucket.
func readBucket(ctx context.Context, conn *storage.Conn, name string, f func(jetstream.KeyValueEntry) error) error {
	kv, err := conn.JS.KeyValue(ctx, name)
	if err != nil {
		return fmt.Errorf("cluster: bucket %s: %w", name, err)
	}
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("cluster: bucket %s: %w", name, err)
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return errors.New("cluster: the connection to the storage is closed")
			}
			if e == nil { // all that is there
				return nil
			}
			if err := f(e); err != nil {
				return fmt.Errorf("cluster: key %s of bucket %s: %w", e.Key(), name, err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
