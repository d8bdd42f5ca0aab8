//go:build linux

package mirror_test

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

var (
	crowdSize    = flag.Int("crowd", 2000, "spectators of BenchmarkCrowd")
	crowdMirrors = flag.Int("mirrors", 2, "mirrors of BenchmarkCrowd")
	crowdTime    = flag.Duration("crowd-time", 10*time.Second, "how long BenchmarkCrowd measures")
	crowdBatch   = flag.Duration("batch", 0, "batches of the mirrors of BenchmarkCrowd")
)

// helperVar names the variable that makes the test program an owner or a mirror of BenchmarkCrowd.
const helperVar = "SAMESTEP_CROWD"

const crowdTokens = "player 0 ada - ada-ada-ada-ada-ada\nplayer 1 bob - bob-bob-bob-bob-bob\n"

// helpBenchmark serves as an owner or a mirror until the program gets an interrupt, and exits.
func helpBenchmark() {
	what, source, _ := strings.Cut(os.Getenv(helperVar), " ")
	if what == "" {
		return
	}
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if what == "player" {
		check(printArrivals(source))
	}
	front := server.Options{Log: quiet(), Limits: server.Limits{MaxPerAddress: 100_000, MaxUnauthenticated: 100_000}, Host: host.Options{AnonymousSpectators: true}, Descriptors: 1 << 20}
	var h http.Handler
	var limit func(net.Listener) net.Listener
	if what == "owner" {
		tokens, err := server.ReadTokens(strings.NewReader(crowdTokens))
		check(err)
		front.Authorizer = tokens
		s, err := server.New(front)
		check(err)
		_, err = s.Create(server.MatchSpec{
			Name: "duel", Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(4), Config: &minimal.Config{Size: 50, Coins: 500},
			Bots: []lockstep.Bot{nil, nil, bot(0), bot(5)},
		})
		check(err)
		h, limit = s, s.Listener
	} else {
		batch, address, _ := strings.Cut(source, " ")
		d, err := time.ParseDuration(batch)
		check(err)
		o := audience.Options{Batch: lockstep.Time(d.Microseconds()), MaxConnecting: 4096}
		o.Rates.Keyframes = host.Rate{N: 1 << 27, Per: lockstep.Second, Burst: 1 << 27}
		r, err := mirror.New(mirror.Options{Source: upstream(address), Front: front, Audience: o, Log: quiet()})
		check(err)
		h, limit = r, r.Listener
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(l.Addr())
	go server.HTTPServer("", h).Serve(limit(l))
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	os.Exit(0)
}

// printArrivals plays, and prints each tick with the time of its arrival in nanoseconds.
func printArrivals(source string) error {
	token, address, _ := strings.Cut(source, " ")
	auth := *protocol.NewAuth(lockstep.MustGame(minimal.Rules()))
	auth.Token = token
	f, err := newFan(address, auth)
	if err != nil {
		return err
	}
	fmt.Println("playing")
	f.arrived = func(t lockstep.Tick, at time.Time) { fmt.Println(t, at.UnixNano()) }
	f.run(time.Now())
	return f.failed
}

// A helper is a process of BenchmarkCrowd.
type helper struct {
	cmd     *exec.Cmd
	address string // the first line that it prints
	out     *bufio.Scanner
}

func startHelper(b *testing.B, what string) *helper {
	p := &helper{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), helperVar+"="+what)
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !strings.HasPrefix(what, "mirror")} // see lowerPriority
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		p.cmd.Process.Signal(os.Interrupt)
		p.cmd.Wait()
	})
	if p.out = bufio.NewScanner(out); !p.out.Scan() {
		b.Fatalf("%s: %v", what, p.out.Err())
	}
	p.address = p.out.Text()
	return p
}

// stat returns the processor time of the process and its resident memory.
func (p *helper) stat(b *testing.B) (cpu time.Duration, resident int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(after)
	number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	return time.Duration(number(11)+number(12)) * 10 * time.Millisecond, number(21) * os.Getpagesize()
}

// A fan is a cheap client on a raw socket: it reads frames and acknowledges, and does not simulate.
type fan struct {
	c net.Conn
	r *bufio.Reader

	up *audience.Upstream

	mu     sync.Mutex
	bytes  int
	sees   *sink
	failed error

	arrived func(lockstep.Tick, time.Time) // nil: the sink keeps it
}

// A sink notes when ticks arrive.
type sink struct {
	a        *audience.Audience
	arrivals map[lockstep.Tick]time.Time
}

