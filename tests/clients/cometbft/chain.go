// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	rpc "github.com/cometbft/cometbft/rpc/client/http"
	"github.com/cometbft/cometbft/types"
)

// This file owns the processes of the nodes, and how the test talks to them.

// databases is how many a node has: blocks, states, evidence, the index of transactions, and the application's.
const databases = 5

// process is a node from its start to its end.
type process struct {
	command *exec.Cmd
	parent  io.Closer // closed, it ends the node
	ended   chan struct{}
	err     error // how it ended
}

// chain has an element for each node, and element 0, which is none.
type chain struct {
	varve, folder string
	addresses     []string
	clients       [validators + 1]*rpc.HTTP
	processes     [validators + 1]*process
	running       [validators + 1]atomic.Bool
	cpu           time.Duration // that killed nodes had used
}

// freeAddresses finds ports below those that the kernel gives to connections: a dead node's must not be taken.
func freeAddresses(count int) ([]string, error) {
	var found []string
	for port := 20000 + os.Getpid()%10000; port < 32000 && len(found) < count; port++ {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		probe, err := net.Listen("tcp", address)
		if err == nil {
			defer probe.Close()
			found = append(found, address)
		}
	}
	if len(found) < count {
		return nil, fmt.Errorf("the loopback has no %d free ports", count)
	}
	return found, nil
}

func newChain(varve, folder string) (*chain, error) {
	c := &chain{varve: varve, folder: folder}
	var err error
	if c.addresses, err = freeAddresses(2 * validators); err != nil {
		return nil, err
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	for id := 1; id <= validators; id++ {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}
		if c.clients[id], err = rpc.NewWithClient("http://"+c.addresses[validators+id-1], "/websocket", client); err != nil {
			return nil, err
		}
	}
	return c, makeChain(folder)
}

// end ends the nodes that are still running.
func (c *chain) end() {
	for id := 1; id <= validators; id++ {
		if p := c.processes[id]; p != nil {
			p.parent.Close()
		}
	}
}

func (c *chain) start(id int) error {
	log, err := os.OpenFile(home(c.folder, id)+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(os.Args[0], append([]string{"node", strconv.Itoa(id), c.folder}, c.addresses...)...)
	command.Stdout, command.Stderr = log, log
	parent, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	p := &process{command: command, parent: parent, ended: make(chan struct{})}
	go func() {
		p.err = command.Wait()
		close(p.ended)
	}()
	c.processes[id] = p
	c.running[id].Store(true)
	return nil
}

// kill kills nodes at once with SIGKILL, and waits until they are gone.
func (c *chain) kill(ids ...int) error {
	for _, id := range ids {
		c.running[id].Store(false)
		if err := c.processes[id].command.Process.Kill(); err != nil {
			return fmt.Errorf("node %d: %w; see %s.log", id, err, home(c.folder, id))
		}
	}
	for _, id := range ids {
		p := c.processes[id]
		<-p.ended
		var killed *exec.ExitError
		if !errors.As(p.err, &killed) || killed.Exited() {
			return fmt.Errorf("node %d had ended before it was killed; see %s.log", id, home(c.folder, id))
		}
		c.cpu += p.command.ProcessState.UserTime() + p.command.ProcessState.SystemTime()
	}
	return nil
}

// alive returns an error if a node has ended by itself.
func (c *chain) alive() error {
	for id := 1; id <= validators; id++ {
		if !c.running[id].Load() {
			continue
		}
		select {
		case <-c.processes[id].ended:
			return fmt.Errorf("node %d has ended by itself: %v; see %s.log", id, c.processes[id].err, home(c.folder, id))
		default:
		}
	}
	return nil
}

func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 5*time.Second)
}

// committed returns up to which block a node's application has executed them, and its hash; 0 if it does not answer.
func (c *chain) committed(id int) state {
	ctx, cancel := soon()
	defer cancel()
	info, err := c.clients[id].ABCIInfo(ctx)
	if err != nil {
		return state{}
	}
	return state{info.Response.LastBlockHeight, info.Response.LastBlockAppHash}
}

func (c *chain) block(id int, height int64) (*types.Block, error) {
	ctx, cancel := soon()
	defer cancel()
	result, err := c.clients[id].Block(ctx, &height)
	if err != nil {
		return nil, fmt.Errorf("block %d of node %d: %w", height, id, err)
	}
	return result.Block, nil
}

// query asks a node's application, and returns its answer, which is JSON.
func (c *chain) query(id int, path, data string) ([]byte, error) {
	ctx, cancel := soon()
	defer cancel()
	result, err := c.clients[id].ABCIQuery(ctx, path, []byte(data))
	if err != nil {
		return nil, fmt.Errorf("%s of node %d: %w", path, id, err)
	}
	return result.Response.Value, nil
}

// check lets the program varve check every database of nodes that are not running, as they were left.
func (c *chain) check(when string, ids ...int) error {
	for _, id := range ids {
		found, err := filepath.Glob(filepath.Join(home(c.folder, id), "data", "*", "CURRENT"))
		if err != nil {
			return err
		}
		if len(found) != databases {
			return fmt.Errorf("node %d has %d databases, not %d", id, len(found), databases)
		}
		for _, current := range found {
			if said, err := exec.Command(c.varve, "check", filepath.Dir(current)).CombinedOutput(); err != nil {
				return fmt.Errorf("varve check %s: %w: %s", filepath.Dir(current), err, said)
			}
		}
	}
	fmt.Printf("RESULT cometbft part=checked when=%s nodes=%d databases=%d\n", when, len(ids), databases*len(ids))
	return nil
}
