# The packages whose results must be the same everywhere. Scripts that test other platforms read this file; archtest compares it
# with the packages of the engine. The page's own tests need a browser, and run natively only.
deterministic="fixed fixed/bodies fixed/grid fixed/ids state checksum lockstep lockstep/record lockstep/abi module module/guest lockstep/disclosure lockstep/feed lockstep/protocol lockstep/datagram lockstep/coordinator lockstep/host/... lockstep/player/... lockstep/local cluster/ownership cluster/audience replay recorder desync internal/decimal internal/pack internal/ring examples/..."

# Tests that compare numbers, bytes and states with committed ones.
goldens='Golden|Vectors|Versions|Sums'

# Tests that count bytes, lateness, nodes, states or allocations, or generate source. All processors agree on these, and an
# emulator takes minutes.
counting='Test(LossHoldsNothingBack|LateTicksAreNotSeen|SilentStream|ReceiptsTravelWithFrames|BadPaths|BlackHoles|WriterKeepsLimits|ReaderLimits|LargeBlocks|SparseFile|BundleBomb|CompareLong|MaxCost|Explore|NoAllocations|TablesAreGenerated)$'

# packages PATH... prints the packages of the paths, without the page's.
packages() { go list "${@/#/./}" | grep -v '/examples/skirmish/web$'; }