// newFan connects to the match at an address. The messages of the protocol are those of a mirror's own client.
func newFan(address string, auth protocol.Auth) (*fan, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	f := &fan{c: c, r: bufio.NewReaderSize(c, 2048)}
	fmt.Fprintf(c, "GET /matches/duel/play HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", server.Subprotocol)
	answer, err := http.ReadResponse(f.r, nil)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("got %s", answer.Status)
	}
	a, err := audience.New(audience.Options{RingRecords: 16, RingBytes: 1})
	if err != nil {
		return nil, err
	}
	f.sees = &sink{a: a, arrivals: map[lockstep.Tick]time.Time{}}
	f.up = audience.NewUpstream(a, audience.UpstreamOptions{Auth: auth})
	f.up.Connected(0)
	return f, f.flush()
}

// flush sends what the client has, masked with zeros.
func (f *fan) flush() error {
	b := f.up.Send(nil)
	if len(b) == 0 {
		return nil
	}
	header := []byte{0x82, 0x80 | byte(len(b))}
	if len(b) > 125 {
		header = []byte{0x82, 0x80 | 126, byte(len(b) >> 8), byte(len(b))}
	}
	_, err := f.c.Write(slices.Concat(header, make([]byte, 4), b))
	return err
}

// run reads until the socket is closed.
func (f *fan) run(began time.Time) {
	var b []byte
	for {
		var h [4]byte
		if _, f.failed = io.ReadFull(f.r, h[:2]); f.failed != nil {
			return
		}
		n := int(h[1] & 0x7f)
		switch n {
		case 126:
			if _, f.failed = io.ReadFull(f.r, h[2:4]); f.failed != nil {
				return
			}
			n = int(h[2])<<8 | int(h[3])
		case 127:
			f.failed = fmt.Errorf("a message of more than 64 KiB")
			return
		}
		b = slices.Grow(b[:0], n)[:n]
		if _, f.failed = io.ReadFull(f.r, b); f.failed != nil {
			return
		}
		if h[0]&0xf == 8 {
			return
		}
		now := time.Now()
		before := f.sees.a.Now()
		f.mu.Lock()
		f.bytes += n + 2
		at := lockstep.Time(now.Sub(began).Microseconds())
		f.failed = f.up.Receive(at, b)
		if now := f.sees.a.Now(); now != before {
			if f.sees.arrivals[now] = time.Now(); f.arrived != nil {
				f.arrived(now, f.sees.arrivals[now])
			}
		}
		f.mu.Unlock()
		if f.failed == nil {
			if at >= f.up.Next() {
				f.up.Advance(at)
			}
			f.failed = f.flush()
		}
		if f.failed != nil {
			return
		}
	}
}

// lateness returns how much later than the earliest one ticks have arrived, in order, for ticks of 50 ms.
func lateness(arrivals map[lockstep.Tick]time.Time, from, to time.Time) (late []time.Duration) {
	var first time.Time
	for t, at := range arrivals {
		if at.Before(from) || at.After(to) {
			continue
		}
		due := at.Add(-time.Duration(t) * 50 * time.Millisecond)
		if first.IsZero() || due.Before(first) {
			first = due
		}
	}
	for t, at := range arrivals {
		if !at.Before(from) && !at.After(to) {
			late = append(late, at.Add(-time.Duration(t)*50*time.Millisecond).Sub(first))
		}
	}
	slices.Sort(late)
	return late
}

func part(all []time.Duration, percent int) float64 {
	if len(all) == 0 {
		return 0
	}
	return float64(all[min(len(all)*percent/100, len(all)-1)].Microseconds()) / 1000
}

// A played is what a player in a process of its own has seen.
type played struct {
	mu       sync.Mutex
	arrivals map[lockstep.Tick]time.Time
}

func play(b *testing.B, token, address string) *played {
	x := &played{arrivals: map[lockstep.Tick]time.Time{}}
	p := startHelper(b, "player "+token+" "+address)
	go func() {
		for p.out.Scan() {
			tick, at, _ := strings.Cut(p.out.Text(), " ")
			t, _ := strconv.Atoi(tick)
			nanos, _ := strconv.ParseInt(at, 10, 64)
			x.mu.Lock()
			x.arrivals[lockstep.Tick(t)] = time.Unix(0, nanos)
			x.mu.Unlock()
		}
	}()
	return x
}

