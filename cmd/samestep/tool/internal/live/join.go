//go:build !js

// Package live has the verbs that play: demo, join, save, doctor and healthcheck.
package live

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/server"
)

// JoinCommand returns the verb join.
func JoinCommand() *cli.Command {
	return &cli.Command{
		Name:      "join",
		Usage:     "play or watch a live match, without graphics",
		ArgsUsage: "URL [URL...]",
		Description: `Joins the match at a URL such as http://127.0.0.1:8766/matches/match-1. Further URLs name
the same match at other servers of a cluster and are tried in turn; they must include all
servers with the setting redirect. If the match runs a rules module that neither the
program nor --rules nor the user's cache has, join downloads it from the server into the
cache; modules cannot access files or the network.

A bot plays in the token's seat, or without a token as a guest, if the server has guests:
the game's, or the program of --bot-command, in any language, which speaks lines of JSON
(docs/bots.md). Otherwise join watches. On a terminal it shows a status line every second, and at the end
it prints a summary. It exits with 3 if one of its checksums differs from the match's, if
the players' checksums differ and none has a majority, or if --heavy finds a difference,
and with 1 if the server did not admit it.`,
		Flags: slices.Concat([]cli.Flag{
			console.TokenFlag(),
			&cli.StringFlag{Name: "bot", Value: "default", Usage: "the bot that plays: default or none"},
			&cli.BoolFlag{Name: "spectate", Usage: "only watch"},
			&cli.DurationFlag{Name: "time", Usage: "leave after `TIME`; 0: at the end of the match"},
			&cli.DurationFlag{Name: "retry", Value: 10 * time.Minute, Usage: "reconnect for up to `TIME` after a lost connection; if given, also wait that long for the first connection"},
			&cli.UintFlag{Name: "predict", Usage: "apply own commands at once, up to `N` ticks ahead"},
			&cli.UintFlag{Name: "predict-late", Usage: "simulate up to `N` late ticks as if nobody had given a command in them"},
			&cli.StringFlag{Name: "netsim", Usage: "degrade the connection: `\"delay=80ms jitter=20ms loss=1% rate=64KiB seed=7\"`"},
			&cli.UintFlag{Name: "corrupt", Usage: "corrupt a field of this client's state at tick `T`, to see a desync"},
			&cli.StringFlag{Name: "corrupt-path", Usage: "the field that --corrupt changes; the default is one whose change lasts"},
			&cli.BoolFlag{Name: "feed", Usage: "ask for views instead of the match, and simulate nothing; with --json print each as a line"},
			console.HeavyFlag(), gameset.AssetsFlag, console.JSONFlag,
		}, botFlags),
		Action: func(c *cli.Context) error {
			j, err := newJoin(c)
			if err != nil {
				return err
			}
			ctx, stop := console.Interruptible(c)
			defer stop()
			var budget *wasm.Budget
			if m := j.game.Module; m != nil {
				budget = m.Budget
			}
			if err = gameset.Exceeded(budget, j.run(ctx)); !j.welcomed && err != nil {
				return err // there is nothing to sum up
			}
			if j.lines != nil {
				return cmp.Or(err, j.lines.Flush())
			}
			return gameset.Tell(c, &j.summary, j.print, err)
		},
	}
}

// A join is a client that join runs.
type join struct {
	flags    *cli.Context
	feeds    bool     // views instead of the match
	sockets  []string // URLs of the match's WebSocket, at all servers
	token    string
	game     *gameset.Playable
	link     netsim.Link
	status   io.Writer     // a terminal, or nil
	corrupt  lockstep.Tick // 0 after the corruption
	lines    *bufio.Writer // for views as JSON, or nil
	bot      lockstep.Bot
	looks    func(view []byte) []any // the bot of views, or nil
	program  *joinedProgram          // or nil
	held     string                  // why the match is held, if that is not shown yet
	failed   error                   // of the session's goroutine
	welcomed bool
	refusal  error // why the last attempt before the welcome has failed, or nil
	summary  joinSummary
	heavy    *heavyLog // or nil
}

func often(n int, watched lockstep.Time) perMinute {
	return perMinute{n, float64(n) * float64(60*lockstep.Second) / float64(max(1, watched))}
}

