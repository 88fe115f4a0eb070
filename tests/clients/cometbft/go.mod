// `tests/clients/run` puts the version of the suite's name for VERSION, and lets go find what it requires.
module varve/tests/clients/cometbft

go 1.22.11

require (
	github.com/cometbft/cometbft vVERSION
	github.com/cosmos/cosmos-db v1.0.2
)
