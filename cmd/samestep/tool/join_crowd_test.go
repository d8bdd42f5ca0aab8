//go:build !js

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// Players join with their tokens while 300 connections a second come from their own address.
func TestJoinThroughFlood(t *testing.T) {
	t.Parallel()
	s := tooltest.Serve(t, "--game", "minimal", "--players", "4", "--dir", t.TempDir())
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer cancel()
	spent := make(chan struct{})
	flood.Go(func() {
		var open []net.Conn
		defer func() {
			for _, c := range open {
				c.Close()
			}
		}()
		for n := 0; ctx.Err() == nil; n++ {
			if c, err := net.Dial("tcp", u.Host); err == nil {
				open = append(open, c)
			}
			if n == 400 {
				close(spent)
			}
			if n > 400 {
				time.Sleep(time.Second / 300)
			}
		}
	})
	<-spent
	var players sync.WaitGroup
	for seat := range 4 {
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte(s.Tokens[fmt.Sprintf("player-%d", seat)]), 0o600); err != nil {
			t.Fatal(err)
		}
		players.Go(func() {
			var out, errs bytes.Buffer
			code := tooltest.Execute([]string{"join", s.URL + "/matches/match-1", "--token", "@" + token, "--time", "500ms", "--json"}, &out, &errs)
			var sum tooltest.Summary
			if err := json.Unmarshal(out.Bytes(), &sum); err != nil || code != console.ExitOK || sum.Seat != seat {
				t.Errorf("player %d: join exited with %d, %v: %s%s", seat, code, err, &out, &errs)
			}
		})
	}
	players.Wait()
}