// lowerPriority makes the spectators, and the mirrors that are started later, leave the processor to the owner and the players, whose
// machines are others in earnest.
func lowerPriority(b *testing.B) {
	if err := syscall.Setpriority(syscall.PRIO_PGRP, 0, 10); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCrowd is a match of 20 ticks a second at a server, with two players and two bots, and spectators at mirrors, each in a process
// of its own. It measures the lateness of the players' frames without spectators and then with them, and the cost of a spectator
// to its mirror and to the owner.
//
//	go test -run '^$' -bench Crowd -benchtime 1x ./cluster/mirror -args -crowd 2000 -mirrors 2
func BenchmarkCrowd(b *testing.B) {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil || most.Cur < uint64(*crowdSize+100) {
		b.Skipf("got %d file descriptors, %v", most.Cur, err)
	}
	for range b.N {
		measureCrowd(b)
	}
}

func measureCrowd(b *testing.B) {
	owner := startHelper(b, "owner")
	auth := *protocol.NewAuth(lockstep.MustGame(minimal.Rules()))
	began := time.Now()
	var fans []*fan
	defer func() {
		for _, f := range fans {
			f.c.Close()
		}
	}()
	players := []*played{play(b, "ada-ada-ada-ada-ada", owner.address), play(b, "bob-bob-bob-bob-bob", owner.address)}
	lowerPriority(b)
	time.Sleep(2 * time.Second)
	quietFrom := time.Now()
	ownerCPU, _ := owner.stat(b)
	time.Sleep(*crowdTime)
	quietTo := time.Now()
	ownerQuiet, _ := owner.stat(b)

	var mirrors []*helper
	for range *crowdMirrors {
		mirrors = append(mirrors, startHelper(b, fmt.Sprint("mirror ", *crowdBatch, " ", owner.address)))
	}
	joining := time.Now()
	for i := range *crowdSize {
		f, err := newFan(mirrors[i%len(mirrors)].address, auth)
		if err != nil {
			b.Fatalf("spectator %d: %v", i, err)
		}
		go f.run(began)
		fans = append(fans, f)
	}
	joined := time.Since(joining)
	time.Sleep(3 * time.Second)
	cpu := make([]time.Duration, len(mirrors))
	for i, r := range mirrors {
		cpu[i], _ = r.stat(b)
	}
	ownerBusy, _ := owner.stat(b)
	bytes := 0
	for _, f := range fans {
		f.mu.Lock()
		bytes -= f.bytes
		f.mu.Unlock()
	}
	from := time.Now()
	time.Sleep(*crowdTime)
	to := time.Now()
	used, resident := time.Duration(0), 0
	for i, r := range mirrors {
		now, memory := r.stat(b)
		used += now - cpu[i]
		resident += memory
	}
	ownerAfter, _ := owner.stat(b)
	var late, quiet, watched []time.Duration
	ticks, failed := 0, 0
	for _, f := range fans {
		f.mu.Lock()
		bytes += f.bytes
		x := lateness(f.sees.arrivals, from, to)
		ticks += len(x)
		watched = append(watched, x...)
		if f.failed != nil {
			failed++
		}
		f.mu.Unlock()
	}
	for _, f := range players {
		f.mu.Lock()
		quiet = append(quiet, lateness(f.arrivals, quietFrom, quietTo)...)
		late = append(late, lateness(f.arrivals, from, to)...)
		f.mu.Unlock()
	}
	slices.Sort(quiet)
	slices.Sort(late)
	slices.Sort(watched)
	n := float64(cmp.Or(len(fans), 1))
	seconds := to.Sub(from).Seconds()
	b.ReportMetric(float64(used.Nanoseconds())/n/(seconds*20)/1000, "mirror-us/spectator/tick")
	b.ReportMetric(100*used.Seconds()/seconds, "mirrors-CPU-%")
	b.ReportMetric(float64(resident)/n/1024, "mirror-KiB/spectator")
	b.ReportMetric(float64(bytes)/n/(seconds*20), "B/spectator/tick")
	b.ReportMetric(100*(ownerQuiet-ownerCPU).Seconds()/quietTo.Sub(quietFrom).Seconds(), "owner-CPU-%-before")
	b.ReportMetric(100*(ownerAfter-ownerBusy).Seconds()/seconds, "owner-CPU-%-with")
	for name, percent := range map[string]int{"p50": 50, "p99": 99} {
		b.ReportMetric(part(quiet, percent), "player-ms-"+name+"-before")
		b.ReportMetric(part(late, percent), "player-ms-"+name+"-with")
		b.ReportMetric(part(watched, percent), "spectator-ms-"+name)
	}
	b.ReportMetric(joined.Seconds(), "s-to-join")
	b.ReportMetric(100*float64(ticks)/(n*seconds*20), "deliveries/100-ticks")
	if failed > 0 {
		b.Errorf("%d of %d spectators were disconnected", failed, len(fans))
	}
}
