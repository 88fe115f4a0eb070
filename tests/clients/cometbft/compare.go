// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// This file owns the comparison of every node with the model, and the proof that it finds faults.

// difference says what a node has that the model has not.
type difference string

func (d difference) Error() string { return string(d) }

// compareBlocks compares each block of a node with the one that was shown first.
func (t *test) compareBlocks(id int) error {
	last := t.height()
	if err := t.untilCommitted(id, last); err != nil {
		return err
	}
	for height := int64(1); height <= last; height++ {
		block, err := t.block(id, height)
		if err != nil {
			return err
		}
		if err := block.ValidateBasic(); err != nil {
			return difference(fmt.Sprintf("block %d of node %d: %v", height, id, err))
		}
		if !bytes.Equal(block.Hash(), t.blocks[height]) || !bytes.Equal(block.AppHash, t.hashes[height-1]) {
			return difference(fmt.Sprintf("node %d has another block or application hash at height %d", id, height))
		}
	}
	// Blocks without transactions leave the hash as it is.
	now := t.committed(id)
	if now.height == 0 {
		return fmt.Errorf("node %d does not answer", id)
	}
	if !bytes.Equal(now.hash, t.hashes[last]) {
		return difference(fmt.Sprintf("the application of node %d has the hash %X, not %X", id, now.hash, t.hashes[last]))
	}
	return nil
}

// compareValues compares what a node answers to a query with all values of the model.
func (t *test) compareValues(id int, path, data string) error {
	text, err := t.query(id, path, data)
	if err != nil {
		return err
	}
	var found map[string]string
	if err := json.Unmarshal(text, &found); err != nil {
		return err
	}
	if maps.Equal(found, t.values) {
		return nil
	}
	first := "one that nobody wrote"
	for _, name := range t.sortedNames() {
		if found[name] != t.values[name] {
			first = fmt.Sprintf("%s, which is %q and not %q", name, found[name], t.values[name])
			break
		}
	}
	return difference(fmt.Sprintf("%s of node %d has %d names of %d; the first that differs is %s", path, id, len(found),
		len(t.values), first))
}

func (t *test) sortedNames() []string {
	var all []string
	for name := range t.values {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (t *test) compareNode(id int) error {
	if err := t.compareBlocks(id); err != nil {
		return err
	}
	if err := t.compareValues(id, "scan", ""); err != nil {
		return err
	}
	return t.compareValues(id, "read", strings.Join(t.sortedNames(), " "))
}

// compare compares every node with the model.
func (t *test) compare() error {
	for id := 1; id <= validators; id++ {
		if err := t.compareNode(id); err != nil {
			return err
		}
	}
	fmt.Printf("RESULT cometbft part=equal nodes=%d blocks=%d txs=%d names=%d\n", validators, t.height(), t.count,
		len(t.values))
	return nil
}

// findSpoilt plants a fault in the state of a node while it is down, and fails unless the comparison finds it.
func (t *test) findSpoilt(id int, fault string) error {
	name := t.sortedNames()[len(t.values)/2]
	if err := t.kill(id); err != nil {
		return err
	}
	spoil := exec.Command(os.Args[0], "spoil", strconv.Itoa(id), t.folder, fault, name)
	if said, err := spoil.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	if err := t.start(id); err != nil {
		return err
	}
	err := t.compareNode(id)
	var differs difference
	if !errors.As(err, &differs) || !strings.Contains(err.Error(), name) {
		return fmt.Errorf("the fault %s of %s in node %d was not found, but: %v", fault, name, id, err)
	}
	fmt.Printf("RESULT cometbft part=found fault=%s node=%d name=%s\n", fault, id, name)
	return nil
}
