package netsim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// A Link describes a simulated link. The zero Link is perfect.
type Link struct {
	Delay   time.Duration // one way
	Jitter  time.Duration // added to Delay, uniform from 0 to this
	Loss    uint32        // lost packets of a million
	Burst   int           // packets that are lost together; 0 or 1: each alone. Only of a PacketConn
	Rate    int64         // bytes per second each way; 0: no limit
	Seed    uint64
	Timeout time.Duration // of a retransmission; 0: 200 ms and twice the Delay
}

// retransmit returns the additional delay of a lost packet.
func (l Link) retransmit() time.Duration {
	if l.Timeout > 0 {
		return l.Timeout
	}
	return 200*time.Millisecond + 2*l.Delay
}

// ErrLink is wrapped by the errors of [Parse].
var ErrLink = errors.New("netsim: bad link")

// Parse reads a link from words in any order, each at most once: "delay=80ms jitter=20ms loss=1% burst=3
// rate=64KiB timeout=300ms seed=7".
func Parse(text string) (Link, error) {
	var l Link
	seen := make(map[string]bool)
	for _, word := range strings.Fields(text) {
		name, value, ok := strings.Cut(word, "=")
		if !ok || seen[name] {
			return Link{}, fmt.Errorf("%w: got %q, want name=value, each name once", ErrLink, word)
		}
		seen[name] = true
		if err := l.set(name, value); err != nil {
			return Link{}, fmt.Errorf("%w: %s: %w", ErrLink, name, err)
		}
	}
	return l, nil
}

func (l *Link) set(name, value string) (err error) {
	switch name {
	case "delay":
		l.Delay, err = duration(value)
	case "jitter":
		l.Jitter, err = duration(value)
	case "timeout":
		l.Timeout, err = duration(value)
	case "seed":
		l.Seed, err = strconv.ParseUint(value, 10, 64)
	case "burst":
		l.Burst, err = strconv.Atoi(value)
		if err == nil && (l.Burst < 1 || l.Burst > 1000) {
			err = fmt.Errorf("got %s, want 1 to 1000", value)
		}
	case "rate":
		var n uint64
		if n, err = humanize.ParseBytes(value); err == nil && (n == 0 || n > 1<<40) {
			err = fmt.Errorf("got %s, want 1 B to 1 TiB", value)
		}
		l.Rate = int64(n)
	case "loss":
		var percent float64
		percent, err = strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		if err == nil && !(percent >= 0 && percent <= 90 && strings.HasSuffix(value, "%")) {
			err = fmt.Errorf("got %s, want 0%% to 90%%", value)
		}
		l.Loss = uint32(percent * 10_000)
	default:
		err = errors.New("want delay, jitter, loss, burst, rate, timeout or seed")
	}
	return err
}

func duration(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err == nil && (d < 0 || d > time.Minute) {
		err = fmt.Errorf("got %v, want 0 to 1m", d)
	}
	return d, err
}

// String returns the link in the form of [Parse].
func (l Link) String() string {
	var words []string
	add := func(set bool, format string, args ...any) {
		if set {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(l.Delay > 0, "delay=%v", l.Delay)
	add(l.Jitter > 0, "jitter=%v", l.Jitter)
	add(l.Loss > 0, "loss=%s%%", strconv.FormatFloat(float64(l.Loss)/10_000, 'f', -1, 64))
	add(l.Burst > 0, "burst=%d", l.Burst)
	add(l.Rate > 0, "rate=%dB", l.Rate)
	add(l.Timeout > 0, "timeout=%v", l.Timeout)
	add(l.Seed > 0, "seed=%d", l.Seed)
	return strings.Join(words, " ")
}
