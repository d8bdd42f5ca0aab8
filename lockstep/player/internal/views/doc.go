// Package views puts the views of a match together that a server sends to a client which does not simulate.
//
// A [Views] outlives connections, so that there is a picture while there is none. It has no clock and knows no seats or commands.
//
// # States
//
//	blind ──Begin──> awaiting ──Delta, until one is whole──> looking ──Drop──> blind
//	                    ^                                       |
//	                    └───────────────Begin───────────────────┘
//
// A blind connection gets records about seats, which [Views.Keep] keeps, and then how views are made ([Views.Check], [Views.Begin]). Each view
// comes as a difference, in parts ([Views.Delta]). A whole one is to be acknowledged once ([Views.Ack]). A difference of no bytes
// says that the view of a later tick is the same.
//
// [Views.Look] has the last two views, so that a renderer can show what is between them, and beyond the last one for a while.
//
// # Who calls what
//
//	message view_sync         Check; if it is the first of a connection the owner reads Notes; then Begin
//	message view_delta        Delta
//	a record                  Keep, while the connection is blind
//	something may be sent     Ack
//	something is drawn        Look
//	the connection is gone    Drop
//
//samestep:deterministic
package views