func newJoin(c *cli.Context) (*join, error) {
	j := &join{flags: c, corrupt: gameset.TickOf(c, "corrupt")}
	j.summary.Seat = -1
	if console.IsTerminal(c.App.ErrWriter) {
		j.status = c.App.ErrWriter
	}
	var err error
	if j.token, err = console.ClientToken(c); err != nil {
		return nil, err
	}
	if err := console.CheckHeavy(c, "heavy"); err != nil {
		return nil, err
	}
	if bot := c.String("bot"); bot != "default" && bot != "none" {
		return nil, console.Usagef("--bot: got %q, want default or none", bot)
	}
	if j.link, err = netsim.Parse(c.String("netsim")); err != nil {
		return nil, console.Usagef("--netsim: %v", err)
	}
	var pages []string
	for _, text := range c.Args().Slice() {
		page, socket, err := matchURLs(text)
		if err != nil {
			return nil, err
		}
		pages, j.sockets = append(pages, page), append(j.sockets, socket)
	}
	status, err := j.await(c.Context, pages)
	if err != nil {
		return nil, err
	}
	if j.game, err = gameOfMatch(c, status, pages, j.token); err != nil {
		return nil, err
	}
	j.summary.Match = status.Match
	if j.token == "" && status.Guests && !c.Bool("spectate") && (!c.Bool("feed") || c.IsSet("bot-command")) {
		j.token = server.NewGuestToken("guest")
	}
	feeds := c.Bool("feed") || c.IsSet("bot-command") && status.PlayersSee == "views"
	j.feeds = feeds
	switch {
	case status.PlayersSee == "views" && !feeds:
		return nil, console.Usagef("%s shows views only: want --feed", pages[0])
	case feeds && j.game.ViewSchema() == nil:
		return nil, console.Usagef("--feed: the rules of %s have no views (Rules.View)", status.Game)
	case feeds && (j.corrupt > 0 || c.IsSet("predict") || c.IsSet("predict-late") || console.Heavy(c) > 0 || c.String("bot") != "none" && c.IsSet("bot") && j.game.Looks == nil):
		return nil, console.Usagef("--feed: there is no state, so want no --bot (but tool.ViewBot), --predict, --predict-late, --corrupt and --heavy")
	case feeds && c.Bool(console.JSONFlag.Name) && !c.IsSet("bot-command"):
		j.lines = bufio.NewWriter(c.App.Writer)
	}
	j.program, err = joinProgram(c, j.game, feeds)
	return j, err
}

var (
	errNotIn   = errors.New("the server did not admit this client")
	errNoToken = errors.New("the server requires a token; see --token and " + console.TokenEnv)
)

func (j *join) run(ctx context.Context) error {
	if limit := j.flags.Duration("time"); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	o := client.Options{
		Servers: j.sockets[1:],
		Options: player.Options{
			Token: j.token, Views: j.feeds, Predict: gameset.TickOf(j.flags, "predict"), PredictLate: gameset.TickOf(j.flags, "predict-late"),
			Reconnect: player.ReconnectPolicy{Total: max(1, lockstep.Time(j.flags.Duration("retry").Microseconds()))},
		},
		Handle: j.event,
		Sample: j.sample,
		Assets: gameset.JoinCache{Game: j.game.Game, Folder: gameset.AssetFolder(j.flags)},
	}
	if percent := console.Heavy(j.flags); percent > 0 {
		j.heavy = &heavyLog{}
		defer j.heavy.close()
		began := time.Now()
		o.Log, o.Heavy = j.heavy.take, twin.Options{Percent: percent, Clock: func() int64 { return int64(time.Since(began)) }}
	}
	if j.link != (netsim.Link{}) {
		o.Wrap = through(j.link, func(*netsim.Conn) {})
		o.WrapPackets = func(c net.PacketConn) net.PacketConn { return netsim.WrapPacket(c, j.link) }
	}
	s := client.Dial(ctx, j.sockets[0], j.game.Game, o)
	j.summary.Session = s.ID()
	if j.program != nil {
		go j.program.run(ctx, s)
	}
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
	if j.program != nil {
		j.failed = cmp.Or(j.failed, j.program.close())
	}
	switch {
	case j.failed != nil:
		return j.failed
	case j.refusal == errNoToken || j.refusal == errToken:
		return j.refusal
	case err != nil && ctx.Err() == nil: // otherwise it had to leave
		return err
	case !j.welcomed && j.refusal != nil:
		return fmt.Errorf("%w: %w", errNotIn, j.refusal)
	case !j.welcomed:
		return errNotIn
	case j.summary.Differing+j.summary.Desyncs > 0: // also if it healed, or only the server has seen it
		return console.ErrDiffered
	case len(j.summary.Twins) > 0:
		return console.ErrTwins
	case j.summary.Undecided > 0:
		return console.ErrUndecided
	}
	return console.EndedByPanic(j.summary.Ended)
}

