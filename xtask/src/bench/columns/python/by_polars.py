import json, os, sys, time
task, store, memory, threads, *words = sys.argv[1:]
os.environ['POLARS_MAX_THREADS'] = threads
import polars
began = time.perf_counter()
groups = polars.scan_parquet(store).group_by(words).len('count').collect(engine='streaming')
rows = groups.to_arrow().num_rows
print(json.dumps({'seconds': time.perf_counter() - began, 'rows': rows}))
