package player

// MaxWaiting is the number of received ticks that wait to be run.
const MaxWaiting = maxWaiting
