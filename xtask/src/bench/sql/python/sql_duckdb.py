import glob, json, os, sys, time
import duckdb
folder, memory, threads, spill, query = sys.argv[1:]
began = time.perf_counter()
base = duckdb.connect(':memory:')
base.execute(f"SET memory_limit='{memory}B'")
base.execute(f'SET threads={threads}')
base.execute(f"SET temp_directory='{spill}'")
for path in glob.glob(f'{folder}/*.parquet'):
    base.execute(f"CREATE VIEW {os.path.basename(path).removesuffix('.parquet')} AS SELECT * FROM '{path}'")
rows = len(base.execute(query).fetchall())
print(json.dumps({'seconds': time.perf_counter() - began, 'rows': rows}))
