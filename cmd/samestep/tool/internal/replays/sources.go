//go:build !js

package replays

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

const watchHistory = 40 // values of a sparkline

// A trend is the latest values of a rate, the oldest first.
type trend []float64

func (t *trend) push(v float64) {
	if *t = append(*t, v); len(*t) > watchHistory {
		*t = append((*t)[:0], (*t)[1:]...)
	}
}

// spark draws each value as one character, on a scale from 0 to the largest.
func (t trend) spark() string {
	top := 0.0
	for _, v := range t {
		top = max(top, v)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range t {
		if v <= 0 {
			b.WriteByte('_')
		} else {
			b.WriteRune(bars[min(int(v/top*float64(len(bars))), len(bars)-1)])
		}
	}
	return b.String()
}

// A fileSource watches the file of a match, which another goroutine reads.
type fileSource struct {
	live *replay.LiveReader
	stop context.CancelFunc
	met  chan struct{} // closed when the reader waits for the file to grow
	done chan struct{} // closed when the reader ends

	mu       sync.Mutex
	header   *lockstep.Header
	tick     lockstep.Tick
	totals   watchTotals
	seats    []watchSeat
	differed *watchSeat    // whose state differed first
	second   lockstep.Tick // of the match, for the last value of each rate
	ended    bool
	reason   string
	err      error

	suspended bool // by a server, at the last look

	lookedAt   time.Time
	lookedTick lockstep.Tick
	percent    float64 // of the tick rate, since the last look
	paced      bool    // there was a last look
}

type watchTotals struct {
	Commands   int `json:"commands"`
	Checks     int `json:"checks"`
	Mismatches int `json:"mismatches"`
	Keyframes  int `json:"keyframes"`
	SizeBytes  int `json:"size_bytes"` // of records
}

type watchSeat struct {
	Player     lockstep.Player `json:"player"`
	Name       string          `json:"name"`
	Commands   int             `json:"commands"`
	Mismatches int             `json:"mismatches"`
	last       lockstep.Tick   // with a command
	differed   lockstep.Tick   // the first mismatch; 0 for none
	rate       trend           // commands by second
}

func newFileSource(ctx context.Context, name string, o replay.LiveOptions) (*fileSource, error) {
	if f, err := replay.Open(name); err == nil { // otherwise it may still be empty
		defer f.Close()
		if f.Bundle() != nil {
			return nil, bundleGrows(name)
		}
	}
	s := &fileSource{met: make(chan struct{}), done: make(chan struct{})}
	meet := sync.OnceFunc(func() { close(s.met) })
	o.Waiting = func() {
		s.mu.Lock()
		s.suspended = s.live.Suspended()
		s.mu.Unlock()
		meet()
	}
	var err error
	if s.live, err = replay.OpenLive(name, o); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		for rec, err := range s.live.All(ctx) {
			s.mu.Lock()
			if err == nil {
				s.totals.SizeBytes += len(s.live.Record())
				s.take(rec)
			} else if !errors.Is(err, context.Canceled) {
				s.err = adviseOperator(err)
			}
			s.mu.Unlock()
		}
	}()
	return s, nil
}

func (s *fileSource) Close() {
	s.stop()
	<-s.done
	s.live.Close()
}

func (s *fileSource) take(r *record.Record) {
	if r.Ticks() > 0 {
		second := r.Tick/lockstep.Tick(s.header.Settings.TickRate()) + 1
		for range min(second-s.second, watchHistory) { // which begin
			for p := range s.seats {
				s.seats[p].rate.push(0)
			}
		}
		s.tick, s.second = r.Tick, second
	}
	for i := range r.Frame.Commands {
		if p := r.Frame.Commands[i].Player; int(p) < len(s.seats) {
			s.totals.Commands++
			s.seats[p].Commands++
			s.seats[p].last = r.Tick
			s.seats[p].rate[len(s.seats[p].rate)-1]++
		}
	}
	switch r.Kind {
	case record.KindHeader:
		s.header = r.Header
		s.seats = make([]watchSeat, r.Header.Settings.Players)
		for p := range s.seats {
			s.seats[p].Player = lockstep.Player(p)
		}
	case record.KindKeyframe:
		s.totals.Keyframes++
	case record.KindChecksum:
		s.totals.Checks++
	case record.KindMismatch:
		s.totals.Mismatches++
		if int(r.Player) < len(s.seats) {
			seat := &s.seats[r.Player]
			if seat.Mismatches++; seat.Mismatches == 1 {
				seat.differed = r.Tick
			}
			if s.differed == nil {
				s.differed = seat
			}
		}
	case record.KindNote:
		if r.Topic == record.TopicName && int(r.Player) < len(s.seats) {
			s.seats[r.Player].Name = r.Text
		}
	case record.KindEnd:
		s.ended, s.reason = true, r.Text
	}
}

