//go:build !js && !wasip1

package clustertool_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
)

// A mirror serves until it is interrupted. It wants one source.
func TestMirrorVerb(t *testing.T) {
	game := tool.New(minimal.Rules(), tool.Bot(minimal.NewBot), tool.Config(func(int) minimal.Config { return minimal.Config{Size: 50, Coins: 500} }))
	for want, args := range map[string][]string{
		"want either --upstream or --nats": nil,
		"want at least 0s":                 {"--upstream", "http://127.0.0.1:1", "--batch", "-1s"},
		"--tokens: server:":                {"--upstream", "http://127.0.0.1:1", "--tokens", "mirror_test.go"},
	} {
		var problems bytes.Buffer
		if code := clustertool.Run(t.Context(), append([]string{"samestep-cluster", "mirror"}, args...), io.Discard, &problems, game); code == 0 || !strings.Contains(problems.String(), want) {
			t.Errorf("%v: got %d and %q, want %q", args, code, &problems, want)
		}
	}
	upstream := httptest.NewServer(http.NotFoundHandler())
	defer upstream.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- clustertool.Run(ctx, []string{"samestep-cluster", "mirror", "--upstream", upstream.URL, "--listen", "127.0.0.1:0"}, in, io.Discard, game)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, _ := strings.Cut(strings.TrimSpace(line), " at ")
	for path, want := range map[string]int{"/healthz": 200, "/matches/duel": 404} {
		a, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("%s: got %d, want %d", path, a.StatusCode, want)
		}
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("got exit code %d", code)
	}
}
