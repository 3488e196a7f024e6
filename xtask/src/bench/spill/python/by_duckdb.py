import duckdb, sys
task, memory, threads, folder, result, *sources = sys.argv[1:]
base = duckdb.connect()
base.execute(f"SET memory_limit='{memory}B'")
base.execute(f"SET temp_directory='{folder}'")
base.execute('SET preserve_insertion_order=false')
base.execute(f'SET threads={threads}')
def table(path, columns, delimiter):
    return f"read_csv('{path}', header=false, columns={columns}, delim='{delimiter}', quote='', escape='', auto_detect=false)"
if task == 'sort':
    rows = f"SELECT line FROM {table(sources[0], {'line': 'VARCHAR'}, chr(1))} ORDER BY line"
    delimiter = chr(1)
else:
    left, right = (table(path, {'key': 'VARCHAR', 'rest': 'VARCHAR'}, ',') for path in sources)
    rows = f'SELECT l.key, l.rest, r.rest FROM {left} l JOIN {right} r ON l.key = r.key'
    delimiter = ','
base.execute(f"COPY ({rows}) TO '{result}' (FORMAT csv, HEADER false, QUOTE '', DELIMITER '{delimiter}')")
