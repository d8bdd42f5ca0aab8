//go:build !js

package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// matchURLs returns the URLs of a match and of its WebSocket.
func matchURLs(text string) (page, socket string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", "", console.Usagef("got URL %q, want one such as http://127.0.0.1:8766/matches/match-1", text)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/play")
	if base, name := path.Split(u.Path); !strings.HasSuffix(base, "/matches/") || name == "" {
		return "", "", console.Usagef("got URL %q, want a path such as /matches/match-1", text)
	}
	ws := *u
	ws.Path += "/play"
	switch u.Scheme {
	case "http", "ws":
		u.Scheme, ws.Scheme = "http", "ws"
	case "https", "wss":
		u.Scheme, ws.Scheme = "https", "wss"
	default:
		return "", "", console.Usagef("got scheme %q, want http, https, ws or wss", u.Scheme)
	}
	return u.String(), ws.String(), nil
}

// crowdTime is how long a client tries again at a server that has no budget left for its address.
const crowdTime = 10 * time.Second

// insist tries again until it succeeds or a time is over, which is at least crowdTime if the server is crowded.
func insist(ctx context.Context, limit time.Duration, try func() error) error {
	for began, wait := time.Now(), 200*time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := try()
		if errors.Is(err, errCrowded) {
			limit = max(limit, crowdTime)
		}
		if err == nil || time.Since(began)+wait > limit {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// errToken is that of a server that refuses a token.
var errToken = errors.New("unknown token, or not valid for this match")

// errCrowded reports a server without budget left for the client's address: it answers 429 or closes the connection.
var errCrowded = errors.New("the server has too many requests from this address")

// ask sends a GET request with a token unless that is "". It follows redirects if told so, and shows the token to the same server only.
func ask(ctx context.Context, address, token string, follow bool) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if !follow || len(before) > maxRedirects {
			return fmt.Errorf("got a redirect to %.80q, want none", next.URL.Scheme+"://"+next.URL.Host)
		}
		if next.URL.Scheme != r.URL.Scheme || next.URL.Host != r.URL.Host {
			next.Header.Del("Authorization")
		}
		return nil
	}}
	answer, err := client.Do(r)
	if op := (*net.OpError)(nil); errors.Is(err, io.EOF) || errors.As(err, &op) && op.Op == "read" {
		return nil, fmt.Errorf("%w: %w", errCrowded, err)
	}
	if err == nil && answer.StatusCode == http.StatusTooManyRequests {
		defer answer.Body.Close()
		return nil, fmt.Errorf("%w: %s: %s", errCrowded, address, console.StatusOf(answer))
	}
	return answer, err
}

// maxRedirects is how many redirects a request follows.
const maxRedirects = 5

// statusOf asks the server for the status of a match, and shows it a token unless that is "".
func statusOf(ctx context.Context, page, token string) (*server.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := ask(ctx, page, token, true)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		switch code := codeOf(answer); {
		case token != "" && answer.StatusCode == http.StatusForbidden && code == "refused":
			return nil, fmt.Errorf("%s: %w", page, errToken)
		case code == "no_match":
			return nil, fmt.Errorf("%s: the server has no match of this name; %s lists its matches", page, page[:strings.LastIndexByte(page, '/')])
		}
		return nil, fmt.Errorf("%s: %s", page, console.StatusOf(answer))
	}
	v := &server.Status{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(v); err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	return v, nil
}

// codeOf returns the code of a server's error, or "".
func codeOf(r *http.Response) string {
	var problem struct{ Error struct{ Code string } }
	if json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&problem) != nil {
		return ""
	}
	return problem.Error.Code
}

// How long a server may take until its answer with a module begins, and then until it ends.
const (
	moduleAnswerTime = 10 * time.Second
	moduleTime       = 10 * time.Minute
)

// gameOfMatch returns a given or the program's game of a match, or that of the module it names, from a folder or one of the match's servers.
func gameOfMatch(c *cli.Context, status *server.Status, pages []string, token string) (*gameset.Playable, error) {
	m := gameset.ModulesOf(c)
	if g := gameset.Listed(c).BySum(status.Rules); g != nil && g.Name() == status.Game && g.Build() == status.Build {
		return g, nil
	}
	if status.Rules == "" || gameset.Listed(c).Has(status.Game, status.Build) || len(m.Given.Builds(status.Game)) > 0 {
		return gameset.GameNamed(c, status.Game, status.Build)
	}
	f := &moduleFetch{budget: gameset.NewBudget(c), want: status, pages: pages, token: token, folders: m.Folders, store: gameset.StoreOfUser(), say: m.Warn, answerTime: moduleAnswerTime, time: moduleTime}
	g, err := f.find(c.Context)
	if err != nil {
		return nil, fmt.Errorf("the rules of the match: %w", err)
	}
	return gameset.List{g}.ReadFrom(m.Assets)[0], nil
}

