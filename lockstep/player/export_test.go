package player

// MaxWaiting is how many ticks that have arrived wait to be run.
const MaxWaiting = maxWaiting
