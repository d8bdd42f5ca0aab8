//go:build !js && !wasip1

package tool

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/engine"
)

// A load test counts what its clients get. Viewers come and go meanwhile, or the game has the configuration of a file.
func TestBenchNet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		engine.NetBench
		want []string
	}{
		{"viewers", engine.NetBench{Game: ours[0].game, Override: []byte(`{"Units":100}`), Viewers: 4}, []string{`viewers +4 viewers in 5 turns, each with [1-9][0-9.]* views a second`, `with them +frames late by `, `without +frames late by `}},
		{"config", engine.NetBench{Game: ours[1].game, Override: []byte(`{"Size": 200, "Coins": 3000}`)}, []string{`late join +live after [0-9]+ ms, with a state of [1-9][0-9] KiB;`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := row.NetBench
			b.Program, b.Clients, b.Room, b.Rate, b.Every = "samestep", 2, 2, 20, 200*time.Millisecond
			b.Time, b.Settle = time.Second, 200*time.Millisecond
			r, err := b.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			r.Print(&text)
			for _, want := range append(row.want, `lost +0 connections\n`) {
				if !regexp.MustCompile("(?m)^" + want).MatchString(text.String()) {
					t.Errorf("want %q in\n%s", want, text.String())
				}
			}
		})
	}
}
