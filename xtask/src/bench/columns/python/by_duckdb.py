import duckdb, json, sys, time
task, store, memory, threads, *words = sys.argv[1:]
def opened(path, **options):
    base = duckdb.connect(path, **options)
    base.execute(f"SET memory_limit='{memory}B'")
    base.execute(f'SET threads={threads}')
    return base
def told(**figures):
    print(json.dumps(figures))
if task == 'load':
    csv, like = words
    began = time.perf_counter()
    base = opened(store)
    base.execute(f"CREATE TABLE flights AS FROM read_parquet('{like}') LIMIT 0")
    base.execute(f"""INSERT INTO flights BY NAME
        SELECT * EXCLUDE (Month, DayofMonth, UniqueCarrier), UniqueCarrier AS Airline,
            printf('%04d-%02d', Year, Month) AS Month, make_date(Year, Month, DayofMonth) AS FlightDate
        FROM read_csv('{csv}', nullstr='NA', header=true)""")
    base.execute('CHECKPOINT')
    base.close()
    told(seconds=time.perf_counter() - began)
elif task == 'sizes':
    base = opened(store)
    sizes = base.execute("SELECT column_name, 262144 * count(DISTINCT block_id) FROM pragma_storage_info('flights') WHERE persistent AND block_id >= 0 GROUP BY 1")
    told(columns=dict(sizes.fetchall()))
elif task == 'parquet':
    opened(store).execute(f"COPY flights TO '{words[0]}' (FORMAT parquet, COMPRESSION zstd)")
    sizes = duckdb.execute(f"SELECT path_in_schema, sum(total_compressed_size)::BIGINT FROM parquet_metadata('{words[0]}') GROUP BY 1")
    told(columns=dict(sizes.fetchall()))
else:
    names = ', '.join(words)
    began = time.perf_counter()
    if task == 'own':
        base, flights = opened(store, read_only=True), 'flights'
    else:
        base, flights = opened(':memory:'), f"read_parquet('{store}')"
    base.execute(f"SELECT {names}, count(*) AS count FROM {flights} GROUP BY {names}")
    rows = sum(batch.num_rows for batch in base.to_arrow_reader(1 << 16))
    told(seconds=time.perf_counter() - began, rows=rows)
