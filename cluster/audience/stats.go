package audience

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Stats are an Audience's counters since it began, and its current sizes.
type Stats struct {
	Tick       lockstep.Tick // the last one of the source
	Shown      lockstep.Tick // the last one that spectators may see
	Spectators int
	Connecting int
	BytesIn    uint64
	BytesOut   uint64
	Welcomes   uint64
	Syncs      uint64 // keyframes sent
	SyncBytes  uint64 // of them
	Resyncs    uint64 // keyframes sent because the source has missed or replaced records
	Strikes    uint64 // keyframes sent because a spectator was too far behind
	Desyncs    uint64 // checksums of spectators that differ from the log's
	Keyframes  uint64 // taken from the source
	Cuts       uint64 // times that the source was away
	Rewinds    uint64 // times that the source has replaced records
	Offences   uint64
	NoRoom     uint64
	Closed     [protocol.CloseInactive + 1]uint64 // connections, by CloseCode
	Memory     int                                // see Audience.Memory
	StateBytes int                                // of the latest keyframe
}

// Stats returns the counters and the current sizes.
func (a *Audience) Stats() Stats {
	s := a.stats
	s.Tick, s.Shown, s.Spectators, s.Connecting, s.Memory = a.tick, a.Now(), a.spectators(), a.count[host.Connecting], a.Memory()
	if n := len(a.frames); n > 0 {
		s.StateBytes = len(a.frames[n-1].Bytes)
	}
	return s
}

const (
	// peerMemory is the size of one connection without its queue, in bytes.
	peerMemory = 1 << 10

	// addressMemory is the size of an address with its key, in bytes.
	addressMemory = 256
)

// Memory returns the memory that the Audience holds now, in bytes: the ring, keyframes, queues and addresses.
func (a *Audience) Memory() int {
	sum := addressMemory*len(a.addresses.all) + 4*len(a.ticks)
	if a.ring != nil {
		sum += a.ring.Memory()
	}
	for _, k := range a.frames {
		sum += len(k.Bytes)
	}
	for i, p := range a.peers {
		sum += peerMemory + cap(p.out)
		if p.sync != nil && !a.keeps(p.sync) && (i == 0 || a.peers[i-1].sync != p.sync) {
			sum += len(p.sync.Bytes)
		}
	}
	return sum
}

// keeps reports whether a keyframe is one of those that are kept anyway.
func (a *Audience) keeps(k *Keyframe) bool {
	for _, f := range a.frames {
		if f == k {
			return true
		}
	}
	return false
}

// MemoryBound returns the limit of Memory in a match whose states have at most stateBytes bytes:
//
//	ring        max(RingBytes, 256 KiB) + 16·RingRecords, and 4·RingRecords with a delay
//	keyframes   (8 + SyncTimeout / 5 s) · (state + header + 4 KiB): of the log, and those still being sent to slow readers
//	peers       (MaxSpectators + 2·MaxConnecting) · (1 KiB + 2·8 KiB)
//	addresses   (MaxSpectators + MaxConnecting + 4096) · 256 B
//
// A peer that reads has 1 KiB. The sockets of a server have buffers besides, see package mirror.
func (a *Audience) MemoryBound(stateBytes int) int {
	o := &a.options
	sum := (o.MaxSpectators+2*o.MaxConnecting)*(peerMemory+2*maxPrivate) + a.addresses.max*addressMemory + 4*len(a.ticks)
	if a.ring != nil {
		sum += a.ring.MemoryBound()
	}
	frames := 8 + int(o.SyncTimeout/(5*lockstep.Second))
	return sum + frames*(stateBytes+record.MaxConfig/16+protocol.MaxServerMessage)
}
