import json, sys, time
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext
folder, memory, threads, columns, where = sys.argv[1:]
began = time.perf_counter()
config = SessionConfig().with_target_partitions(int(threads)).set('datafusion.sql_parser.enable_ident_normalization', 'false')
base = SessionContext(config, RuntimeEnvBuilder().with_fair_spill_pool(int(memory)))
base.register_parquet('flights', folder)
names = ', '.join(f'"{name}"' for name in columns.split(','))
stream = base.sql(f'SELECT {names} FROM flights WHERE {where}').execute_stream()
rows = sum(batch.to_pyarrow().num_rows for batch in stream)
print(json.dumps({'seconds': time.perf_counter() - began, 'rows': rows}))
