package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/netsim"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// tokenEnv names the environment variable with a client's token.
const tokenEnv = "SAMESTEP_TOKEN"

func joinCommand() *cli.Command {
	return &cli.Command{
		Name:      "join",
		Usage:     "play or watch a live match, without a picture",
		ArgsUsage: "URL",
		Description: `Joins the match at a URL such as http://127.0.0.1:8766/matches/match-1, and
lets a bot play in the seat that the token is for, or only watches. On a terminal
it shows one line of status every second. At the end it prints what it
measured, and exits with 3 if a checksum of the match was not its own.

Others can see a token on the command line; prefer --token-file or the
environment variable ` + tokenEnv + `.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "token", Usage: "says who you are", EnvVars: []string{tokenEnv}},
			&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the token"},
			&cli.StringFlag{Name: "bot", Value: "default", Usage: "who plays: default or none"},
			&cli.BoolFlag{Name: "spectate", Usage: "only watch"},
			&cli.DurationFlag{Name: "for", Usage: "leave after `TIME`; 0: at the match's end"},
			&cli.UintFlag{Name: "predict", Usage: "run own commands at once, up to `N` ticks ahead"},
			&cli.StringFlag{Name: "netsim", Usage: "make the connection worse: `\"delay=80ms jitter=20ms loss=1% rate=64KiB seed=7\"`"},
			&cli.UintFlag{Name: "corrupt", Usage: "change a field of the own state at tick `N`, to see what happens"},
			&cli.StringFlag{Name: "corrupt-path", Value: "Rand.Lo", Usage: "the field that --corrupt changes"},
			jsonFlag,
		},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("join: got %s, want one URL", count(c.NArg(), "argument"))
			}
			j, err := newJoin(c)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			return j.run(ctx)
		},
	}
}

// A join is one run of the verb.
type join struct {
	page    string // of the match, http
	socket  string // ws
	token   string
	game    *playable
	useBot  bool
	link    netsim.Link
	predict lockstep.Tick
	corrupt lockstep.Tick
	path    string
	limit   time.Duration
	json    bool
	out     io.Writer
	status  io.Writer // a terminal, or nil

	bot     func(*lockstep.Simulation) []any
	held    string // what the server said last about a match that stands still
	wrong   error  // what went wrong in the session's goroutine
	summary joinSummary
}

// A joinSummary is what join prints at the end.
type joinSummary struct {
	Seat        int           `json:"seat"` // -1 for a spectator
	Tick        lockstep.Tick `json:"tick"`
	InputDelay  lockstep.Tick `json:"input_delay"`
	RoundTripMS float64       `json:"round_trip_ms"`
	Agreed      int           `json:"checksums_agreed"`
	Differing   int           `json:"checksums_differing"`
	Desyncs     int           `json:"desyncs"`
	Healed      int           `json:"healed"`
	Losses      int           `json:"connections_lost"`
	Resumed     int           `json:"resumed"`
	Synced      int           `json:"synced"`
	Held        int           `json:"held"` // how often the match stood still
	Accepted    int           `json:"commands_accepted"`
	Rejected    int           `json:"commands_rejected"`
	BytesIn     uint64        `json:"bytes_in,string"`
	BytesOut    uint64        `json:"bytes_out,string"`
	Ended       string        `json:"ended,omitempty"`
}

func newJoin(c *cli.Context) (*join, error) {
	j := &join{
		token: c.String("token"), predict: lockstep.Tick(c.Uint("predict")), corrupt: lockstep.Tick(c.Uint("corrupt")),
		path: c.String("corrupt-path"), limit: c.Duration("for"), json: c.Bool("json"), out: c.App.Writer,
	}
	if isTerminal(c.App.ErrWriter) {
		j.status = c.App.ErrWriter
	}
	if path := c.String("token-file"); path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		j.token = strings.TrimSpace(string(b))
	}
	switch bot := c.String("bot"); bot {
	case "default":
		j.useBot = !c.Bool("spectate")
	case "none":
	default:
		return nil, usagef("join: --bot: got %q, want default or none", bot)
	}
	var err error
	if j.link, err = netsim.Parse(c.String("netsim")); err != nil {
		return nil, usagef("join: --netsim: %v", err)
	}
	if j.page, j.socket, err = matchURLs(c.Args().First()); err != nil {
		return nil, err
	}
	view, err := viewOf(c.Context, j.page)
	if err != nil {
		return nil, err
	}
	j.game, err = gameNamed(view.Game)
	return j, err
}

// matchURLs returns the addresses of a match's page and of its WebSocket.
func matchURLs(text string) (page, socket string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", "", usagef("join: got URL %q, want one such as http://127.0.0.1:8766/matches/match-1", text)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/play")
	if !strings.HasPrefix(u.Path, "/matches/") {
		return "", "", usagef("join: got URL %q, want a path such as /matches/match-1", text)
	}
	secure := u.Scheme == "https" || u.Scheme == "wss"
	if !secure && u.Scheme != "http" && u.Scheme != "ws" {
		return "", "", usagef("join: got scheme %q, want http, https, ws or wss", u.Scheme)
	}
	u.Scheme = "http"
	ws := *u
	ws.Scheme, ws.Path = "ws", u.Path+"/play"
	if secure {
		u.Scheme, ws.Scheme = "https", "wss"
	}
	return u.String(), ws.String(), nil
}

