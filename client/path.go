package client

const (
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
