//go:build !js

package serving

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// authorizer authorizes by the tokens of a file, the environment or a key, or else by tokens that it draws. It also returns the files.
func authorizer(c *cli.Context, specs []server.MatchSpec, log *slog.Logger) (server.Authorizer, reloader, error) {
	var all []server.Authorizer
	var files reloader
	o := server.JWTOptions{Algorithm: c.String("jwt-algorithm"), Audience: c.String("jwt-audience"), Issuer: c.String("jwt-issuer")}
	if path := c.String("jwt-key"); path != "" {
		keys, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		signed, err := server.NewJWT(keys, o)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, signed)
		files = append(files, newReloadable("jwt-key", func(*server.Server, *slog.Logger) error {
			keys, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return signed.Reload(keys)
		}, path))
	} else {
		for _, name := range []string{"jwt-algorithm", "jwt-audience", "jwt-issuer"} {
			if c.String(name) != "" {
				return nil, nil, console.Wrongf(c, name, "needs jwt-key")
			}
		}
	}
	draw := len(all) == 0
	onlyListed := draw && c.Uint("guests") == 0 && !c.IsSet("player-tokens")
	if c.IsSet("player-tokens") {
		all, specs = append(all, playerTokens(c)), nil // so the only drawn tokens are those without a seat
	}
	list := os.Getenv(console.TokensEnv)
	if path := c.String("tokens"); path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		list = string(b)
		if onlyListed && strings.TrimSpace(comments.ReplaceAllString(list, "")) == "" {
			return nil, nil, console.Wrongf(c, "tokens", "got no token in %s, want at least one", path)
		}
	} else if list == "" && draw {
		var err error
		if list, err = drawnTokens(c, specs); err != nil {
			return nil, nil, err
		}
	}
	if list != "" {
		tokens, err := server.ReadTokens(strings.NewReader(list))
		if path := c.String("tokens"); err != nil && path != "" {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		} else if err != nil {
			return nil, nil, err
		}
		all = append(all, tokens)
		if onlyListed {
			warnSeats(log, tokens, specs)
		}
		if path := c.String("tokens"); path != "" {
			files = append(files, newReloadable("tokens", func(s *server.Server, log *slog.Logger) error { return reloadTokens(path, tokens, s, log) }, path))
		}
	}
	if len(all) == 1 {
		return all[0], files, nil // from its type the server knows how many tokens there are
	}
	return server.AnyOf(all...), files, nil
}

var comments = regexp.MustCompile(`#.*`)

// reloadTokens reads the file of --tokens again, and disconnects clients whose tokens are gone.
func reloadTokens(path string, tokens *server.Tokens, s *server.Server, log *slog.Logger) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	gone, err := tokens.Reload(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ended, err := s.Expel(ctx, func(g *host.Grant) bool {
		_, found := slices.BinarySearch(gone, g.Subject)
		return found
	}, "the token is no longer valid")
	log.Info("tokens", "path", path, "gone", len(gone), "seats", ended.Seats, "connections", ended.Connections)
	return err
}

// warnSeats warns of the seats of seat that nobody can take, unless a token is added.
func warnSeats(log *slog.Logger, tokens *server.Tokens, specs []server.MatchSpec) {
	for i := range specs {
		for seat, who := range specs[i].Players {
			if who != "" && !tokens.HasPlayer(who, specs[i].Name) {
				logged.Match(log, specs[i].Name, "").Warn("nobody can take a seat: no token has the name or the subject of seat", "seat", seat, "player", who)
			}
		}
	}
}

// drawnTokens returns a list of drawn tokens, and writes it to a file that only the user can read. With --resume the
// tokens in that file stay. If the output is a terminal, the list is printed for the person who started the server.
func drawnTokens(c *cli.Context, specs []server.MatchSpec) (list string, err error) {
	dir := c.String("dir")
	path := filepath.Join(dir, "tokens.txt")
	if dir != "" && c.Bool("resume") {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		list = string(b)
	}
	list += drawTokens(specs, list)
	if c.Bool("check-config") {
		return list, nil
	}
	if dir != "" {
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = files.Replace(path, func(f *os.File) error {
				_, err := f.WriteString(list)
				return err
			})
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(c.App.Writer, "tokens in %s\n", path)
	}
	if dir == "" || c.Bool("print-tokens") || console.IsTerminal(c.App.Writer) {
		fmt.Fprint(c.App.Writer, list)
	}
	return list, nil
}

