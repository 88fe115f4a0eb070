# SPDX-License-Identifier: Apache-2.0
"""Goal: transactions of both kinds are whole or nothing, find conflicts, and raise exceptions when they are misused. Method:
two transactions, or a transaction and a plain write, at the same keys; threads that move sums between accounts, of which none
may be lost; objects that are used after the end of their transaction or database."""
import gc
import random
import threading
import time

from python_package import path, raises
import varve

KINDS = ("optimistic", "pessimistic")


def both(test):
    """Runs a test with a database of each kind."""
    def run():
        for kind in KINDS:
            with varve.open(path(test.__name__ + kind), transactions=kind, options="merge_operator=stringappend") as db:
                test(db, kind)

    return run


@both
def test_transaction(db, _):
    db.create_family("two")
    db.put(b"k", b"0")
    with db.transaction() as transaction:
        transaction.put(b"k", b"1")
        transaction.put(b"l", b"2", family="two")
        transaction.merge(b"m", b"x")
        transaction.merge(b"m", b"y")
        assert transaction.get(b"k") == b"1" and db.get(b"k") == b"0"
        assert transaction.get(b"l", family="two") == b"2" and db.get(b"l", family="two") is None
        assert transaction.get(b"m") == b"x,y" and transaction.get(b"absent") is None
        transaction.put(b"e", b"")
        assert transaction.get(b"e") == b""
    assert db.get(b"k") == b"1" and db.get(b"l", family="two") == b"2" and db.get(b"m") == b"x,y"
    try:
        with db.transaction() as transaction:
            transaction.delete(b"k")
            assert transaction.get(b"k") is None
            raise LookupError
    except LookupError:
        pass
    assert db.get(b"k") == b"1"
    transaction = db.transaction(sync=True)
    transaction.put(b"k", b"3")
    transaction.rollback()
    with db.transaction() as transaction:
        transaction.put(b"k", b"4")
        transaction.commit()
    assert db.get(b"k") == b"4"
    with db.transaction() as transaction:
        transaction.put(b"k", b"5")
        transaction.rollback()
    del transaction
    assert db.get(b"k") == b"4"


@both
def test_savepoints(db, _):
    with db.transaction() as transaction:
        transaction.put(b"a", b"1")
        transaction.savepoint()
        transaction.put(b"a", b"2")
        transaction.savepoint()
        transaction.put(b"b", b"3")
        transaction.rollback_to_savepoint()
        assert transaction.get(b"a") == b"2" and transaction.get(b"b") is None
        transaction.rollback_to_savepoint()
        assert transaction.get(b"a") == b"1"
        raises(varve.NotFoundError, transaction.rollback_to_savepoint)
    assert list(db.iterate()) == [(b"a", b"1")]


@both
def test_iteration(db, _):
    model = {b"%04d" % i: b"v" for i in range(0, 5000, 2)}
    with db.batch() as batch:
        for key, value in model.items():
            batch.put(key, value)
    with db.transaction() as transaction:
        for i in range(0, 5000, 3):
            key = b"%04d" % i
            if i % 2:
                model[key] = b"w"
                transaction.put(key, b"w")
            else:
                del model[key]
                transaction.delete(key)
        entries = sorted(model.items())
        assert list(transaction.iterate()) == entries
        assert list(transaction.iterate(reverse=True)) == entries[::-1]
        assert list(transaction.iterate(prefix=b"01")) == [one for one in entries if one[0].startswith(b"01")]
        assert list(transaction.iterate(start=b"0100", end=b"02")) == [one for one in entries if b"0100" <= one[0] < b"02"]
        assert len(list(db.iterate())) == 2500
        half = transaction.iterate()
        next(half)
        for key, _value in transaction.iterate():
            transaction.delete(key)
        assert not list(transaction.iterate())
        half.close()
        raises(StopIteration, next, half)
    assert not list(db.iterate())


