// Package diff compares two states of one schema, and names what differs: [Align] makes lists with other elements comparable,
// and a [Watcher] finds one field in any state.
package diff
