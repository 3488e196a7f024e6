//! Received plans on a host.

use std::sync::Arc;

use datafusion::config::ConfigOptions;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::ObjectStoreExt as _;
use datafusion::object_store::path::Path;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use nandle_engine::{ErrorKind, Host};

use crate::support::Place;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Plan of another engine with a file that the host doesn't have.
fn planned(place: &Place, statement: &str) -> Arc<dyn ExecutionPlan> {
    block_on(async {
        let context = SessionContext::new();
        let file = place.path("rows/0.parquet").display().to_string();
        context.register_parquet("file", &file, ParquetReadOptions::default()).await.unwrap();
        context.sql(statement).await.unwrap().create_physical_plan().await.unwrap()
    })
}

fn host(place: &Place) -> Host {
    place.engine(&["rows"]).into_host()
}

#[test]
fn a_plan_writes_nothing() {
    let place = Place::with_files();
    let host = host(&place);
    for ending in ["csv", "json", "parquet"] {
        let path = place.path(&format!("written.{ending}"));
        let copy = format!("COPY (SELECT 1 AS one) TO '{}' STORED AS {ending}", path.display());
        let error = host.plan(planned(&place, &copy), &ConfigOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains("DataSinkExec"), "{error}");
        assert!(!path.exists());
    }
}

#[test]
fn a_plan_reads_tables_alone() {
    let place = Place::with_files();
    let host = host(&place);
    let plan = |statement: &str| host.plan(planned(&place, statement), &ConfigOptions::default());
    let error = plan("SELECT id FROM file").unwrap_err().to_string();
    assert!(error.contains("only tables are read here"), "{error}");
    for computed in ["SELECT 1", "SELECT sum(n) FROM (VALUES (1), (2)) AS v(n) GROUP BY n ORDER BY 1 LIMIT 1"]
    {
        plan(computed).unwrap();
    }
    let files = host.runtime().object_store(ObjectStoreUrl::local_filesystem()).unwrap();
    let file = Path::from_filesystem_path(place.path("rows/0.parquet")).unwrap();
    assert!(block_on(files.head(&file)).is_err(), "there are no files for a plan");
}