// look reports the records so far.
func (s *fileSource) look(ctx context.Context) (*parts.Report, error) {
	select {
	case <-s.met:
	case <-s.done:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, &console.FileError{Name: s.live.Path(), Err: s.err}
	}
	if s.header == nil {
		return &parts.Report{Title: console.Shown(s.live.Path()), Line: "the file is still empty", Values: struct{}{}}, nil
	}
	now := time.Now()
	if since := now.Sub(s.lookedAt).Seconds(); !s.lookedAt.IsZero() && since > 0 {
		s.paced = true
		s.percent = float64(s.header.Settings.Micros(int64(s.tick-s.lookedTick))) / 1e6 / since * 100
	}
	s.lookedAt, s.lookedTick = now, s.tick
	return s.report(), nil
}

func (s *fileSource) report() *parts.Report {
	h, t := s.header, &s.totals
	at := float64(h.Settings.Micros(int64(s.tick))) / 1e6
	state := "not over"
	if s.paced {
		state = fmt.Sprintf("at %.0f %% of real time", s.percent)
	}
	switch {
	case s.ended:
		state = "over: " + console.Shown(s.reason)
	case s.suspended:
		state = "suspended: a server can resume it"
	}
	differed := fmt.Sprintf("%d of players differed", t.Mismatches)
	if d := s.differed; d != nil {
		differed += fmt.Sprintf(", the first at tick %d, of player %d %s", d.differed, d.Player, console.Shown(d.Name))
	}
	r := &parts.Report{
		Title: fmt.Sprintf("%s  match %s", console.Shown(h.Game), h.Match.String()[:8]),
		Facts: []parts.Fact{
			{Name: "tick", Value: fmt.Sprintf("%s, %s, %s", humanize.Comma(int64(s.tick)), console.MatchTime(at), state)},
			{Name: "commands", Value: fmt.Sprintf("%s, %.1f a second", humanize.Comma(int64(t.Commands)), float64(t.Commands)/max(at, 1))},
			{Name: "checksums", Value: fmt.Sprintf("%s agreed, %s", humanize.Comma(int64(t.Checks)), differed), Wrong: t.Mismatches > 0},
			{Name: "records", Value: fmt.Sprintf("%s in %s, %s", console.Size(t.SizeBytes), console.Count(t.Keyframes, "keyframe"), console.Shown(h.Platform))},
		},
		Columns: []string{"player", "name", "commands", "last at", "differed", "commands a second"},
		Over:    s.ended,
		Rests:   s.suspended,
		Values: struct {
			Tick    lockstep.Tick `json:"tick"`
			Seconds float64       `json:"seconds"`
			Percent float64       `json:"percent"` // of real time
			*watchTotals
			Players []watchSeat `json:"players"`
			Ended   bool        `json:"ended"`
			Reason  string      `json:"reason,omitempty"`
			Paused  bool        `json:"suspended,omitempty"`
		}{s.tick, at, s.percent, t, s.seats, s.ended, s.reason, s.suspended},
	}
	lately := 0.0
	for i := range s.seats {
		p := &s.seats[i]
		if n := len(p.rate); n > 1 {
			lately += p.rate[n-2] // the last full second
		}
		last := "-"
		if p.Commands > 0 {
			last = fmt.Sprint(p.last)
		}
		mismatches, spark := fmt.Sprint(p.Mismatches), []rune(p.rate.spark())
		if p.differed > 0 {
			mismatches += fmt.Sprintf(" since %d", p.differed)
			if at := len(spark) - 1 - int(s.second-(p.differed/lockstep.Tick(h.Settings.TickRate())+1)); at >= 0 {
				spark[at] = '!'
			}
		}
		r.Rows = append(r.Rows, []string{
			fmt.Sprint(p.Player), console.Shown(p.Name), humanize.Comma(int64(p.Commands)), last, mismatches, string(spark),
		})
	}
	r.Line = fmt.Sprintf("tick %d  %s  %s (%.0f/s)  %s, %d differ  %s", s.tick, console.MatchTime(at), console.Count(t.Commands, "command"), lately, console.Count(t.Checks, "check"), t.Mismatches, state)
	return r
}

