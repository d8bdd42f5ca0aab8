// Package bans keeps the list of those who are kept out of a match. It is one of the machines of lockstep/host.
//
// # A ban
//
// A [Ban] names a subject, a name, an address, or several of them, and then concerns a [Person] whom all of them fit. With only an
// address it concerns the guests of that address, because a guest can make up another subject. Guests adds the guests of an
// address to the ban of a subject, so that the holder of a token cannot come back as one of them. [For] is the ban that fits a person.
//
// # States
//
//	      Add, KeepOut            Remove, or Until
//	none ─────────────► in force ─────────────────► none
//
// A ban replaces another one of the same subject, name and address. At most [Max] bans are in force. [Table.KeepOut], for kicks,
// uses only half of the room, never replaces a longer ban, and does without one if there is no room: it is still a kick.
// Bans that are over are dropped whenever the table is used.
//
// # Calls
//
// The host asks [Table.Of] about each newcomer. A ban of an address does not concern guests who have seats, who may come back,
// so the host says whether the newcomer has one. The host itself ends the connections and seats that a new ban concerns. [Table.Changes]
// tells the owner of the host when to write the list down.
//
//samestep:deterministic
package bans