// A moduleFetch gets the module of a match that the match's servers name by its SHA-256.
type moduleFetch struct {
	budget     *wasm.Budget // of the game; nil: none
	want       *server.Status
	pages      []string // URLs of the match
	token      string   // that its servers are shown, or ""
	folders    []string // of modules, where it may be, besides the user's
	store      string   // the user's folder of modules, or ""
	say        func(format string, args ...any)
	answerTime time.Duration // until an answer begins
	time       time.Duration // of an answer
}

// find returns the game of the module, from the user's folder or from a server.
func (f *moduleFetch) find(ctx context.Context) (*gameset.Playable, error) {
	if !record.IsAssetSum(f.want.Rules) {
		return nil, fmt.Errorf("the server names the module %.80q, want 64 hexadecimal digits, lower case", f.want.Rules)
	}
	if b := f.kept(); b != nil {
		return f.check(b)
	}
	var g *gameset.Playable
	err := insist(ctx, 0, func() (all error) {
		for _, page := range f.pages {
			b, from, err := f.fetch(ctx, page)
			if err != nil {
				all = errors.Join(all, fmt.Errorf("%s: %w", from, err))
				continue
			}
			if g, err = f.check(b); err == nil {
				f.keep(g, from)
			}
			return err
		}
		return all
	})
	return g, err
}

// kept returns the module from a folder, or nil.
func (f *moduleFetch) kept() []byte {
	folders := f.folders
	if f.store != "" {
		folders = append(slices.Clip(folders), f.store, gameset.FetchedIn(f.store))
	}
	for _, dir := range folders {
		b, err := gameset.ModuleBytes(filepath.Join(dir, f.want.Rules+gameset.ModuleExtension))
		if err == nil && replay.SumRules(b).String() == f.want.Rules { // otherwise it is damaged
			return b
		}
	}
	return nil
}

var errSlow = errors.New("the server took too long")

// fetch asks the server of a match for the module, and returns the module and its address.
func (f *moduleFetch) fetch(ctx context.Context, page string) (module []byte, from string, err error) {
	u, err := url.Parse(page)
	if err != nil {
		return nil, page, err
	}
	from = u.JoinPath("..", "..", "rules", f.want.Rules+gameset.ModuleExtension).String()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(f.answerTime, func() { cancel(errSlow) })
	defer late.Stop()
	answer, err := ask(ctx, from, f.token, false)
	if e := (*url.Error)(nil); errors.As(err, &e) && !errors.Is(err, errCrowded) {
		err = e.Err // it names the address again
	}
	if err == nil {
		late.Reset(f.time)
		module, err = f.read(answer)
	}
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return module, from, err
}

// read reads a module of an answer.
func (f *moduleFetch) read(answer *http.Response) ([]byte, error) {
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("got %s, want a module", console.StatusOf(answer))
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, wasm.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > wasm.MaxBytes {
		return nil, fmt.Errorf("got more than %s, want a module of at most as much", console.Size[int64](wasm.MaxBytes))
	}
	if got := replay.SumRules(b).String(); got != f.want.Rules {
		return nil, fmt.Errorf("got a module with SHA-256 %s, want %s", got, f.want.Rules)
	}
	return b, nil
}

// check returns the game of a module, which must be that of the match.
func (f *moduleFetch) check(b []byte) (*gameset.Playable, error) {
	g, err := gameset.NewModuleGame(b, f.budget)
	if err != nil {
		return nil, err
	}
	if g.Name() != f.want.Game || g.Build() != f.want.Build {
		return nil, errors.Join(fmt.Errorf("got the module of game %q, build %q, want %.128q, build %.128q", g.Name(), g.Build(), f.want.Game, f.want.Build), g.Module.Rules.Close())
	}
	return g, nil
}