// drawTokens returns tokens for each seat without a bot, for a spectator of all matches and for an admin, except for known ones.
func drawTokens(specs []server.MatchSpec, known string) string {
	has := make(map[string]bool)
	for line := range strings.Lines(known) {
		if words := strings.Fields(line); len(words) == 5 {
			has[strings.Join(words[:4], " ")] = true
		}
	}
	var b strings.Builder
	line := func(words ...any) {
		if key := strings.TrimSpace(fmt.Sprintln(words...)); !has[key] {
			fmt.Fprintf(&b, "%-9v %-3v %-8v %-10v %s\n", append(words, DrawToken())...)
		}
	}
	for _, s := range specs {
		for p := range s.Settings.Players {
			if s.Bots != nil && s.Bots[p] != nil {
				continue
			}
			line("player", p, fmt.Sprintf("player-%d", p), s.Name)
		}
	}
	line("spectator", "-", "watcher", "-")
	line("admin", "-", "admin", "-")
	return b.String()
}

// DrawToken returns a new token.
func DrawToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// checkCompat checks compat and player-tokens, and gives a match as many seats as there are tokens by default.
func checkCompat(c *cli.Context, g *gameset.Playable) error {
	switch {
	case !c.Bool("compat"):
	case g.Compat == nil:
		return console.Wrongf(c, "compat", "game %s has no other wire; --game chooses another game", g.Name())
	case c.Bool("relay"):
		return console.Wrongf(c, "compat", "cannot be used with relay: it needs a referee, which refuses commands that stop other clients")
	case c.String("players-see") == "views":
		return console.Wrongf(c, "compat", "cannot be used with players-see views: clients of the other wire are sent every state")
	case c.Uint("guests") > 0:
		return console.Wrongf(c, "compat", "cannot be used with --guests, whose limits count addresses: the match does not know those of other clients")
	}
	if !c.IsSet("player-tokens") {
		return nil
	}
	tokens := playerTokens(c)
	for i, token := range tokens {
		if slices.Contains(tokens[:i], token) {
			return console.Wrongf(c, "player-tokens", "seats %d and %d have the same token, want one for each", slices.Index(tokens, token), i)
		}
	}
	if len(tokens) == 0 || len(tokens) > lockstep.MaxPlayers {
		return console.Wrongf(c, "player-tokens", "got %d, want 1 to %d", len(tokens), lockstep.MaxPlayers)
	}
	if !c.IsSet("players") && c.String("from") == "" {
		if err := c.Set("players", strconv.Itoa(len(tokens))); err != nil {
			return err
		}
	}
	if c.IsSet("players") && uint(len(tokens)) > c.Uint("players") {
		return console.Wrongf(c, "player-tokens", "got %d, want at most %d, the --players", len(tokens), c.Uint("players"))
	}
	listen := c.String("listen")
	name, _, _ := net.SplitHostPort(listen)
	addr, err := netip.ParseAddr(name)
	loopback := strings.HasPrefix(listen, "unix:") || name == "localhost" || err == nil && addr.Unmap().IsLoopback()
	if !loopback || len(c.StringSlice("trusted-proxy")) > 0 {
		return console.Wrongf(c, "player-tokens", "anybody could guess a short token: want --listen on a loopback address such as 127.0.0.1:8766, and no trusted-proxy; otherwise use --tokens")
	}
	return nil
}

// playerTokens returns the tokens of player-tokens.
func playerTokens(c *cli.Context) (all shortTokens) {
	for _, words := range c.StringSlice("player-tokens") {
		all = append(all, strings.Fields(words)...)
	}
	return all
}

// shortTokens is a [server.Authorizer] for tokens of any length, by seat.
type shortTokens []string

// Authorize implements [server.Authorizer].
func (t shortTokens) Authorize(token, _ string) (host.Grant, error) {
	got := sha256.Sum256([]byte(token))
	for seat, own := range t {
		if want := sha256.Sum256([]byte(own)); subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			name := fmt.Sprintf("player-%d", seat)
			return host.Grant{Role: protocol.Seated, Seat: lockstep.Player(seat), Subject: name, Name: name}, nil
		}
	}
	return host.Grant{}, fmt.Errorf("%w: it is not among player-tokens", server.ErrRefused)
}

// watchedByAll reports whether everybody may watch. Where players see only views, a spectator could see more: then the flag decides.
func watchedByAll(c *cli.Context) bool {
	if c.String("players-see") == "views" {
		return c.Bool("anonymous-spectators")
	}
	return c.Bool("anonymous-spectators") || c.Uint("guests") > 0 || c.Bool("compat") && !c.IsSet("player-tokens")
}
