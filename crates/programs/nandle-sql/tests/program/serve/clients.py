"""What tests ask of psycopg: `clients.py PART PORT`, or `clients.py write FILE` for a file of all types."""

import datetime
import decimal
import math
import sys
import threading
import time

ENDLESS = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.id + b.id + c.id = 1"
UTC = datetime.timezone.utc

# name, type, two values; a third row is null
COLUMNS = [
    ("b", "bool_", [True, False]),
    ("i8", "int8", [-128, 127]),
    ("i16", "int16", [-32768, 32767]),
    ("i32", "int32", [-(2**31), 2**31 - 1]),
    ("i64", "int64", [-(2**63), 2**63 - 1]),
    ("u8", "uint8", [0, 255]),
    ("u16", "uint16", [0, 65535]),
    ("u32", "uint32", [0, 2**32 - 1]),
    ("u64", "uint64", [0, 2**64 - 1]),
    ("f32", "float32", [1.5, -0.25]),
    ("f64", "float64", [0.1, 1e300]),
    ("d", "decimal", [decimal.Decimal("-12345.67"), decimal.Decimal("0.01")]),
    ("day", "date32", [datetime.date(1987, 10, 1), datetime.date(2038, 1, 20)]),
    ("at", "timestamp", [datetime.datetime(1999, 12, 31, 23, 59, 59, 999999), datetime.datetime(1969, 7, 20)]),
    ("atz", "timestamptz", [datetime.datetime(2008, 2, 29, 12, tzinfo=UTC), datetime.datetime(1970, 1, 1, tzinfo=UTC)]),
    ("clock", "time64", [datetime.time(0, 0, 1), datetime.time(23, 59, 59, 999999)]),
    ("t", "string", ["", "ünïcode 🛫 'quoted' \\ and\nlines"]),
    ("big", "large_string", ["a", "b" * 70_000]),
    ("y", "binary", [b"", bytes(range(256))]),
    ("fixed", "fixed", [b"abcd", b"\x00\xff\x00\xff"]),
    ("l", "list", [[1, 2, None], []]),
    ("code", "dictionary", ["IAH", "HOU"]),
    ("ll", "lists", [[[1, 2], [3]], [[], None]]),
    ("m", "map", [{"a": [1], "b": None}, {}]),
]


def write(path):
    import pyarrow
    import pyarrow.parquet

    own = {
        "decimal": pyarrow.decimal128(12, 2),
        "timestamp": pyarrow.timestamp("us"),
        "timestamptz": pyarrow.timestamp("us", "UTC"),
        "time64": pyarrow.time64("us"),
        "fixed": pyarrow.binary(4),
        "list": pyarrow.list_(pyarrow.int64()),
        "dictionary": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
        "lists": pyarrow.list_(pyarrow.list_(pyarrow.int64())),
        "map": pyarrow.map_(pyarrow.string(), pyarrow.list_(pyarrow.int64())),
    }
    arrays = {}
    for name, type_, values in COLUMNS:
        if type_ == "map":
            values = [list(value.items()) for value in values]
        arrays[name] = pyarrow.array([*values, None], own.get(type_) or getattr(pyarrow, type_)())
    arrays["row"] = pyarrow.array([0, 1, 2])
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)


def connect(port, **options):
    import psycopg

    return psycopg.connect(host="127.0.0.1", port=port, user="anybody", dbname="nandle", autocommit=True, **options)


def is_same(name, got, expected):
    if isinstance(expected, float) and got is not None:
        return math.isclose(got, expected, rel_tol=1e-12)
    return got == expected and type(got) is type(expected) or name.startswith("u64") and got == expected


def types(port):
    with connect(port) as connection:
        for binary in (False, True):
            for name, _, values in COLUMNS:
                if binary and name == "clock":
                    pass
                rows = connection.execute(f"SELECT {name} FROM types ORDER BY row", binary=binary).fetchall()
                for got, expected in zip(rows, [*values, None], strict=True):
                    assert is_same(name, got[0], expected), (binary, name, got[0], expected)
        cursor = connection.execute("SELECT * FROM types WHERE row = 9")
        assert cursor.fetchall() == [] and len(cursor.description) == len(COLUMNS) + 1
        assert [column.name for column in cursor.description][:2] == ["b", "i8"]
        json = 114
        assert [column.name for column in cursor.description if column.type_code == json] == ["ll", "m"]


def prepared(port):
    with connect(port) as connection:
        for form in ("%s", "%b", "%t"):
            for name, _, values in COLUMNS:
                if name in ("l", "ll", "m", "f64", "u64"):
                    continue
                # The driver has no binary form of whole numbers and texts for which none is needed.
                query = f"SELECT row FROM types WHERE {name} = {form}"
                for row, value in enumerate(values):
                    for _ in range(2):
                        found = connection.execute(query, [value], prepare=True).fetchall()
                        assert found == [(row,)], (form, name, value, found)
        # Its third use is by a statement that has a name on the server.
        for row in range(20):
            assert connection.execute("SELECT id FROM numbers WHERE id = %s", [row + 1]).fetchone() == (row + 1,)
        several = "SELECT %s::int + 1, %s::text, %s::date, count(*) FROM numbers WHERE id BETWEEN %s AND %s AND note LIKE %s"
        day = datetime.date(2008, 1, 2)
        assert connection.execute(several, [41, "x", day, 10, 20, "note 1%"]).fetchone() == (42, "x", day, 10)
        assert connection.execute("SELECT %s IS NULL", [None]).fetchone() == (True,)
        assert connection.execute("SELECT id FROM numbers ORDER BY id LIMIT %s", [2]).fetchall() == [(1,), (2,)]
        found = connection.execute("SELECT id FROM numbers WHERE id IN (%s, %s) ORDER BY id", [3, 4]).fetchall()
        assert found == [(3,), (4,)]