// sample lets the bot play, and corrupts the state at the tick of --corrupt.
func (j *join) sample(c *player.Client) {
	if sight, ok := c.Sight(); ok {
		j.see(c, &sight)
		return
	}
	if j.corrupt > 0 && c.Simulation().Tick() >= j.corrupt {
		j.corrupt = 0
		path := j.flags.String("corrupt-path")
		if path == "" {
			path, j.failed = faultinjection.FieldThatLasts(j.game.Game, c.Simulation())
		}
		if j.failed == nil {
			j.failed = c.Corrupt(path)
		}
		if j.failed != nil {
			c.Leave("nothing can be corrupted")
			return
		}
	}
	gameset.PlayTurn(c, j.bot)
	j.note(c)
	if j.program != nil {
		j.program.tick()
	}
}

// see prints a view, and lets the bot play that sees it.
func (j *join) see(c *player.Client, sight *player.Sight) {
	j.note(c)
	if j.program != nil {
		j.program.tick()
	}
	if j.looks != nil && c.Stage() == player.StageLive {
		for _, v := range j.looks(sight.Current) {
			if _, err := c.Submit(v); err != nil {
				break // see gameset.PlayTurn
			}
		}
	}
	if j.lines == nil {
		return
	}
	err := replays.FeedTo(j.lines, j.game.Game, sight.Tick, sight.Viewer, 0, sight.Current)
	if err = cmp.Or(err, j.lines.Flush()); err != nil && j.failed == nil {
		j.failed = err
		c.Leave("nobody reads")
	}
}

// note notes the status for the summary.
func (j *join) note(c *player.Client) {
	st, s := c.Status(), &j.summary
	s.Tick, s.InputDelay, s.Agreed, s.Differing = st.Tick, st.InputDelay, st.Agreed, st.Differing
	s.RoundTripMS = float64(st.RoundTrip) / float64(lockstep.Millisecond)
	s.Watched, s.LateFrames, s.Repeats = float64(st.Watched)/float64(lockstep.Second), st.LateFrames, st.Repeats
	s.Stalls, s.Corrections, s.Rollbacks = often(st.Stalls, st.Watched), often(st.Corrections, st.Watched), often(st.Rollbacks, st.Watched)
	if st.Datagrams {
		in, out := float64(st.LossIn)/10_000, float64(st.LossOut)/10_000
		s.LossIn, s.LossOut = &in, &out
	}
	s.BytesIn, s.BytesOut = st.BytesIn, st.BytesOut
}

// observe shows the status line.
func (j *join) observe(c *player.Client) {
	if j.status == nil {
		return
	}
	if j.held != "" {
		fmt.Fprintln(j.status, console.Shown(j.held))
		j.held = ""
	}
	st := c.Status()
	line := fmt.Sprintf("%-11s tick %d of %d  delay %d  round trip %.1f ms  buffer %d  checksums %d equal, %d differ  in %s/s  out %s/s\n",
		st.Stage, st.Tick, st.ServerTick, st.InputDelay, float64(st.RoundTrip)/float64(lockstep.Millisecond), st.Backlog, st.Agreed, st.Differing,
		console.Size(int64(st.BytesInRate)), console.Size(int64(st.BytesOutRate)))
	j.status.Write(console.Fit([]byte(line), console.TerminalWidth(j.status)-1)) // an error: the terminal is gone
}

