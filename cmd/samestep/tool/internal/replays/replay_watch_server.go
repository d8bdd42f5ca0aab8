//go:build !js

package replays

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

const (
	MaxAnswer  = 16 << 20 // bytes of all answers to one look
	maxMatches = 10_000   // that are watched, even if the server has more
)

// A serverSource watches one or all matches of a server over HTTP.
type serverSource struct {
	root, Page string // URLs of the server, and of the match or the list of matches
	one        bool   // page is a match
	client     http.Client
	token      string

	seen   map[string]*watchMatch
	before Lateness
	at     time.Time // of the last look
	left   int64     // bytes that may still be read in this look
}

// A watchMatch is a match between two looks.
type watchMatch struct {
	view watchedView
	rate trend // commands a second
	now  float64
}

// NewServerSource watches the server at an address.
func NewServerSource(address, token string) (*serverSource, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, console.Usagef("%q is not a URL", address)
	}
	base, name, one := strings.Cut(strings.TrimSuffix(u.Path, "/")+"/", "/matches/") // the base is that of base-path
	known := one || u.Path == "" || strings.HasSuffix(u.Path, "/")
	base, name = strings.TrimSuffix(base, "/"), strings.TrimSuffix(name, "/")
	if one = name != ""; !known || strings.Contains(name, "/") {
		return nil, console.Usagef("%q is neither the URL of a server nor of a match, such as http://127.0.0.1:8766/matches/match-1", address)
	}
	s := &serverSource{token: token, root: u.Scheme + "://" + u.Host + base, one: one, seen: make(map[string]*watchMatch), client: http.Client{Timeout: 5 * time.Second}}
	s.Page = s.root + "/matches"
	if one {
		s.Page += "/" + url.PathEscape(name)
	}
	return s, nil
}

func (s *serverSource) Close() { s.client.CloseIdleConnections() }

func (s *serverSource) get(ctx context.Context, address string, read func(io.Reader) error) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errUnseen, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, fmt.Errorf("%s: %s", address, console.StatusOf(resp))
	}
	body := &io.LimitedReader{R: resp.Body, N: s.left}
	err = read(body)
	if s.left = body.N; s.left == 0 {
		err = fmt.Errorf("the server answered with more than %s", console.Size[int64](MaxAnswer))
	}
	if err != nil {
		return resp.StatusCode, fmt.Errorf("%w: %s: %w", errUnseen, address, err)
	}
	return resp.StatusCode, nil
}

// Look asks the server for its matches and metrics.
func (s *serverSource) Look(ctx context.Context) (*watchReport, error) {
	s.left = MaxAnswer
	views, status, err := s.views(ctx)
	if s.one && status == http.StatusNotFound && len(s.seen) > 0 {
		return s.gone(), nil
	}
	if err != nil {
		return nil, err
	}
	var late Lateness
	if _, err := s.get(ctx, s.root+"/metrics", late.Read); err != nil {
		late = s.before // the metrics are optional
	}
	now := time.Now()
	s.remember(views, now)
	r := s.report(views, late.Since(&s.before))
	s.before, s.at = late, now
	return r, nil
}

// views returns the match, or all matches of the server.
func (s *serverSource) views(ctx context.Context) (all []watchedView, status int, err error) {
	if s.one {
		all = make([]watchedView, 1)
		status, err = s.get(ctx, s.Page, func(r io.Reader) error { return json.NewDecoder(r).Decode(&all[0]) })
		return all, status, err
	}
	for query := ""; ; query = "?after=" + url.QueryEscape(all[len(all)-1].Name) {
		var page []watchedView
		status, err = s.get(ctx, s.Page+query, func(r io.Reader) error { return json.NewDecoder(r).Decode(&page) })
		all = append(all, page...)
		if err != nil || len(page) < server.MaxListed || len(all) > maxMatches {
			return all, status, err
		}
	}
}

// remember computes the rates since the last look.
func (s *serverSource) remember(views []watchedView, now time.Time) {
	seen := make(map[string]*watchMatch)
	for _, v := range views {
		m := s.seen[v.Name]
		if m == nil || m.view.Match != v.Match {
			m = &watchMatch{}
		} else if since := now.Sub(s.at).Seconds(); since > 0 && v.told && m.view.told {
			m.now = max(0, float64(int64(v.Stats.Commands-m.view.Stats.Commands))/since)
			m.rate.push(m.now)
		}
		m.view = v
		seen[v.Name] = m
	}
	s.seen = seen
}

// gone returns the last report on a match that the server has removed, as it does after all clients have left.
func (s *serverSource) gone() *watchReport {
	var views []watchedView
	for _, m := range s.seen {
		if m.view.Ended == "" {
			m.view.Ended = "the server has removed it"
		}
		views = append(views, m.view)
	}
	return s.report(views, watchLateness{})
}

// A watchSum is the sum of all matches.
type watchSum struct {
	Matches    int `json:"matches"`
	Players    int `json:"players"`
	Spectators int `json:"spectators"`
	watchCounts
	Desyncs uint64        `json:"desyncs,string"`
	MaxLag  lockstep.Tick `json:"max_lag"` // ticks
	watchLateness
	Views []*watchedView `json:"views"`
}

// watchCounts are what servers tell to admins, and of matches that are over. They are missing if one of the matches has not told
// them.
type watchCounts struct {
	Commands *float64      `json:"commands_per_second,omitempty"`
	Reports  *host.Counter `json:"reports,omitempty"` // checksums of players
	Rejected *host.Counter `json:"rejected,omitempty"`
}