def cursors(port):
    with connect(port) as connection:
        connection.autocommit = False
        with connection.cursor("steps") as cursor:
            cursor.execute("SELECT id FROM numbers WHERE id > %s ORDER BY id", [10])
            assert cursor.fetchone() == (11,)
            assert cursor.fetchmany(3) == [(12,), (13,), (14,)]
            assert len(cursor.fetchall()) == 4986
            assert cursor.fetchall() == []
        with connection.cursor("early") as cursor:
            cursor.itersize = 100
            cursor.execute("SELECT a.id FROM numbers a, numbers b")
            for number, _ in enumerate(cursor):
                if number == 250:
                    break
        connection.rollback()
        connection.autocommit = True
        streamed = connection.cursor().stream("SELECT id FROM numbers")
        assert sum(row[0] for row in streamed) == 12_502_500


def transactions(port):
    import psycopg

    with connect(port) as connection:
        connection.autocommit = False
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        try:
            connection.execute("SELECT nothing FROM numbers")
            raise AssertionError("there is no such column")
        except psycopg.errors.UndefinedColumn:
            pass
        try:
            connection.execute("SELECT 1")
            raise AssertionError("the transaction has failed")
        except psycopg.errors.InFailedSqlTransaction:
            pass
        connection.rollback()
        with connection.transaction():
            try:
                with connection.transaction():
                    connection.execute("SELECT 1 / 0")
            except psycopg.errors.DivisionByZero:
                pass
            assert connection.execute("SELECT 2").fetchone() == (2,)
        connection.commit()


def errors(port):
    import psycopg

    with connect(port) as connection:
        for query, values, error in [
            ("SELEC 1", None, psycopg.errors.SyntaxError),
            ("SELECT * FROM nowhere", None, psycopg.errors.UndefinedTable),
            ("SELECT nothing FROM numbers WHERE id = %s", [1], psycopg.errors.UndefinedColumn),
            ("SELECT 1 / (id - %s) FROM numbers", [1], psycopg.errors.DivisionByZero),
            ("SELECT id FROM numbers WHERE id = %s", ["x"], psycopg.errors.InvalidTextRepresentation),
            ("COPY numbers TO STDOUT", None, psycopg.Error),
            ("INSERT INTO numbers VALUES (%s, %s)", [1, "x"], psycopg.errors.ReadOnlySqlTransaction),
            ("SELECT repeat('x', 100)::int FROM numbers", None, psycopg.errors.InvalidTextRepresentation),
        ]:
            try:
                connection.execute(query, values).fetchall()
                raise AssertionError(query)
            except error as caught:
                assert caught.diag.message_primary, query
            # A named statement that fails leaves the connection as it was.
            assert connection.execute("SELECT count(*) FROM numbers", prepare=True).fetchone() == (5000,)


def cancel(port):
    import psycopg

    with connect(port) as connection:
        timer = threading.Timer(0.5, connection.cancel_safe)
        timer.start()
        try:
            connection.execute(ENDLESS)
            raise AssertionError("it has no end")
        except psycopg.errors.QueryCanceled:
            pass
        timer.join()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def together(port):
    failures = []

    def ask(number):
        try:
            with connect(port) as connection:
                if number % 2:
                    connection.execute("SET nandle.reads = 'whole-group'")
                for _ in range(10):
                    count = connection.execute("SELECT count(*), max(note) FROM numbers WHERE id > %s", [number]).fetchone()
                    assert count == (5000 - number, "note 999"), count
                reads = connection.execute("SHOW nandle.reads").fetchone()
                assert reads == ("whole-group" if number % 2 else "flexible",), reads
        except Exception as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=ask, args=[number]) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def queue(port):
    import psycopg

    connections = [connect(port) for _ in range(66)]
    ended = []

    def ask(connection):
        # The last connection's own question may have a place of the queue at the moment: then one asks again.
        while True:
            try:
                connection.execute(ENDLESS)
            except psycopg.errors.TooManyConnections:
                time.sleep(0.05)
            except psycopg.Error as error:
                ended.append(error.sqlstate)
                return

    threads = []
    for connection in connections[:65]:
        threads.append(threading.Thread(target=ask, args=[connection]))
        threads[-1].start()
    # One runs and 64 wait: the next one is refused, as soon as all are there.
    for _ in range(600):
        try:
            connections[65].execute("SET statement_timeout = '100ms'")
            connections[65].execute("SELECT count(*) FROM numbers")
            time.sleep(0.1)
        except psycopg.errors.TooManyConnections:
            break
        except psycopg.errors.QueryCanceled:
            time.sleep(0.1)
    else:
        raise AssertionError("the queue was never full")
    for connection in connections[:65]:
        connection.cancel_safe()
    for thread in threads:
        thread.join()
    assert ended == ["57014"] * 65, ended
    connections[65].execute("RESET statement_timeout")
    assert connections[65].execute("SELECT count(*) FROM numbers").fetchone() == (5000,)


if __name__ == "__main__":
    part, argument = sys.argv[1:]
    globals()[part](argument)
