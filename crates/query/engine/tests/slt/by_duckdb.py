"""Answers statements by DuckDB: each is a JSON string on a line of standard input, and its answer an object on a line of output. Tables are folders of
Parquet files. Two settings bring the dialect nearer to PostgreSQL's: whole numbers are divided to whole numbers, and nulls are greatest."""

import datetime
import json
import os
import sys

import duckdb

folder = sys.argv[1]
connection = duckdb.connect()
connection.execute("SET threads = 1")
connection.execute("SET integer_division = true")
connection.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
for name in sorted(os.listdir(folder)):
    connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder}/{name}/*.parquet'")


def kind(column):
    """I for a whole number, F for floating point, D for a decimal, T for all else."""
    name = str(column)
    if name.startswith("DECIMAL"):
        return "D"
    if name in ("FLOAT", "DOUBLE"):
        return "F"
    return "I" if name.endswith("INT") or name == "INTEGER" or name in ("UINTEGER", "INT128") else "T"


def cell(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        text = value.isoformat()
        return text.rstrip("0") if value.microsecond else text
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def answer(statement):
    try:
        relation = connection.sql(statement)
        if relation is None:
            return {"kinds": "", "rows": []}
        kinds = "".join(kind(column) for column in relation.types)
        return {"kinds": kinds, "rows": [[cell(value) for value in row] for row in relation.fetchall()]}
    except duckdb.Error as error:
        return {"error": str(error)}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
