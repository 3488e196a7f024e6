import json, sys, time
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext
task, store, memory, threads, *words = sys.argv[1:]
began = time.perf_counter()
config = SessionConfig().with_target_partitions(int(threads))
base = SessionContext(config, RuntimeEnvBuilder().with_fair_spill_pool(int(memory)))
base.register_parquet('flights', store)
names = ', '.join(f'"{word}"' for word in words)
stream = base.sql(f'SELECT {names}, count(*) AS "count" FROM flights GROUP BY {names}').execute_stream()
rows = sum(batch.to_pyarrow().num_rows for batch in stream)
print(json.dumps({'seconds': time.perf_counter() - began, 'rows': rows}))
