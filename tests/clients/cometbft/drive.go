// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// This file owns the test: it starts the nodes, sends transactions, kills, and brings back.

const (
	writers  = 400 // how many send a transaction each, and wait until it is in a block
	patience = 120 * time.Second
	again    = 5 * time.Second // after which a transaction that is in no block is sent again
	pause    = 10 * time.Millisecond
)

// test is one run.
type test struct {
	*chain
	*model
	txs   int
	next  atomic.Int64 // the transaction that is sent next
	limit atomic.Int64 // the transaction that is not sent yet
}

// write sends a transaction to one running node after the other until it is in a block.
func (t *test) write(i int) {
	for at := i; ; at++ {
		wait := pause
		if id := at%validators + 1; t.running[id].Load() {
			ctx, cancel := soon()
			// One that is refused, or lost with its node, is sent again.
			_, _ = t.clients[id].BroadcastTxSync(ctx, []byte(transaction(i, t.names)))
			cancel()
			wait = again
		}
		select {
		case <-t.acknowledged[i]:
			return
		case <-time.After(wait):
		}
	}
}

func (t *test) writer() {
	for {
		i := t.next.Add(1) - 1
		if i >= int64(t.txs) {
			return
		}
		for i >= t.limit.Load() {
			time.Sleep(pause)
		}
		t.write(int(i))
	}
}

// follow gives the model the blocks that the first running node has executed. What it does not get, it gets next time.
func (t *test) follow() error {
	id := 1
	for id < validators && !t.running[id].Load() {
		id++
	}
	for last := t.committed(id).height; t.height() < last; {
		block, err := t.block(id, t.height()+1)
		if err != nil {
			return nil
		}
		if err := t.add(block); err != nil {
			return fmt.Errorf("block %d of node %d %w", block.Height, id, err)
		}
	}
	return nil
}

// until follows the chain until what is so.
func (t *test) until(name string, what func() bool) error {
	for start := time.Now(); !what(); time.Sleep(pause) {
		if err := t.alive(); err != nil {
			return err
		}
		if err := t.follow(); err != nil {
			return err
		}
		if time.Since(start) > patience {
			return fmt.Errorf("it was not so within %v that %s", patience, name)
		}
	}
	return nil
}

func (t *test) untilAcknowledged(count int) error {
	return t.until(fmt.Sprintf("%d transactions are in blocks", count), func() bool { return t.count >= count })
}

func (t *test) untilCommitted(id int, height int64) error {
	name := fmt.Sprintf("node %d executed block %d", id, height)
	return t.until(name, func() bool { return t.committed(id).height >= height })
}

// goOn follows the chain for some blocks.
func (t *test) goOn() error {
	target := t.height() + 3
	return t.until(fmt.Sprintf("block %d is there", target), func() bool { return t.height() >= target })
}

// measure follows the chain until count transactions are in blocks, and prints how fast that was.
func (t *test) measure(nodes, count int) error {
	start, before, height := time.Now(), t.count, t.height()
	if err := t.untilAcknowledged(count); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	txs, blocks := t.count-before, t.height()-height
	fmt.Printf("RESULT cometbft part=blocks nodes=%d writers=%d txs=%d txs_per_s=%.0f blocks_per_s=%.1f\n", nodes, writers,
		txs, float64(txs)/seconds, float64(blocks)/seconds)
	return nil
}

func (t *test) startAll() error {
	for id := 1; id <= validators; id++ {
		if err := t.start(id); err != nil {
			return err
		}
	}
	return t.goOn()
}

// loseOne kills the last node amid transactions. It comes back, amid others, when it lacks a quarter of all.
func (t *test) loseOne() error {
	t.limit.Store(int64(t.txs / 2))
	if err := t.measure(validators, t.txs/4); err != nil {
		return err
	}
	if err := t.kill(validators); err != nil {
		return err
	}
	before := t.height()
	if err := t.measure(validators-1, t.txs/2); err != nil {
		return err
	}
	if err := t.check("one_was_killed", validators); err != nil {
		return err
	}
	t.limit.Store(int64(t.txs * 3 / 4))
	start, target := time.Now(), t.height()
	if err := t.start(validators); err != nil {
		return err
	}
	if err := t.untilCommitted(validators, target); err != nil {
		return err
	}
	fmt.Printf("RESULT cometbft part=back blocks=%d caught_up_ms=%d\n", target-before, time.Since(start).Milliseconds())
	return t.untilAcknowledged(t.txs * 3 / 4)
}

// loseAll kills all nodes at once amid transactions, checks their databases, and brings them back.
func (t *test) loseAll() error {
	t.limit.Store(int64(t.txs))
	if err := t.untilAcknowledged(t.txs * 7 / 8); err != nil {
		return err
	}
	if err := t.kill(1, 2, 3, 4); err != nil {
		return err
	}
	fmt.Printf("RESULT cometbft part=cpu nodes=%d txs=%d blocks=%d cpu_s=%.1f\n", validators, t.count, t.height(),
		t.cpu.Seconds())
	if err := t.check("all_were_killed", 1, 2, 3, 4); err != nil {
		return err
	}
	start := time.Now()
	if err := t.startAll(); err != nil {
		return err
	}
	fmt.Printf("RESULT cometbft part=all_back three_blocks_ms=%d\n", time.Since(start).Milliseconds())
	return t.untilAcknowledged(t.txs)
}

// drain follows the chain until no node has a transaction that is in no block, as one that was sent again may be.
func (t *test) drain() error {
	err := t.until("no transaction waits", func() bool {
		for id := 1; id <= validators; id++ {
			ctx, cancel := soon()
			waiting, err := t.clients[id].NumUnconfirmedTxs(ctx)
			cancel()
			if err != nil || waiting.Total > 0 {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	return t.goOn()
}

func (t *test) run() error {
	for i := 0; i < writers; i++ {
		go t.writer()
	}
	steps := []func() error{
		t.startAll, t.loseOne, t.loseAll, t.drain, t.compare,
		func() error { return t.findSpoilt(2, "flip") },
		func() error { return t.findSpoilt(3, "drop") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func drive(varve, folder string) error {
	txs := 8000
	if word := os.Getenv("VARVE_CLUSTER_TXS"); word != "" {
		var err error
		if txs, err = strconv.Atoi(word); err != nil || txs < 800 {
			return fmt.Errorf("VARVE_CLUSTER_TXS is %s; it must be a number from 800", word)
		}
	}
	c, err := newChain(varve, folder)
	if err != nil {
		return err
	}
	defer c.end()
	t := &test{chain: c, model: newModel(txs, txs/4), txs: txs}
	return t.run()
}
