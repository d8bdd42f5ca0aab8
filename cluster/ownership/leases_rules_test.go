package ownership

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	ms    lockstep.Time = 1000
	lease               = 1000 * ms
)

// A renewer renews the lease of one server, "self", every 200 ms.
type renewer struct {
	*Leases
	now      lockstep.Time
	revision uint64
}

// renew renews n times.
func (r *renewer) renew(n int) {
	for range n {
		r.now += 200 * ms
		r.revision++
		r.Seen("self", r.revision, r.now)
		r.Renewed(r.revision, r.now-ms, r.now)
	}
}

// see lets it see the renewal of another server.
func (r *renewer) see(server string) {
	r.revision++
	r.Seen(server, r.revision, r.now)
}

func (r *renewer) expired(server string) bool { return r.Expired(server, r.now) }

func TestLeaseRules(t *testing.T) {
	for _, row := range []struct {
		name  string
		steps func(r *renewer)
		want  bool // the lease of "other" has expired
	}{
		{"nothing is known", func(*renewer) {}, false},
		{"never seen, for less than a lease time", func(r *renewer) { r.renew(6) }, false},
		{"never seen", func(r *renewer) { r.renew(7) }, true},
		{"silent for less than a lease time", func(r *renewer) { r.renew(9); r.see("other"); r.renew(6) }, false},
		{"silent", func(r *renewer) { r.renew(9); r.see("other"); r.renew(7) }, true},
		{"back", func(r *renewer) { r.see("other"); r.renew(7); r.see("other") }, false},
		{"an old renewal is seen again", func(r *renewer) {
			r.see("other")
			revision := r.revision
			r.renew(7)
			r.Seen("other", revision, r.now)
		}, true},
		{"a renewal failed", func(r *renewer) { r.see("other"); r.renew(4); r.Failed(); r.renew(6) }, false},
		{"a renewal failed long ago", func(r *renewer) { r.see("other"); r.renew(4); r.Failed(); r.renew(7) }, true},
		{"a long pause", func(r *renewer) { r.see("other"); r.renew(4); r.now += 400 * ms; r.renew(6) }, false},
		{"a pause right before the question", func(r *renewer) { r.see("other"); r.renew(7); r.now += lease/2 + ms }, false},
		{"the answer comes after a later renewal of the other", func(r *renewer) {
			r.renew(1)
			r.revision += 2
			r.Seen("self", r.revision-1, r.now)
			r.Seen("other", r.revision, r.now)
			r.now += 5 * ms
			r.Renewed(r.revision-1, r.now-ms, r.now)
			r.now -= 100 * ms // less than a lease time after the next one
			r.renew(6)
		}, false},
		{"renewals are stored, but not seen", func(r *renewer) {
			for range 9 {
				r.now += 200 * ms
				r.revision++
				r.Renewed(r.revision, r.now-ms, r.now)
			}
		}, false},
		{"many are seen late", func(r *renewer) {
			for range 40 {
				r.now += 10 * ms
				r.revision++
				r.Renewed(r.revision, r.now-ms, r.now)
			}
			r.Seen("self", r.revision, r.now)
			r.renew(7)
		}, true},
		{"the storage begins anew", func(r *renewer) {
			r.revision = 1000
			r.see("other")
			r.renew(7)
			r.revision = 0
			r.renew(1)
		}, false},
		{"a renewal after the storage began anew", func(r *renewer) {
			r.revision = 1000
			r.see("other")
			r.renew(7)
			r.revision = 0
			r.renew(5)
			r.see("other")
			r.renew(4)
		}, false},
		{"silent since the storage began anew", func(r *renewer) {
			r.revision = 1000
			r.see("other")
			r.renew(1)
			r.revision = 0
			r.renew(8)
		}, true},
		{"renewals are stored after the storage began anew, but not seen", func(r *renewer) {
			r.revision = 1000
			r.renew(7)
			r.revision = 0
			for range 9 {
				r.now += 200 * ms
				r.revision++
				r.Renewed(r.revision, r.now-ms, r.now)
			}
		}, false},
		{"left", func(r *renewer) { r.see("other"); r.renew(1); r.Left("other", r.now) }, true},
		{"left, and came back", func(r *renewer) { r.renew(1); r.Left("other", r.now); r.see("other") }, false},
		{"forgotten", func(r *renewer) { r.see("another"); r.see("other"); r.renew(200) }, true},
		{"seen after it was forgotten", func(r *renewer) { r.see("another"); r.see("other"); r.renew(200); r.see("other") }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := &renewer{Leases: NewLeases("self", lease)}
			row.steps(r)
			if got := r.expired("other"); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
			if len(r.others) > 1 {
				t.Errorf("got %d other servers", len(r.others))
			}
			if r.Left("self", r.now); r.expired("self") {
				t.Error("its own lease has expired")
			}
		})
	}
}

// A server takes matches only while its own lease is sure, and it could run them.
func TestTurnNeedsLease(t *testing.T) {
	r := &renewer{Leases: NewLeases("self", lease)}
	able := []string{"other", "self"}
	if r.Mine(0) || r.Turn("match", able[1:], 0, 0) {
		t.Error("got a lease before the first renewal")
	}
	r.renew(1)
	sent := r.now - ms
	if !r.Mine(sent+lease-1) || r.Mine(sent+lease) {
		t.Error("the lease does not end a lease time after the renewal was sent")
	}
	if r.Turn("match", able[:1], 0, r.now) || r.Turn("match", nil, 0, r.now) {
		t.Error("got a match that it cannot run")
	}
	if !r.Turn("match", able[1:], r.now, r.now) || r.Turn("match", able[1:], r.now, r.now+lease) {
		t.Error("the only server that can run a match does not take it, or takes it without a lease")
	}
	if got := r.Period(); got != 200*ms {
		t.Errorf("got a period of %d ms, want 200", got/ms)
	}
}

// The second server of a match takes it a quarter of a lease time later, or at once if the lease of the first one has expired.
func TestTurnOrder(t *testing.T) {
	able := []string{"other", "self"}
	first := 0
	for match := range 100 {
		r := &renewer{Leases: NewLeases("self", lease)}
		r.renew(3)
		name, since := fmt.Sprint(match), r.now
		if r.Turn(name, able, since, since) {
			first++
		} else if r.Turn(name, able, since, since+lease/4-1) || !r.Turn(name, able, since, since+lease/4) {
			t.Errorf("match %s: the turn of the second server does not begin after a quarter of a lease time", name)
		}
		if r.renew(4); !r.Turn(name, able, r.now, r.now) {
			t.Errorf("match %s: a server without a lease has the first turn", name)
		}
	}
	if first < 30 || first > 70 {
		t.Errorf("got the first turn for %d of 100 matches, want about half", first)
	}
}
