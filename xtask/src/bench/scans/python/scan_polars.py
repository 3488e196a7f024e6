import os, sys
folder, memory, threads, columns, where = sys.argv[1:]
os.environ['POLARS_MAX_THREADS'] = threads
import json, time
import polars
began = time.perf_counter()
context = polars.SQLContext(flights=polars.scan_parquet(f'{folder}/*.parquet'))
rows = context.execute(f'SELECT {columns} FROM flights WHERE {where}').collect(engine='streaming').to_arrow().num_rows
print(json.dumps({'seconds': time.perf_counter() - began, 'rows': rows}))
