import pyarrow, sys
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext
task, memory, threads, folder, result, *sources = sys.argv[1:]
runtime = RuntimeEnvBuilder().with_disk_manager_specified(folder).with_fair_spill_pool(int(memory))
config = SessionConfig().with_target_partitions(int(threads))
config = config.set('datafusion.optimizer.prefer_hash_join', str(task == 'join').lower())
base = SessionContext(config, runtime)
def table(name, path, columns, delimiter):
    schema = pyarrow.schema([(column, pyarrow.string()) for column in columns])
    base.register_csv(name, path, schema=schema, has_header=False, delimiter=delimiter, file_extension='')
if task == 'sort':
    table('t', sources[0], ['line'], chr(1))
    rows = 'SELECT line FROM t ORDER BY line'
    delimiter = chr(1)
else:
    for name, path in zip('lr', sources):
        table(name, path, ['key', 'rest'], ',')
    rows = 'SELECT l.key, l.rest, r.rest AS other FROM l JOIN r ON l.key = r.key'
    delimiter = ','
base.sql(f"COPY ({rows}) TO '{result}' STORED AS CSV OPTIONS ('format.has_header' 'false', 'format.delimiter' '{delimiter}')").collect()