// keep puts a module into the user's folder. If that fails, the game is played all the same.
func (f *moduleFetch) keep(g *gameset.Playable, from string) {
	where := "not kept: this user has no cache folder"
	if dir := gameset.FetchedIn(f.store); f.store != "" {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = gameset.AddModule(dir, g.Module)
		}
		if where = "kept in " + dir; err != nil {
			where = "not kept: " + err.Error()
		}
	}
	f.say("got the rules of %s build %s from %s: %s, %s", g.Name(), g.Build(), from, console.Size(len(g.Module.Bytes)), where)
}

// SaveCommand returns the verb save.
func SaveCommand() *cli.Command {
	return &cli.Command{
		Name:      "save",
		Usage:     "write a replay of a live match up to now",
		ArgsUsage: "URL [FILE]",
		Description: `Saves the match at a URL such as http://127.0.0.1:8766/matches/match-1, which goes on.
The token must be an admin's, because a save has what players must not see. The replay
has an end, and verifies like that of a match that is over. FILE must not exist; without
it, the server names the file. To play on from the save: samestep serve --from FILE`,
		Flags: []cli.Flag{
			console.TokenFlag(),
			console.JSONFlag,
		},
		Action: save,
	}
}

// A savedReplay is the result of save.
type savedReplay struct {
	File        string        `json:"file"`
	Match       string        `json:"match"`
	Tick        lockstep.Tick `json:"tick"`
	SizeBytes   int64         `json:"size_bytes,string"`
	ContentHash replay.Hash   `json:"content_hash"`
}

// maxSave is the largest replay that save takes from a server, in bytes.
const maxSave = 16 << 30

func save(c *cli.Context) error {
	page, _, err := matchURLs(c.Args().First())
	if err != nil {
		return err
	}
	token, err := console.ClientToken(c)
	if err != nil {
		return err
	}
	ctx, stop := console.Interruptible(c)
	defer stop()
	answer, err := askForSave(ctx, page, token)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	s := &savedReplay{File: c.Args().Get(1)}
	if s.File == "" {
		if s.File = nameOf(answer); s.File == "" {
			return errors.New("the server named no replay file; give FILE")
		}
	}
	if err := files.Create(s.File, func(f *os.File) error { return s.take(f, answer.Body) }); err != nil {
		return err
	}
	return gameset.Tell(c, s, func(w io.Writer) {
		fmt.Fprintf(w, "saved %s: %s, %s\n", s.File, console.Count(s.Tick, "tick"), console.Size(s.SizeBytes))
	}, nil)
}

// askForSave asks a server for a save.
func askForSave(ctx context.Context, page, token string) (*http.Response, error) {
	answer, err := ask(ctx, page+"/save", token, true)
	if err == nil && answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		err = fmt.Errorf("%s/save: %s%s", page, console.StatusOf(answer), saveHints[answer.StatusCode])
	}
	return answer, err
}

// saveHints say what statuses mean for a save.
var saveHints = map[int]string{
	http.StatusForbidden: ": want the token of an admin",
	http.StatusNotFound:  ": there is no such match",
	http.StatusConflict:  ": the server writes no replays",
	http.StatusGone:      ": the match is over, its replay is complete",
}

// savedName is the name of a replay in the present folder.
var savedName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}\.ssr$`)

// nameOf returns the name that a server gives a save, or "" if it is none.
func nameOf(answer *http.Response) string {
	_, words, _ := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
	if name := words["filename"]; savedName.MatchString(name) {
		return name
	}
	return ""
}

// take writes a save to f, and reads it back: an answer that breaks off has no end.
func (s *savedReplay) take(f *os.File, body io.Reader) (err error) {
	if s.SizeBytes, err = io.Copy(f, io.LimitReader(body, maxSave)); err != nil {
		return fmt.Errorf("save truncated after %d bytes: %w", s.SizeBytes, err)
	}
	r, err := replay.NewReader(f, s.SizeBytes)
	if err != nil {
		return fmt.Errorf("the save: %w", err)
	}
	info, err := replay.ReadInfo(r)
	if err := cmp.Or(err, unended(info)); err != nil {
		return fmt.Errorf("the save: %w", err)
	}
	s.Match, s.Tick, s.ContentHash = info.Header.Match.String(), info.Ticks, info.ContentHash
	if len(info.Keyframes) > 0 {
		s.Tick = max(s.Tick, info.Keyframes[0].Tick)
	}
	return nil
}

// unended returns an error for a replay without an end.
func unended(info *replay.Info) error {
	if info.Ended {
		return nil
	}
	return io.ErrUnexpectedEOF
}
