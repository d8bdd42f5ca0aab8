package client

import (
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Subprotocol is the WebSocket subprotocol that is offered to the server.
const Subprotocol = "samestep.v1"

// Options are a Session's. A token is enough for a client that only watches.
type Options struct {
	// player.Options are the policies of the match's client: token, reconnecting, prediction, pacing. Dial draws a Seed
	// if it is 0.
	player.Options

	// Servers are the URLs of the match on other servers of a cluster. An attempt to connect
	// tries the next one when a server fails or does not answer soon, and redirects from one to another are followed. With them the client tries sooner: PingEvery
	// is 0.5 s, Silence 1.5 s, Reconnect.First 0.1 s and Reconnect.Longest 1 s unless they are set.
	Servers []string

	// ID is the id of the session, see [Session.ID], for a program that goes on with one, such as a page that is loaded again. Dial draws
	// it if this is not one, see protocol.IsSessionID.
	ID string

	// Sample is called after each simulated tick, or once after several ticks that ran at once; with Views after each view. It
	// can read the state, or the view, and submit the player's commands. Nil disables it.
	Sample func(*player.Client)

	// Handle is called with each event; see [player.Ready]. Before the first state has arrived, the client's Simulation
	// is nil. Nil disables it.
	Handle func(c *player.Client, event any)

	// Assets keeps the assets of matches, such as maps, that the session has fetched from the server; nil keeps them in memory,
	// for this session only. The session fetches no asset that is there, or in the game's own source of assets.
	Assets AssetCache

	// HTTP (a *http.Client) makes the connection, for a proxy or own certificates; nil means http.DefaultClient. It
	// follows no redirect but to Servers, because the token would go to another server. Not in a browser.
	HTTP *httpClient

	// NoDatagrams leaves everything to the WebSocket. Otherwise a player opens a path of datagrams beside it, if the server has
	// one, and lost packets hold nothing back.
	NoDatagrams bool

	// Wrap wraps each network connection (a net.Conn), and WrapPackets each socket for datagrams (a net.PacketConn), as netsim
	// does. With Wrap alone there are no datagrams. Nil disables it. Not in a browser.
	Wrap        func(netConn) netConn
	WrapPackets func(packetConn) packetConn
}

const (
	// pathTime is how long an attempt to open a path of datagrams may take.
	pathTime = 10 * time.Second

	// maxPathInfo is how many bytes the server's answer with the address of its datagrams may have.
	maxPathInfo = 4 << 10

	// maxUnreadDatagrams is how many datagrams wait for the client. Others are lost.
	maxUnreadDatagrams = 64

	// maxUnsentDatagrams is how many datagrams wait for the network. Others are lost.
	maxUnsentDatagrams = 8
)

// A path carries the datagrams of the session's present connection.
type path struct {
	arrived chan []byte
	gone    chan struct{} // closed when it is lost
	send    func([]byte)  // does not keep the bytes, and does not wait
	close   func()
}

// A pathInfo says where the datagrams of a match go.
type pathInfo struct {
	url  string
	hash []byte // SHA-256 of the only certificate that is accepted
}

// An AssetCache keeps assets from one session to the next, such as an assets.Folder. It must be safe for concurrent use.
type AssetCache interface {
	// Read returns the content of an asset. After any error, and after a wrong content, the session fetches it.
	Read(lockstep.Asset) ([]byte, error)

	// Write stores content that the session has checked, and replaces a damaged copy. After an error the session goes on
	// without the cache.
	Write(a lockstep.Asset, content []byte) error
}