const (
	maxAnswer  = 16 << 20 // bytes of all answers to one look
	maxMatches = 10_000   // that are watched, even if the server has more
)

// A serverSource watches one or all matches of a server over HTTP.
type serverSource struct {
	root, page string // URLs of the server, and of the match or the list of matches
	one        bool   // page is a match
	client     http.Client
	token      string

	seen   map[string]*watchMatch
	before lateness
	at     time.Time // of the last look
	left   int64     // bytes that may still be read in this look
}

type watchMatch struct {
	status watchedStatus
	rate   trend // commands a second
	now    float64
}

// newServerSource watches the server at an address.
func newServerSource(address, token string) (*serverSource, error) {
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
	s.page = s.root + "/matches"
	if one {
		s.page += "/" + url.PathEscape(name)
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
		return 0, fmt.Errorf("%w: %w", parts.ErrUnseen, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, fmt.Errorf("%s: %s", address, console.StatusOf(resp))
	}
	body := &io.LimitedReader{R: resp.Body, N: s.left}
	err = read(body)
	if s.left = body.N; s.left == 0 {
		err = fmt.Errorf("the server answered with more than %s", console.Size[int64](maxAnswer))
	}
	if err != nil {
		return resp.StatusCode, fmt.Errorf("%w: %s: %w", parts.ErrUnseen, address, err)
	}
	return resp.StatusCode, nil
}

// look asks the server for its matches and metrics.
func (s *serverSource) look(ctx context.Context) (*parts.Report, error) {
	s.left = maxAnswer
	statuses, status, err := s.views(ctx)
	if s.one && status == http.StatusNotFound && len(s.seen) > 0 { // the server removes a match after all clients have left
		for _, m := range s.seen {
			m.status.Ended = cmp.Or(m.status.Ended, "the server has removed it")
			statuses = []watchedStatus{m.status}
		}
		return s.report(statuses, watchLateness{}), nil
	}
	if err != nil {
		return nil, err
	}
	var late lateness
	if _, err := s.get(ctx, s.root+"/metrics", late.read); err != nil {
		late = s.before // the metrics are optional
	}
	now, seen := time.Now(), make(map[string]*watchMatch)
	for _, v := range statuses {
		m := s.seen[v.Name]
		if m == nil || m.status.Match != v.Match {
			m = &watchMatch{}
		} else if since := now.Sub(s.at).Seconds(); since > 0 && v.told && m.status.told {
			m.now = max(0, float64(int64(v.Stats.Commands-m.status.Stats.Commands))/since)
			m.rate.push(m.now)
		}
		m.status = v
		seen[v.Name] = m
	}
	s.seen = seen
	r := s.report(statuses, late.since(&s.before))
	s.before, s.at = late, now
	return r, nil
}

func (s *serverSource) views(ctx context.Context) (all []watchedStatus, status int, err error) {
	if s.one {
		all = make([]watchedStatus, 1)
		status, err = s.get(ctx, s.page, func(r io.Reader) error { return json.NewDecoder(r).Decode(&all[0]) })
		return all, status, err
	}
	for query := ""; ; query = "?after=" + url.QueryEscape(all[len(all)-1].Name) {
		var page []watchedStatus
		status, err = s.get(ctx, s.page+query, func(r io.Reader) error { return json.NewDecoder(r).Decode(&page) })
		all = append(all, page...)
		if err != nil || len(page) < server.MaxListed || len(all) > maxMatches {
			return all, status, err
		}
	}
}

type watchSum struct {
	Matches    int `json:"matches"`
	Players    int `json:"players"`
	Spectators int `json:"spectators"`
	watchCounts
	Desyncs uint64        `json:"desyncs,string"`
	MaxLag  lockstep.Tick `json:"max_lag"` // ticks
	watchLateness
	Views []*watchedStatus `json:"views"`
}

// watchCounts are told to admins, and of matches that are over. They are missing if one of the matches has not told them.
type watchCounts struct {
	Commands *float64      `json:"commands_per_second,omitempty"`
	Reports  *host.Counter `json:"reports,omitempty"` // checksums of players
	Rejected *host.Counter `json:"rejected,omitempty"`
}

func (s *serverSource) report(statuses []watchedStatus, late watchLateness) *parts.Report {
	sum := &watchSum{Matches: len(statuses), watchLateness: late, Views: []*watchedStatus{}}
	r := &parts.Report{
		Title: s.page, Values: sum,
		Columns: []string{"match", "tick", "time", "players", "spectators", "reports", "desyncs", "lag", "round trip", "state", "commands a second"},
	}
	ended, told := 0, true
	commands, reports, rejected := 0.0, host.Counter(0), host.Counter(0)
	for i := range statuses {
		v, m := &statuses[i], s.seen[statuses[i].Name]
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
		trip, reported := "-", "-"
		if v.told {
			reported = fmt.Sprint(st.Reports)
		}
		if v.SlowestRTT > 0 {
			trip = fmt.Sprintf("%.0f ms", float64(v.SlowestRTT)/1000)
		}
		r.Rows = append(r.Rows, []string{
			console.Shown(v.Name), humanize.Comma(int64(v.Tick)), fmt.Sprintf("%.0f s", float64(v.Settings.Micros(int64(v.Tick)))/1e6),
			fmt.Sprint(st.Players), fmt.Sprint(st.Spectators), reported, fmt.Sprint(st.Desyncs), fmt.Sprint(st.MaxLag), trip, console.Shown(state), m.rate.spark(),
		})
	}
	r.Over = s.one && ended > 0
	of := "want the token of an admin"
	checks, counts := of, ""
	if told {
		sum.watchCounts = watchCounts{&commands, &reports, &rejected}
		of = fmt.Sprintf("%.1f a second, %d were rejected", commands, rejected)
		checks = fmt.Sprintf("%s of players", humanize.Comma(int64(reports)))
		counts = fmt.Sprintf("%.1f commands/s  %d reports  ", commands, reports)
	}
	r.Facts = []parts.Fact{
		{Name: "matches", Value: fmt.Sprintf("%d with %s and %s", sum.Matches, console.Count(sum.Players, "player"), console.Count(sum.Spectators, "spectator"))},
		{Name: "commands", Value: of},
		{Name: "checksums", Value: fmt.Sprintf("%s, %s", checks, console.Count(int(sum.Desyncs), "desync")), Wrong: sum.Desyncs > 0},
		{Name: "lateness", Value: late.String()},
	}
	which := fmt.Sprintf("%d matches", len(statuses))
	switch len(statuses) {
	case 0:
		which = "no matches"
	case 1:
		which = fmt.Sprintf("%s tick %d", console.Shown(statuses[0].Name), statuses[0].Tick)
	}
	r.Line = fmt.Sprintf("%s  %s  %s  %s%s  lag %d", which, console.Count(sum.Players, "player"), console.Count(sum.Spectators, "spectator"),
		counts, console.Count(int(sum.Desyncs), "desync"), sum.MaxLag)
	if late.Advances > 0 {
		r.Line += "  late by " + late.String()
	}
	if len(statuses) == 1 && statuses[0].Ended+statuses[0].Held != "" {
		r.Line += "  " + console.Shown(statuses[0].Ended+statuses[0].Held)
	}
	return r
}

// lateness is the server's histogram of how late its matches did work that was due.
type lateness struct {
	sum     float64 // seconds
	count   float64
	buckets []struct{ bound, count float64 } // of the work that was at most bound seconds late
}

// lateMetric is the metric of late frames.
const lateMetric = "samestep_lateness_seconds"

// read parses the histogram in the metrics.
func (l *lateness) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		name, ours := strings.CutPrefix(name, lateMetric)
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
				l.buckets = append(l.buckets, struct{ bound, count float64 }{bound, v})
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

// since returns what was late since an earlier reading.
func (l *lateness) since(before *lateness) (w watchLateness) {
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

// A watchedStatus is a match as a server tells it.
type watchedStatus struct {
	server.Status
	told bool // all statistics, as to an admin
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *watchedStatus) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &v.Status); err != nil {
		return err
	}
	var has struct {
		Stats map[string]json.RawMessage `json:"stats"`
	}
	err := json.Unmarshal(b, &has)
	v.told = has.Stats["commands"] != nil
	return err
}

// MarshalJSON implements [json.Marshaler]. It leaves out what the server has not told.
func (v *watchedStatus) MarshalJSON() ([]byte, error) {
	if v.told {
		return json.Marshal(&v.Status)
	}
	return json.Marshal(struct {
		*server.Status
		Stats host.PublicStats `json:"stats"`
	}{&v.Status, v.Stats.Public(v.Stats.Tick)})
}

// A source is a file or a server to watch.
type source interface {
	// look returns the present state. An error ends the watching, unless it wraps parts.ErrUnseen.
	look(ctx context.Context) (*parts.Report, error)
	Close()
}