// viewOf asks the server what match it is.
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

// statusOf returns an answer's status in our own words: a server may write any.
func statusOf(r *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
}

// run joins the match and stays until it is over.
func (j *join) run(ctx context.Context) error {
	if j.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.limit)
		defer cancel()
	}
	j.summary.Seat = -1
	o := client.Options{
		Options: player.Options{Token: j.token, Predict: j.predict, Events: j.event},
		Sample:  j.sample,
	}
	if j.link != (netsim.Link{}) {
		o.Wrap = through(j.link, func(*netsim.Conn) {})
	}
	s := client.Dial(ctx, j.socket, j.game.Game, o)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for running := true; running; {
		select {
		case <-s.Done():
			running = false
		case <-second.C:
			s.Do(j.observe)
		}
	}
	err := s.Wait()
	if ctx.Err() != nil {
		err = nil // it was told to leave
	}
	if j.wrong != nil {
		err = j.wrong
	}
	return j.conclude(err)
}

// event counts what the client tells.
func (j *join) event(e any) {
	s := &j.summary
	switch e := e.(type) {
	case player.Welcomed:
		if e.Seat != lockstep.System {
			s.Seat = int(e.Seat)
			if j.useBot && j.bot == nil {
				j.bot = j.game.bot(e.Seat, uint64(e.Seat)+1)
			}
		}
	case lockstep.Receipt:
		if e.Reason == lockstep.Accepted {
			s.Accepted++
		} else {
			s.Rejected++
		}
	case player.ConnectionLost:
		s.Losses++
	case player.StreamResumed:
		s.Resumed++
	case player.Synced:
		s.Synced++
	case player.Desynced:
		s.Desyncs++
	case player.Healed:
		s.Healed++
	case player.Held:
		if e.Reason != "" {
			s.Held++
		}
		j.held = cmp.Or(e.Reason, "the match goes on") // shown with the next line of status: a server may hold as often as it likes
	case player.Note:
		if e.Topic == host.TopicPace && j.status != nil {
			fmt.Fprintf(j.status, "player %d: %s\n", e.Player, e.Text)
		}
	case player.Ended:
		s.Ended = e.Reason
	}
}

// sample lets the bot play, and corrupts the state when that is due.
func (j *join) sample(c *player.Client) {
	sim := c.Simulation()
	if j.corrupt > 0 && sim.Tick() >= j.corrupt {
		j.corrupt = 0
		if err := c.Corrupt(j.path); err != nil {
			j.wrong = err
			c.Leave()
			return
		}
	}
	if j.bot == nil || c.Stage() != player.StageLive {
		j.measure(c)
		return
	}
	for _, v := range j.bot(sim) {
		if _, err := c.Submit(v); err != nil {
			break // too many wait for an answer
		}
	}
	j.measure(c)
}

// measure takes over what the client measures.
func (j *join) measure(c *player.Client) {
	st, s := c.Status(), &j.summary
	s.Tick, s.InputDelay, s.Agreed, s.Differing = st.Tick, st.InputDelay, st.Agreed, st.Differing
	s.RoundTripMS = float64(st.RoundTrip) / float64(lockstep.Millisecond)
	s.BytesIn, s.BytesOut = st.BytesIn, st.BytesOut
}

// observe shows the line of status.
func (j *join) observe(c *player.Client) {
	if j.status == nil {
		return
	}
	if j.held != "" {
		fmt.Fprintln(j.status, shown(j.held))
		j.held = ""
	}
	st := c.Status()
	fmt.Fprintf(j.status, "%-11s tick %d of %d  delay %d  round trip %.1f ms  buffer %d  checksums %d equal, %d differ  in %s/s  out %s/s\n",
		st.Stage, st.Tick, st.ServerTick, st.InputDelay, float64(st.RoundTrip)/float64(lockstep.Millisecond), st.Backlog, st.Agreed, st.Differing,
		size(int64(st.BytesInRate)), size(int64(st.BytesOutRate)))
}

// conclude prints the summary.
func (j *join) conclude(err error) error {
	s := &j.summary
	if j.json {
		if werr := writeJSON(j.out, s); werr != nil {
			return werr
		}
	} else {
		who := "spectator"
		if s.Seat >= 0 {
			who = fmt.Sprintf("player %d", s.Seat)
		}
		fmt.Fprintf(j.out, "%s to tick %d, input delay %s, round trip %.1f ms\n", who, s.Tick, count(s.InputDelay, "tick"), s.RoundTripMS)
		fmt.Fprintf(j.out, "checksums   %d equal, %d differ; %s, %d healed\n", s.Agreed, s.Differing, count(s.Desyncs, "desync"), s.Healed)
		fmt.Fprintf(j.out, "commands    %d accepted, %d rejected\n", s.Accepted, s.Rejected)
		fmt.Fprintf(j.out, "connection  lost %d times, resumed %d, synced %d; %s in, %s out\n", s.Losses, s.Resumed, s.Synced, size(int64(s.BytesIn)), size(int64(s.BytesOut)))
		if s.Ended != "" {
			fmt.Fprintf(j.out, "the match ended: %q\n", s.Ended)
		}
	}
	if err == nil && s.Differing > 0 {
		err = errDiffered
	}
	return err
}