func (j *join) print(w io.Writer) {
	s, who := &j.summary, "spectator"
	if s.Seat >= 0 {
		who = fmt.Sprintf("player %d", s.Seat)
	}
	line := console.NewLiner(w)
	fmt.Fprintf(w, "%s to tick %d, input delay %s, round trip %.1f ms\n", who, s.Tick, console.Count(s.InputDelay, "tick"), s.RoundTripMS)
	line("checksums", "%d equal, %d differ; %s, %d healed", s.Agreed, s.Differing, console.Count(s.Desyncs, "desync"), s.Healed)
	if s.Undecided > 0 {
		line("undecided", "%s of the players without a majority: nobody knows whose state is right", console.Count(s.Undecided, "check"))
	}
	if s.Watched > 0 {
		line("view", "%s of more than 100 ms (%.1f a minute), %s (%.1f a minute), %s", console.Count(s.Stalls.Count, "stall"), s.Stalls.PerMinute,
			console.Count(s.Corrections.Count, "correction"), s.Corrections.PerMinute, console.Count(int(s.LateFrames), "late frame"))
	}
	if s.LossIn != nil {
		line("datagrams", "%.1f %% lost in, %.1f %% lost out, %s", *s.LossIn, *s.LossOut, console.Count(int(s.Repeats), "repeat"))
	}
	for _, t := range s.Twins {
		line("heavy", "%s", t.Text)
		if t.Bundle != "" {
			line("", "bundle %s", t.Bundle)
		} else {
			line("", "no bundle: %s", t.Error)
		}
	}
	line("commands", "%d accepted, %d rejected%s", s.Accepted, s.Rejected, s.refused())
	line("connection", "lost %s, resumed %d, synced %d; %s in, %s out", console.Count(s.Losses, "time"), s.Resumed, s.Synced, console.Size(int64(s.BytesIn)), console.Size(int64(s.BytesOut)))
	line("logs", "the server names match %s, session %s", s.Match, s.Session)
	if s.Ended != "" {
		fmt.Fprintf(w, "the match ended: %q\n", s.Ended)
	}
}

// refused tells of the commands that the rules refused when they ran, if there are any.
func (s *joinSummary) refused() string {
	if s.Refused == 0 {
		return ""
	}
	return fmt.Sprintf(", %d refused when they ran, the last: %s", s.Refused, console.Shown(cmp.Or(s.LastRefusal, "without a reason")))
}

// await returns the status of a match at one of its servers. With --retry it tries again until one answers.
func (j *join) await(ctx context.Context, pages []string) (status *server.Status, err error) {
	var limit time.Duration
	if j.flags.IsSet("retry") {
		limit = j.flags.Duration("retry")
	}
	err = insist(ctx, limit, func() error {
		for _, page := range pages {
			if status, err = statusOf(ctx, page, j.token); err == nil {
				break
			}
		}
		return err
	})
	return status, err
}

// event counts the client's events.
func (j *join) event(c *player.Client, e any) {
	s := &j.summary
	if j.program != nil {
		j.program.event(c, e)
	}
	switch e := e.(type) {
	case player.Welcomed:
		j.welcomed, j.refusal = true, nil
		c.SetReady(true) // nobody can say it later
		if e.Seat != lockstep.System {
			s.Seat = int(e.Seat)
			plays := j.flags.String("bot") == "default" && !j.flags.Bool("spectate") && j.program == nil
			switch {
			case plays && j.feeds && j.looks == nil && j.game.Looks != nil:
				j.looks = j.game.Looks(e.Seat, uint64(e.Seat)+1)
			case plays && !j.feeds && j.bot == nil:
				j.bot = j.game.Bot(e.Seat, uint64(e.Seat)+1)
			}
		}
	case lockstep.Receipt:
		if e.Reason == lockstep.Accepted {
			s.Accepted++
		} else {
			s.Rejected++
		}
	case player.Refused:
		s.Refused, s.LastRefusal = s.Refused+1, e.Reason
	case player.ConnectionLost:
		s.Losses++
	case player.ConnectFailed:
		if !j.welcomed {
			j.refusal = e.Err
		}
	case player.ServerError:
		switch {
		case j.welcomed || e.Code != protocol.ErrorRefused:
		case j.token == "":
			j.refusal = errNoToken
		default:
			j.refusal = errToken
		}
	case player.ServerClosing:
		if !j.welcomed && j.refusal == nil {
			j.refusal = fmt.Errorf("%v: %s", e.Code, e.Text)
		}
	case player.StreamResumed:
		s.Resumed++
	case player.Synced:
		s.Synced++
	case player.Desynced:
		s.Desyncs++
	case player.Mismatch:
		if !e.Agreed() && s.Seat >= 0 && e.Has(lockstep.Player(s.Seat)) {
			s.Undecided++
		}
		if j.status != nil {
			fmt.Fprintln(j.status, e)
		}
	case player.Healed:
		s.Healed++
	case *twin.Difference:
		j.differs(c, e)
	case player.Resimulated:
		if j.status != nil {
			fmt.Fprintf(j.status, "this machine has computed ticks %d to %d again: %v\n", e.From+1, e.To, e.Outcome)
		}
	case player.Held:
		if e.Reason != "" {
			s.Held++
		}
		j.held = heldText(e) // shown with the next status line, because a server can hold the match at any rate
	case player.HostEvent:
		if e.Event == record.EventPace && j.status != nil {
			fmt.Fprintf(j.status, "%s: %s\n", e.Player.Name(), e.Text)
		}
	case player.Ended:
		s.Ended = e.Reason
	}
}

