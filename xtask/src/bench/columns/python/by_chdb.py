import json, sys, time
from chdb import session
task, store, memory, threads, *words = sys.argv[1:]
began = time.perf_counter()
base = session.Session(store)
settings = f'max_threads={threads}, max_memory_usage={memory}'
if task == 'load':
    base.query('CREATE DATABASE columns')
    base.query(f"CREATE TABLE columns.flights ENGINE = MergeTree ORDER BY tuple() AS SELECT * FROM file('{words[0]}', Parquet) SETTINGS max_threads=1, max_insert_threads=1, schema_inference_make_columns_nullable='auto'")
    base.query('OPTIMIZE TABLE columns.flights FINAL')
    rows = base.query("SELECT name, data_compressed_bytes FROM system.columns WHERE database = 'columns' AND table = 'flights'", 'JSONEachRow')
    columns = (json.loads(row) for row in str(rows).splitlines())
    print(json.dumps({'columns': {column['name']: int(column['data_compressed_bytes']) for column in columns}}))
else:
    names = ', '.join(words)
    result = base.send_query(f'SELECT {names}, count(*) AS count FROM columns.flights GROUP BY {names} SETTINGS {settings}, min_bytes_to_use_direct_io=1, max_bytes_before_external_group_by={int(memory) // 2}', 'Arrow')
    rows = sum(batch.num_rows for batch in result.record_batch(1 << 16))
    print(json.dumps({'seconds': time.perf_counter() - began, 'rows': rows}))
base.close()
