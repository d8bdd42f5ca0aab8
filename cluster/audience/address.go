package audience

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

const (
	// spareAddresses is the number of addresses that are kept beyond those of connections, so that reconnecting does not reset a
	// limit.
	spareAddresses = 4096

	// allAddresses multiplies the limit of keyframes of an address for all of them together.
	allAddresses = 8
)

// An address counts the bytes of keyframes to the connections of one address.
type address struct {
	key   string
	users int
	used  host.Bucket
}

// addresses is a table of bounded size, sorted by key.
type addresses struct {
	all     []*address
	max     int
	sweptAt lockstep.Time
}

// open returns the address of one more connection.
func (t *addresses) open(now lockstep.Time, key string, r host.Rate) *address {
	if now-t.sweptAt >= 60*lockstep.Second || len(t.all) >= t.max {
		t.sweptAt = now
		t.all = slices.DeleteFunc(t.all, func(x *address) bool { return x.users == 0 && (x.used.Room(now, r) >= r.Burst || len(t.all) >= t.max) })
	}
	i, found := slices.BinarySearchFunc(t.all, key, func(x *address, key string) int { return cmp.Compare(x.key, key) })
	if !found {
		t.all = slices.Insert(t.all, i, &address{key: strings.Clone(key)})
	}
	t.all[i].users++
	return t.all[i]
}

// check returns an error if the table is inconsistent. users is the expected number of connections.
func (t *addresses) check(users int) error {
	sum := 0
	for i, x := range t.all {
		sum += x.users
		if i > 0 && t.all[i-1].key >= x.key {
			return fmt.Errorf("audience: address %d of %d is not in order", i, len(t.all))
		}
	}
	if sum != users || len(t.all) > t.max {
		return fmt.Errorf("audience: got %d addresses with %d users, want at most %d with %d", len(t.all), sum, t.max, users)
	}
	return nil
}

// keyframeRate returns the rate, in bytes, of keyframes of some size to one address. A keyframe of any size can be sent 32 times at
// once, and 32 times a minute.
func (a *Audience) keyframeRate(size int) host.Rate {
	const most = 1 << 30 / allAddresses // so that those of all addresses are valid, too
	r := a.options.Rates.Keyframes
	all := 32 * int64(size)
	r.N = int(min(max(int64(r.N), all*int64(r.Per)/int64(60*lockstep.Second)), most))
	r.Burst = int(min(max(int64(r.Burst), all), most))
	return r
}

func times(r host.Rate, n int) host.Rate {
	return host.Rate{N: n * r.N, Per: r.Per, Burst: n * r.Burst}
}

// keyframeRoom returns how many bytes of a keyframe of some size a peer may be sent now.
func (a *Audience) keyframeRoom(p *peer, size int) int {
	r := a.keyframeRate(size)
	return min(p.from.used.Room(a.now, r), a.keyframes.Room(a.now, times(r, allAddresses)))
}

// spend charges n bytes of a keyframe to a peer.
func (a *Audience) spend(p *peer, n, size int) {
	r := a.keyframeRate(size)
	p.from.used.Take(a.now, r, n)
	a.keyframes.Take(a.now, times(r, allAddresses), n)
}
