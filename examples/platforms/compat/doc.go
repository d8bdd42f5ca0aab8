// Package compat lets clients of another engine play in matches of the game platforms. It speaks that engine's wire,
// which is on the page docs/compat.md, and is a bridge: behind each connection stands an ordinary client of the match,
// in the same process. So seats, limits, checksums, keyframes and the replay are the engine's own, and nothing of its
// wire changes.
//
//	s.HandleOtherSockets(compat.New(s, compat.Options{Match: "match-1"}))
//
// The bridge adds what the engine does not have: the other engine's checksums, which it computes itself for each checked
// tick and compares with those of the clients.
package compat