@both
def test_conflicts(db, kind):
    """A key that was got for update, or written, is not changed by others before the end."""
    db.put(b"k", b"0")
    first = db.transaction()
    assert first.get_for_update(b"k") == b"0" and first.get_for_update(b"absent") is None
    if kind == "pessimistic":
        second = db.transaction(lock_timeout=0.05)
        raises(varve.TimedOutError, second.put, b"k", b"2")
        raises(TimeoutError, second.get_for_update, b"absent")
        raises(varve.TimedOutError, db.put, b"k", b"2")
        raises(varve.TimedOutError, db.delete, b"k")
        raises(varve.TimedOutError, db.delete_range, b"a", b"z")
        batch = db.batch()
        batch.put(b"k", b"3")
        raises(varve.TimedOutError, db.write, batch)
        raises(varve.TimedOutError, db.merge, b"k", b"3")
        first.put(b"k", b"1")
        first.commit()
        second.put(b"k", b"2")
        second.commit()
        assert db.get(b"k") == b"2"
    else:
        raises(ValueError, db.transaction, lock_timeout=1)
        raises(ValueError, db.transaction, deadlock_detect=True)
        db.put(b"k", b"2")
        first.put(b"k", b"1")
        raises(varve.BusyError, first.commit)
        raises(varve.BusyError, first.commit)
        first.rollback()
        with_block = []
        try:
            with db.transaction() as second:
                second.put(b"k", b"4")
                db.delete(b"k")
                with_block.append(second)
        except varve.BusyError:
            raises(varve.ClosedError, with_block[0].get, b"k")
        else:
            raise AssertionError("the commit must fail")
        assert db.get(b"k") is None


@both
def test_transaction_snapshots(db, kind):
    db.put(b"k", b"0")
    transaction = db.transaction(snapshot=True)
    db.put(b"k", b"1")
    db.put(b"l", b"1")
    assert transaction.get(b"k") == b"0" and list(transaction.iterate()) == [(b"k", b"0")]
    if kind == "pessimistic":
        raises(varve.BusyError, transaction.put, b"k", b"2")
        raises(varve.BusyError, transaction.get_for_update, b"k")
        transaction.rollback()
    else:
        transaction.put(b"k", b"2")
        raises(varve.BusyError, transaction.commit)
        transaction.close()
    assert db.get(b"k") == b"1"


def test_shared_and_deadlocked():
    with varve.open(path("deadlock"), transactions="pessimistic") as db:
        first, second = db.transaction(lock_timeout=0.05), db.transaction(lock_timeout=0.05)
        first.get_for_update(b"k", exclusive=False)
        second.get_for_update(b"k", exclusive=False)
        raises(varve.TimedOutError, second.put, b"k", b"v")
        first.close()
        second.put(b"k", b"v")
        second.close()
        first, second = (db.transaction(lock_timeout=20, deadlock_detect=True) for _ in range(2))
        first.put(b"a", b"1")
        second.put(b"b", b"2")
        failures = []

        def wait():
            try:
                first.put(b"b", b"1")
            except varve.BusyError as error:
                failures.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.1)
        try:
            second.put(b"a", b"2")
        except varve.BusyError as error:
            failures.append(error)
        second.close()
        thread.join(30)
        assert len(failures) == 1 and "Deadlock" in str(failures[0]), failures
        first.close()


@both
def test_rest_of_a_database(db, kind):
    """A database with transactions does what others do."""
    db.put(b"a", b"1", sync=True)
    db.merge(b"a", b"2")
    with db.batch() as batch:
        batch.put(b"b", b"3")
        batch.delete_range(b"c", b"d")
    snapshot = db.snapshot()
    db.delete_range(b"b", b"c")
    assert db.get(b"b", snapshot=snapshot) == b"3" and list(db.iterate()) == [(b"a", b"1,2")]
    db.create_family("two")
    db.put(b"k", b"v", family="two")
    db.drop_family("two")
    with db.transaction() as transaction:
        raises(varve.InvalidArgumentError, transaction.put, b"k", b"v", family="two")
    db.flush()
    db.compact()
    db.checkpoint(path(kind + " copy"))
    assert "varve_user_writes_total" in db.metrics() and db.property("rocksdb.stats")
    with varve.open(path(kind + " copy"), options="merge_operator=stringappend") as copy:
        assert copy.get(b"a") == b"1,2"


def test_operators_in_transactions():
    """Operators written in Python run in transactions, and raise there."""
    def full(key, value, operands):
        if key == b"bad":
            raise ValueError("refused")
        return (value or b"") + b"".join(operands)

    for kind in KINDS:
        operator = varve.MergeOperator("o", full)
        with varve.open(path("operators " + kind), transactions=kind, merge_operator=operator) as db:
            db.put(b"k", b"1")
            with db.transaction() as transaction:
                transaction.merge(b"k", b"2")
                transaction.merge(b"bad", b"2")
                assert transaction.get(b"k") == transaction.get_for_update(b"k") == b"12"
                assert "refused" in raises(varve.MergeError, transaction.get, b"bad")
                assert "refused" in raises(varve.MergeError, list, transaction.iterate())
            assert db.get(b"k") == b"12"
            assert "refused" in raises(varve.MergeError, db.get, b"bad")


