// SPDX-License-Identifier: Apache-2.0

// Goal: a chain of four validators that keep blocks and state in Varve loses no transaction that was in a block when
// nodes are killed, and every node comes to the same state.
// Method: CometBFT over cometbft-db, with an application over cosmos-db, all unchanged and built with the tag rocksdb,
// in four processes that talk over TCP on the loopback.
//
//	chain drive VARVE FOLDER killed     runs the test in FOLDER, which must not exist; VARVE is the program `varve`
//	chain node ID FOLDER ADDRESS...     is one node; `drive` starts it
//	chain spoil ID FOLDER FAULT KEY     plants a fault in the state of a node that is not running; `drive` starts it
//
// VARVE_CLUSTER_TXS is how many transactions are in blocks at the end; the default is 8000, the least 800.
package main

import (
	"errors"
	"fmt"
	"os"
)

func run(words []string) error {
	switch {
	case len(words) == 4 && words[0] == "drive" && words[3] == "killed":
		return drive(words[1], words[2])
	case len(words) == 3+2*validators && words[0] == "node":
		return runNode(words[1], words[2], words[3:])
	case len(words) == 5 && words[0] == "spoil":
		return spoil(words[1], words[2], words[3], words[4])
	}
	return errors.New("usage: chain drive VARVE FOLDER killed")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chain:", err)
		os.Exit(1)
	}
}
