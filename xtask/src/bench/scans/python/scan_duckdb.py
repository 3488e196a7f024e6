import duckdb, json, sys, time
folder, memory, threads, columns, where = sys.argv[1:]
began = time.perf_counter()
base = duckdb.connect(':memory:')
base.execute(f"SET memory_limit='{memory}B'")
base.execute(f'SET threads={threads}')
base.execute(f"SELECT {columns} FROM read_parquet('{folder}/*.parquet') WHERE {where}")
rows = sum(batch.num_rows for batch in base.to_arrow_reader(1 << 16))
print(json.dumps({'seconds': time.perf_counter() - began, 'rows': rows}))