@both
def test_transaction_misuse(db, kind):
    db.put(b"k", b"v")
    transaction = db.transaction()
    for wrong in ("text", None, 7):
        raises(TypeError, transaction.get, wrong)
        raises(TypeError, transaction.get_for_update, wrong)
        raises(TypeError, transaction.put, b"k", wrong)
        raises(TypeError, transaction.merge, wrong, b"v")
        raises(TypeError, transaction.delete, wrong)
        raises(TypeError, db.write, wrong)
    raises(TypeError, db.write, transaction)
    raises(TypeError, db.get, b"k", snapshot=transaction)
    raises(KeyError, transaction.get, b"k", family="absent")
    raises(KeyError, transaction.iterate, family="absent")
    raises(ValueError, transaction.iterate, prefix=b"a", end=b"b")
    for wrong in ("1", b"1", []):
        raises(TypeError, db.transaction, lock_timeout=wrong)
    for wrong in (-1, 1e300, float("nan")):
        raises((ValueError, OverflowError), db.transaction, lock_timeout=wrong)
    entries, fetched = transaction.iterate(), transaction.iterate()
    transaction.savepoint()
    fetched.block()
    transaction.rollback_to_savepoint()
    raises(varve.ClosedError, entries.block)
    entries.close()
    entries = transaction.iterate()
    transaction.commit()
    raises(varve.ClosedError, entries.block)
    raises(varve.ClosedError, list, entries)
    for call in (lambda: transaction.get(b"k"), lambda: transaction.put(b"k", b"v"), transaction.commit, transaction.rollback,
                 transaction.savepoint, transaction.rollback_to_savepoint, transaction.iterate,
                 lambda: transaction.get_for_update(b"k"), lambda: transaction.delete(b"k")):
        raises(varve.ClosedError, call)
    transaction.close()
    transaction.close()
    kept = db.transaction().iterate()  # The iteration keeps its transaction.
    gc.collect()
    assert list(kept) == [(b"k", b"v")]
    with varve.open(path(kind + " plain")) as plain:
        raises(varve.NotSupportedError, plain.transaction)
    raises(ValueError, varve.open, path(kind + " plain"), transactions=kind, read_only=True)
    open_ones = [db.transaction() for _ in range(5)]
    for i, one in enumerate(open_ones):
        one.put(b"%d" % i, b"v")
    entries = open_ones[0].iterate()
    db.close()
    raises(varve.ClosedError, db.transaction)
    for one in open_ones:
        raises(varve.ClosedError, one.get, b"k")
        raises(varve.ClosedError, one.commit)
        raises(varve.ClosedError, one.__exit__, None, None, None)
        one.close()
    raises(varve.ClosedError, entries.block)
    with varve.open(path("test_transaction_misuse" + kind), transactions=kind, options="merge_operator=stringappend") as db:
        assert list(db.iterate()) == [(b"k", b"v")]


def transfer(db, accounts):
    """Moves one from an account to another. Returns False if another transaction was in the way."""
    source, target = random.sample(range(accounts), 2)
    try:
        with db.transaction() as transaction:
            values = [int(transaction.get_for_update(b"%d" % account)) for account in (source, target)]
            transaction.put(b"%d" % source, b"%d" % (values[0] - 1))
            transaction.put(b"%d" % target, b"%d" % (values[1] + 1))
        return True
    except (varve.BusyError, varve.TimedOutError):
        return False


@both
def test_transaction_threads(db, kind):
    """Threads move sums while others read them all; at the end one closes the database beneath them."""
    accounts = 8
    for account in range(accounts):
        db.put(b"%d" % account, b"100")
    moved, failures = [], []

    def move():
        try:
            while True:
                if transfer(db, accounts):
                    moved.append(1)
        except varve.ClosedError:
            pass
        except BaseException as error:
            failures.append(error)

    def check():
        try:
            while True:
                with db.transaction(snapshot=True) as transaction:
                    values = [int(value) for _, value in transaction.iterate()]
                    assert len(values) == accounts and sum(values) == 100 * accounts, values
        except varve.ClosedError:
            pass
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=target) for target in (move, move, move, check)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 30
    while len(moved) < 200 and not failures and time.monotonic() < until:
        time.sleep(0.01)
    db.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not failures and len(moved) >= 20, (failures, len(moved))
    with varve.open(path("test_transaction_threads" + kind), transactions=kind, options="merge_operator=stringappend") as again:
        assert sum(int(value) for _, value in again.iterate()) == 100 * accounts
