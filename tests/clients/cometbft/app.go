// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
)

// This file owns the application of a node: a table of names and values in cosmos-db.

// A transaction is NAME=VALUE, and NAME begins with namePrefix. The application's hash takes in the value that the name
// had, so that a node which reads something else than the others disagrees with them from that block on.
const (
	namePrefix = "key"
	pastNames  = "kez" // follows all names
	stateKey   = "state"
)

// execute does one transaction by get and set, and returns the hash that follows hash. An absent name has the value "".
func execute(hash, tx []byte, get func(string) (string, error), set func(name, value string)) ([]byte, error) {
	name, value, _ := strings.Cut(string(tx), "=")
	before, err := get(name)
	if err != nil {
		return nil, err
	}
	set(name, value)
	sum := sha256.Sum256(slices.Concat(hash, tx, []byte(before)))
	return sum[:], nil
}

// state says up to which block transactions were executed, and the hash that they led to.
type state struct {
	height int64
	hash   []byte
}

type application struct {
	abci.BaseApplication
	db        dbm.DB
	committed state
	next      state             // what Commit makes the committed state
	changed   map[string]string // by the block that was not committed yet
}

func openDatabase(folder string) (dbm.DB, error) {
	return dbm.NewDB("application", dbm.RocksDBBackend, folder)
}

// openApplication opens the state that the last committed block left.
func openApplication(folder string) (*application, error) {
	db, err := openDatabase(folder)
	if err != nil {
		return nil, err
	}
	stored, err := db.Get([]byte(stateKey))
	if err != nil {
		return nil, err
	}
	app := &application{db: db, committed: state{hash: []byte{}}, changed: map[string]string{}}
	if len(stored) >= 8 {
		app.committed = state{int64(binary.BigEndian.Uint64(stored)), stored[8:]}
	}
	app.next = app.committed
	return app, nil
}

func (app *application) stored(name string) (string, error) {
	value, err := app.db.Get([]byte(name))
	return string(value), err
}

func (app *application) Info(context.Context, *abci.RequestInfo) (*abci.ResponseInfo, error) {
	return &abci.ResponseInfo{LastBlockHeight: app.committed.height, LastBlockAppHash: app.committed.hash}, nil
}

// FinalizeBlock executes the transactions of a block, and writes nothing.
func (app *application) FinalizeBlock(
	_ context.Context, block *abci.RequestFinalizeBlock,
) (*abci.ResponseFinalizeBlock, error) {
	get := func(name string) (string, error) {
		if value, known := app.changed[name]; known {
			return value, nil
		}
		return app.stored(name)
	}
	set := func(name, value string) { app.changed[name] = value }
	clear(app.changed)
	app.next = state{block.Height, app.committed.hash}
	results := make([]*abci.ExecTxResult, len(block.Txs))
	for i, tx := range block.Txs {
		hash, err := execute(app.next.hash, tx, get, set)
		if err != nil {
			return nil, err
		}
		app.next.hash, results[i] = hash, &abci.ExecTxResult{}
	}
	return &abci.ResponseFinalizeBlock{TxResults: results, AppHash: app.next.hash}, nil
}

// Commit writes what the block changed, and its height and hash, in one batch with sync.
func (app *application) Commit(context.Context, *abci.RequestCommit) (*abci.ResponseCommit, error) {
	batch := app.db.NewBatch()
	defer batch.Close()
	for name, value := range app.changed {
		if err := batch.Set([]byte(name), []byte(value)); err != nil {
			return nil, err
		}
	}
	height := binary.BigEndian.AppendUint64(nil, uint64(app.next.height))
	if err := batch.Set([]byte(stateKey), append(height, app.next.hash...)); err != nil {
		return nil, err
	}
	if err := batch.WriteSync(); err != nil {
		return nil, err
	}
	app.committed = app.next
	return &abci.ResponseCommit{}, nil
}

// read returns the values of some names, each by a read of its own.
func (app *application) read(names []string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range names {
		value, err := app.stored(name)
		if err != nil {
			return nil, err
		}
		if value != "" {
			values[name] = value
		}
	}
	return values, nil
}

// scan returns the values of all names, by an iterator.
func (app *application) scan() (map[string]string, error) {
	values := map[string]string{}
	found, err := app.db.Iterator([]byte(namePrefix), []byte(pastNames))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for ; found.Valid(); found.Next() {
		values[string(found.Key())] = string(found.Value())
	}
	return values, found.Error()
}

// Query answers with JSON: by the path "read" the values of the names in its data, by any other one all values.
func (app *application) Query(_ context.Context, query *abci.RequestQuery) (*abci.ResponseQuery, error) {
	var values map[string]string
	var err error
	if query.Path == "read" {
		values, err = app.read(strings.Fields(string(query.Data)))
	} else {
		values, err = app.scan()
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(values)
	return &abci.ResponseQuery{Value: text}, err
}

// spoil flips a bit in the value of a name, or drops the name, and leaves the application's hash as it is.
func spoil(word, folder, fault, name string) error {
	id, err := idOf(word)
	if err != nil {
		return err
	}
	db, err := openDatabase(rooted(folder, id).DBDir())
	if err != nil {
		return err
	}
	defer db.Close()
	value, err := db.Get([]byte(name))
	if err != nil {
		return err
	}
	if len(value) == 0 {
		return fmt.Errorf("node %d has no %s", id, name)
	}
	switch fault {
	case "flip":
		value[len(value)-1] ^= 1
		return db.SetSync([]byte(name), value)
	case "drop":
		return db.DeleteSync([]byte(name))
	}
	return fmt.Errorf("%s is none of the faults flip and drop", fault)
}