// heldText says why a match stands still or runs slower, for whom, and for how long.
func heldText(e player.Held) string {
	if e.Reason == "" {
		return "the match goes on"
	}
	text := e.Reason
	for i, p := range e.Players {
		sep := ", "
		if i == 0 {
			sep = ": player "
		}
		text += fmt.Sprintf("%s%d", sep, p)
	}
	if e.Until > 0 {
		text += fmt.Sprintf(", for %d s at most", max(0, e.Until-e.Since)/lockstep.Second)
	}
	return text
}

// A joinSummary is what join tells of a match.
type joinSummary struct {
	Match       string        `json:"match"`   // its id
	Session     string        `json:"session"` // see client.Session.ID
	Seat        int           `json:"seat"`    // -1 without one
	Tick        lockstep.Tick `json:"tick"`
	InputDelay  lockstep.Tick `json:"input_delay"`
	RoundTripMS float64       `json:"round_trip_ms"`
	Watched     float64       `json:"watched_seconds"`
	Stalls      perMinute     `json:"visible_stalls"`
	Corrections perMinute     `json:"corrections"`
	Rollbacks   perMinute     `json:"rollbacks"`
	LateFrames  uint64        `json:"late_frames,string"`
	Repeats     uint64        `json:"repeats,string"`  // records that came again in datagrams
	Twins       []joinTwin    `json:"twins,omitempty"` // what --heavy has found
	LossIn      *float64      `json:"loss_in_percent,omitempty"`
	LossOut     *float64      `json:"loss_out_percent,omitempty"`
	Agreed      int           `json:"checksums_agreed"`
	Differing   int           `json:"checksums_differing"`
	Undecided   int           `json:"checksums_undecided"` // those of the players differed, and none had a majority; of several in a row the first
	Desyncs     int           `json:"desyncs"`
	Healed      int           `json:"healed"`
	Losses      int           `json:"connections_lost"`
	Resumed     int           `json:"resumed"`
	Synced      int           `json:"synced"`
	Held        int           `json:"held"` // how often the match was held
	Accepted    int           `json:"commands_accepted"`
	Rejected    int           `json:"commands_rejected"`
	Refused     int           `json:"commands_refused"`       // accepted ones, by the rules when they ran
	LastRefusal string        `json:"last_refusal,omitempty"` // of these
	BytesIn     uint64        `json:"bytes_in,string"`
	BytesOut    uint64        `json:"bytes_out,string"`
	Ended       string        `json:"ended,omitempty"`
}

// perMinute is how often something has happened, and how often in a minute of the match.
type perMinute struct {
	Count     int     `json:"count"`
	PerMinute float64 `json:"per_minute"`
}

// through makes a client's connections go through a link, and passes each to made.
func through(l netsim.Link, made func(*netsim.Conn)) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn {
		conn := netsim.Wrap(c, l)
		made(conn)
		return conn
	}
}
