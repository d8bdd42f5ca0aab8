package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/seed-49bee653/samestep/server/internal/allowance"
)

const (
	// maxExtraFrames is the number of extra frames (see frameConn) that a connection may send in a second.
	maxExtraFrames = 20

	// extraFramesAtOnce is the burst of maxExtraFrames. A new connection takes it from the budget of its address, so
	// reconnecting does not restore it.
	extraFramesAtOnce = 60

	// maxAddressFrames is the number of extra frames that the new connections of an address get in a minute.
	maxAddressFrames = 8 * extraFramesAtOnce

	// fewExtraFrames is the burst that every new connection has: the frame that closes it, and some more.
	fewExtraFrames = 4

	// maxClosingBytes is the number of bytes read from a closing connection: data in flight, and the answer to the
	// close frame.
	maxClosingBytes = 64 << 10

	// freeFragment is the size from which a fragment is not an extra frame; the match counts its bytes.
	freeFragment = 1 << 10
)

// errFrames ends a connection that sends too many frames.
var errFrames = errors.New("server: too many control frames or small fragments")

// A frameConn is the connection below a WebSocket. It limits the extra frames: pings, pongs, and continuation frames
// that are short and do not end their message. The match limits messages.
type frameConn struct {
	net.Conn
	extra *rate.Limiter
	early []byte // read together with the handshake

	header [14]byte // of the next frame
	have   int      // bytes in header
	skip   uint64   // bytes left of the payload
	failed bool

	closing atomic.Bool
	late    int // bytes read since closing was set
}

// newFrameConn returns a frameConn with the given number of extra frames as its burst.
func newFrameConn(c net.Conn, atOnce int) *frameConn {
	f := &frameConn{Conn: c, extra: rate.NewLimiter(maxExtraFrames, extraFramesAtOnce)}
	f.extra.AllowN(time.Now(), extraFramesAtOnce-atOnce)
	return f
}

// Read implements [net.Conn].
func (f *frameConn) Read(b []byte) (int, error) {
	if f.failed {
		return 0, errFrames
	}
	n, err := copy(b, f.early), error(nil)
	if f.early = f.early[n:]; n == 0 {
		n, err = f.Conn.Read(b)
	}
	if f.closing.Load() {
		if f.late += n; f.late > maxClosingBytes {
			f.failed = true
		}
	}
	if f.count(b[:n]); f.failed {
		return 0, errFrames
	}
	return n, err
}

// count parses received bytes, and sets failed if there were too many extra frames.
func (f *frameConn) count(b []byte) {
	for len(b) > 0 && !f.failed {
		if f.skip > 0 {
			n := min(f.skip, uint64(len(b)))
			f.skip, b = f.skip-n, b[n:]
			continue
		}
		f.header[f.have], b = b[0], b[1:]
		if f.have++; f.have < headerSize(f.header[1], f.have) {
			continue
		}
		f.skip, f.have = payloadSize(&f.header), 0
		control, fin, first := f.header[0]&8 != 0, f.header[0]&0x80 != 0, f.header[0]&0xf != 0
		if control || !fin && !first && f.skip < freeFragment {
			f.failed = !f.extra.AllowN(time.Now(), 1)
		}
	}
}

// headerSize returns the size of a frame's header, as far as have bytes of it tell, where b is the second byte
// (RFC 6455, section 5.2).
func headerSize(b byte, have int) int {
	size := 2
	if have < size {
		return size
	}
	switch b & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if b&0x80 != 0 {
		size += 4 // the mask
	}
	return size
}

// payloadSize returns the payload's size in a header.
func payloadSize(h *[14]byte) uint64 {
	switch n := h[1] & 0x7f; n {
	case 126:
		return uint64(binary.BigEndian.Uint16(h[2:]))
	case 127:
		return binary.BigEndian.Uint64(h[2:])
	default:
		return uint64(n)
	}
}

// A hijacker is a ResponseWriter that keeps the hijacked connection.
type hijacker struct {
	http.ResponseWriter
	budgets *allowance.Table[netip.Prefix] // of extra frames
	from    netip.Prefix

	conn   net.Conn
	frames *frameConn
}

// Hijack implements http.Hijacker. It returns a frameConn, which also counts the frames that the HTTP server has read.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn = c
	f := newFrameConn(c, fewExtraFrames+h.budgets.UpTo(h.from, extraFramesAtOnce-fewExtraFrames, time.Now()))
	h.frames = f
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	f.early = bytes.Clone(early)
	rw.Reader.Reset(f)
	return f, rw, nil
}
