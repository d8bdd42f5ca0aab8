// Package front checks what the headers of a request claim about its server, its client and its page. It is one of the machines that
// server composes. Each check is a value that is made once from the options; a check changes nothing and answers nothing.
//
// Every request passes them in this order, before any route, see server.Guard:
//
//	[Hosts.Allow]      is the host a name of this server?        no  ► refused, so a page that rebinds its name cannot read us
//	[Proxies.Client]   did a trusted proxy send it, and for whom? yes ► the request counts for the client, with its budgets
//	[Origins.Allow]    may this page open a WebSocket here?      no  ► refused; programs send no Origin
//
// A proxy appends the address of its own client to one header, [XForwardedFor] or [Forwarded], and passes on the other as the client sent
// it. So the server reads only the one that the operator names, from the end: the client is the last address that is no trusted proxy.
// Addresses before it may be forged. Without a trusted proxy both headers mean nothing.
//
// [IsHere] reports whether a request comes from this machine. Operators may then read the metrics without a token. Any header of a proxy
// makes it false, also of a proxy that nobody has named: its clients are not here.
package front
