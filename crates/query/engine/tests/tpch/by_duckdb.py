"""Answers queries by DuckDB: a line of JSON for each, its rows as lists. What DuckDB computes as floating point is a number there, all else text."""

import glob
import json
import os
import sys

import duckdb

folder, queries = sys.argv[1], sys.argv[2:]
connection = duckdb.connect()
for path in sorted(glob.glob(f"{folder}/*.parquet")):
    table = os.path.basename(path).removesuffix(".parquet")
    connection.execute(f"CREATE VIEW {table} AS SELECT * FROM '{path}'")


def cell(value):
    return value if value is None or isinstance(value, float) else str(value)


for query in queries:
    rows = connection.execute(query).fetchall()
    print(json.dumps([[cell(value) for value in row] for row in rows]))
