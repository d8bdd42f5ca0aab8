//go:build !js && !wasip1

package tool

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
)

// An endless list of matches with long names does not fill the memory of watch.
func TestWatchEndlessList(t *testing.T) {
	t.Parallel()
	sent := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		page := "[" + strings.Repeat(`{"name":"`+strings.Repeat("x", 10_000)+`"},`, 99) + `{"name":"last"}]`
		sent += len(page)
		io.WriteString(w, page)
	}))
	defer web.Close()
	s, err := replays.NewServerSource(web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("got %.200v, want that the answer is too long", err)
	}
	if sent > replays.MaxAnswer+2<<20 {
		t.Errorf("%d bytes were sent, want hardly more than %d", sent, replays.MaxAnswer)
	}
}

// Metrics that are not numbers end neither watch nor its JSON.
func TestWatchWildMetrics(t *testing.T) {
	var late replays.Lateness
	text := ""
	for _, v := range []string{"NaN", "+Inf", "-Inf", "1e999"} {
		text += fmt.Sprintf("%s_sum %s\n%s_count %s\n%s_bucket{le=\"%s\"} 1\n", replays.LateMetric, v, replays.LateMetric, v, replays.LateMetric, v)
	}
	text += fmt.Sprintf("%s_bucket{le=\"0.5\"} 1\n%s_bucket{le=\"+Inf\"} 100\n%s_count 100\n", replays.LateMetric, replays.LateMetric, replays.LateMetric)
	if err := late.Read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := console.WriteJSON(io.Discard, late.Since(&replays.Lateness{})); err != nil {
		t.Error(err)
	}
}