func (s *serverSource) report(views []watchedView, late watchLateness) *watchReport {
	sum := &watchSum{Matches: len(views), watchLateness: late, Views: []*watchedView{}}
	r := &watchReport{
		title: s.Page, values: sum,
		table: watchTable{columns: []string{"match", "tick", "time", "players", "spectators", "reports", "desyncs", "lag", "round trip", "state", "commands a second"}},
	}
	ended, told := 0, true
	commands, reports, rejected := 0.0, host.Counter(0), host.Counter(0)
	for i := range views {
		v, m := &views[i], s.seen[views[i].Name]
		sum.Views = append(sum.Views, v)
		st := &v.Stats
		sum.Players, sum.Spectators = sum.Players+st.Players, sum.Spectators+st.Spectators
		told = told && v.told
		commands += m.now
		reports, sum.Desyncs = reports+host.Counter(st.Reports), sum.Desyncs+st.Desyncs
		sum.MaxLag = max(sum.MaxLag, st.MaxLag)
		for reason, n := range st.Rejected {
			if lockstep.Reason(reason) != lockstep.Accepted {
				rejected += n
			}
		}
		state := "live"
		if v.Ended != "" {
			state = "over: " + v.Ended
			ended++
		} else if v.Held != "" {
			state = "held: " + v.Held
		}
		trip := "-"
		if v.SlowestRTT > 0 {
			trip = fmt.Sprintf("%.0f ms", float64(v.SlowestRTT)/1000)
		}
		r.table.rows = append(r.table.rows, []string{
			console.Shown(v.Name), humanize.Comma(int64(v.Tick)), fmt.Sprintf("%.0f s", float64(v.Settings.Micros(int64(v.Tick)))/1e6),
			fmt.Sprint(st.Players), fmt.Sprint(st.Spectators), v.reports(), fmt.Sprint(st.Desyncs), fmt.Sprint(st.MaxLag), trip, console.Shown(state), m.rate.spark(),
		})
	}
	r.over = s.one && ended > 0
	of := "want the token of an admin"
	checks, counts := of, ""
	if told {
		sum.watchCounts = watchCounts{&commands, &reports, &rejected}
		of = fmt.Sprintf("%.1f a second, %d were rejected", commands, rejected)
		checks = fmt.Sprintf("%s of players", humanize.Comma(int64(reports)))
		counts = fmt.Sprintf("%.1f commands/s  %d reports  ", commands, reports)
	}
	r.facts = []watchFact{
		{"matches", fmt.Sprintf("%d with %s and %s", sum.Matches, console.Count(sum.Players, "player"), console.Count(sum.Spectators, "spectator")), false},
		{"commands", of, false},
		{"checksums", fmt.Sprintf("%s, %s", checks, console.Count(int(sum.Desyncs), "desync")), sum.Desyncs > 0},
		{"lateness", late.String(), false},
	}
	r.line = fmt.Sprintf("%s  %s  %s  %s%s  lag %d", matchesIn(views), console.Count(sum.Players, "player"), console.Count(sum.Spectators, "spectator"),
		counts, console.Count(int(sum.Desyncs), "desync"), sum.MaxLag)
	if late.Advances > 0 {
		r.line += "  late by " + late.String()
	}
	if len(views) == 1 && views[0].Ended+views[0].Held != "" {
		r.line += "  " + console.Shown(views[0].Ended+views[0].Held)
	}
	return r
}

// matchesIn names a single match and its tick, and counts several.
func matchesIn(views []watchedView) string {
	if len(views) == 1 {
		return fmt.Sprintf("%s tick %d", console.Shown(views[0].Name), views[0].Tick)
	}
	if len(views) == 0 {
		return "no matches"
	}
	return fmt.Sprintf("%d matches", len(views))
}

// A Lateness is the server's histogram of how late its matches did work that was due.
type Lateness struct {
	sum     float64 // seconds
	count   float64
	buckets []bucket
}

// A bucket counts the work that was at most bound seconds late.
type bucket struct{ bound, count float64 }

// LateMetric is the metric of late frames.
const LateMetric = "samestep_lateness_seconds"

// Read parses the histogram in the metrics.
func (l *Lateness) Read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		name, ours := strings.CutPrefix(name, LateMetric)
		if err != nil || !ours || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		switch {
		case name == "_sum":
			l.sum = v
		case name == "_count":
			l.count = v
		default:
			bound, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(name, `_bucket{le="`), `"}`), 64)
			if err == nil && !math.IsNaN(bound) {
				l.buckets = append(l.buckets, bucket{bound, v})
			}
		}
	}
	return lines.Err()
}

// A watchLateness is how late matches were since the last look.
type watchLateness struct {
	Advances float64 `json:"advances"` // pieces of work
	Mean     float64 `json:"late_mean_seconds"`
	Most     float64 `json:"late_p99_seconds"` // the 99th percentile, rounded up to a bucket, or the last bucket
}

// Since returns what was late since an earlier reading.
func (l *Lateness) Since(before *Lateness) (w watchLateness) {
	w.Advances = l.count - before.count
	if w.Advances <= 0 || len(before.buckets) != 0 && len(before.buckets) != len(l.buckets) {
		return watchLateness{}
	}
	w.Mean = (l.sum - before.sum) / w.Advances
	for i, b := range l.buckets {
		n := b.count
		if len(before.buckets) > 0 {
			n -= before.buckets[i].count
		}
		if !math.IsInf(b.bound, 0) { // JSON has no such number
			w.Most = b.bound
		}
		if n >= 0.99*w.Advances {
			break
		}
	}
	return w
}

func (w watchLateness) String() string {
	if w.Advances <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("%s ms on average, 99 %% at most %s ms", words.Digits(w.Mean*1000, 2), words.Digits(w.Most*1000, 2))
}
