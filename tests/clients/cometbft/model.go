// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cometbft/cometbft/types"
)

// This file owns what the test expects: which transactions there are, and what the blocks that hold them lead to.

// transaction returns what is sent as number i. Each of the names is given a value again and again.
func transaction(i, names int) string {
	filler := strings.Repeat(fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15), 4)
	return fmt.Sprintf("%s%06d=%08d%s", namePrefix, i%names, i, filler)
}

// model executes in memory the blocks that a node showed. A transaction in one of them was acknowledged.
type model struct {
	names  int
	hashes [][]byte // of the application, after the block of each height
	blocks [][]byte // the hash of the block of each height
	values map[string]string
	// Each transaction has a channel, which is closed when it is in a block.
	acknowledged []chan struct{}
	count        int // of transactions that are in blocks
}

func newModel(txs, names int) *model {
	m := &model{names: names, hashes: [][]byte{{}}, blocks: [][]byte{nil}, values: map[string]string{}}
	for i := 0; i < txs; i++ {
		m.acknowledged = append(m.acknowledged, make(chan struct{}))
	}
	return m
}

func (m *model) height() int64 { return int64(len(m.blocks)) - 1 }

// add takes in the next block, which must have the application's hash in it that the model has.
func (m *model) add(block *types.Block) error {
	if err := block.ValidateBasic(); err != nil {
		return err
	}
	hash := m.hashes[m.height()]
	if !bytes.Equal(hash, block.AppHash) {
		return fmt.Errorf("has the application hash %X, not %X", []byte(block.AppHash), hash)
	}
	for _, tx := range block.Txs {
		if err := m.acknowledge(string(tx)); err != nil {
			return err
		}
		hash, _ = execute(hash, tx, func(name string) (string, error) { return m.values[name], nil },
			func(name, value string) { m.values[name] = value })
	}
	m.hashes, m.blocks = append(m.hashes, hash), append(m.blocks, block.Hash())
	return nil
}

// acknowledge takes a transaction for acknowledged. One that was sent again may be in two blocks.
func (m *model) acknowledge(tx string) error {
	var i int
	_, value, _ := strings.Cut(tx, "=")
	_, err := fmt.Sscanf(value, "%8d", &i)
	if err != nil || i < 0 || i >= len(m.acknowledged) || tx != transaction(i, m.names) {
		return fmt.Errorf("has a transaction that nobody sent: %q", tx)
	}
	select {
	case <-m.acknowledged[i]:
	default:
		close(m.acknowledged[i])
		m.count++
	}
	return nil
}
