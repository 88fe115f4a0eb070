// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/node"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/privval"
	"github.com/cometbft/cometbft/proxy"
	"github.com/cometbft/cometbft/types"
)

// This file owns a node: its folder, its configuration, and its process from within.

const validators = 4 // their ids are 1, 2, 3, 4

func home(folder string, id int) string { return filepath.Join(folder, fmt.Sprintf("node%d", id)) }

func idOf(word string) (int, error) {
	id, err := strconv.Atoi(word)
	if err != nil || id < 1 || id > validators {
		return 0, fmt.Errorf("%s is no node; they are 1 to %d", word, validators)
	}
	return id, nil
}

// rooted returns the default configuration in a node's folder.
func rooted(folder string, id int) *config.Config {
	return config.DefaultConfig().SetRoot(home(folder, id))
}

// configure returns the configuration of a node. The addresses are those that the nodes have for each other, and then
// those that they have for clients.
func configure(folder string, id int, addresses []string) *config.Config {
	c := rooted(folder, id)
	c.DBBackend = "rocksdb"
	c.P2P.ListenAddress = "tcp://" + addresses[id-1]
	c.RPC.ListenAddress = "tcp://" + addresses[validators+id-1]
	c.P2P.AddrBookStrict, c.P2P.AllowDuplicateIP, c.P2P.PexReactor = false, true, false
	c.Consensus.TimeoutPropose, c.Consensus.TimeoutProposeDelta = time.Second, 200*time.Millisecond
	c.Consensus.TimeoutCommit = 100 * time.Millisecond
	return c
}

// makeNode makes a node's folder and keys, and returns what the genesis says of it.
func makeNode(folder string, id int) (types.GenesisValidator, error) {
	c := rooted(folder, id)
	for _, name := range []string{"config", "data"} {
		if err := os.MkdirAll(filepath.Join(c.RootDir, name), 0o755); err != nil {
			return types.GenesisValidator{}, err
		}
	}
	validator := privval.GenFilePV(c.PrivValidatorKeyFile(), c.PrivValidatorStateFile())
	validator.Save()
	if _, err := p2p.LoadOrGenNodeKey(c.NodeKeyFile()); err != nil {
		return types.GenesisValidator{}, err
	}
	key, err := validator.GetPubKey()
	if err != nil {
		return types.GenesisValidator{}, err
	}
	return types.GenesisValidator{Address: key.Address(), PubKey: key, Power: 1, Name: strconv.Itoa(id)}, nil
}

// makeChain makes the folders and keys of all nodes, and the genesis that they share.
func makeChain(folder string) error {
	genesis := types.GenesisDoc{
		ChainID: "varve", ConsensusParams: types.DefaultConsensusParams(), GenesisTime: time.Now(), InitialHeight: 1,
	}
	for id := 1; id <= validators; id++ {
		validator, err := makeNode(folder, id)
		if err != nil {
			return err
		}
		genesis.Validators = append(genesis.Validators, validator)
	}
	for id := 1; id <= validators; id++ {
		if err := genesis.SaveAs(rooted(folder, id).GenesisFile()); err != nil {
			return err
		}
	}
	return nil
}

// peers names the other nodes as CometBFT wants it.
func peers(folder string, id int, addresses []string) (string, error) {
	var others []string
	for other := 1; other <= validators; other++ {
		key, err := p2p.LoadNodeKey(rooted(folder, other).NodeKeyFile())
		if err != nil {
			return "", err
		}
		if other != id {
			others = append(others, p2p.IDAddressString(key.ID(), addresses[other-1]))
		}
	}
	return strings.Join(others, ","), nil
}

// runNode is one node until it is killed, or until the process that started it has ended.
func runNode(word, folder string, addresses []string) error {
	id, err := idOf(word)
	if err != nil {
		return err
	}
	c := configure(folder, id, addresses)
	if c.P2P.PersistentPeers, err = peers(folder, id, addresses); err != nil {
		return err
	}
	app, err := openApplication(c.DBDir())
	if err != nil {
		return err
	}
	key, err := p2p.LoadNodeKey(c.NodeKeyFile())
	if err != nil {
		return err
	}
	logger := log.NewFilter(log.NewTMLogger(log.NewSyncWriter(os.Stderr)), log.AllowError())
	n, err := node.NewNode(c, privval.LoadFilePV(c.PrivValidatorKeyFile(), c.PrivValidatorStateFile()), key,
		proxy.NewLocalClientCreator(app), node.DefaultGenesisDocProviderFunc(c), config.DefaultDBProvider,
		node.DefaultMetricsProvider(c.Instrumentation), logger)
	if err != nil {
		return err
	}
	if err := n.Start(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
