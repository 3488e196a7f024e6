//! Files of the page, embedded in the program and served unchanged.

/// File of the page.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Path in an address.
    pub path: &'static str,
    /// Media type.
    pub content_type: &'static str,
    /// Content.
    pub text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

macro_rules! page {
    ($($path:literal $kind:ident $file:literal,)*) => {
        const ASSETS: &[Asset] = &[$(Asset { path: $path, content_type: $kind, text: include_str!($file) },)*];
    };
}

// The plotting library and its licence exist once in the workspace, in the report crate.
page! {
    "/" HTML "../assets/index.html",
    "/assets/dashboard.css" CSS "../assets/dashboard.css",
    "/assets/uplot.css" CSS "../../report/assets/uplot/uPlot.min.css",
    "/assets/uplot.js" SCRIPT "../../report/assets/uplot/uPlot.iife.min.js",
    "/assets/uplot-licence.txt" TEXT "../../report/assets/uplot/LICENSE",
    "/assets/js/main.js" SCRIPT "../assets/js/main.js",
    "/assets/js/address.js" SCRIPT "../assets/js/address.js",
    "/assets/js/ask.js" SCRIPT "../assets/js/ask.js",
    "/assets/js/words.js" SCRIPT "../assets/js/words.js",
    "/assets/js/elements.js" SCRIPT "../assets/js/elements.js",
    "/assets/js/controls.js" SCRIPT "../assets/js/controls.js",
    "/assets/js/headline.js" SCRIPT "../assets/js/headline.js",
    "/assets/js/series.js" SCRIPT "../assets/js/series.js",
    "/assets/js/ranking.js" SCRIPT "../assets/js/ranking.js",
    "/assets/js/remembered.js" SCRIPT "../assets/js/remembered.js",
    "/assets/js/airlines.js" SCRIPT "../assets/js/airlines.js",
    "/assets/js/pairs.js" SCRIPT "../assets/js/pairs.js",
    "/assets/js/map.js" SCRIPT "../assets/js/map.js",
    "/assets/js/usa.js" SCRIPT "../assets/js/usa.js",
    "/assets/us-atlas-licence.txt" TEXT "../assets/map/LICENSE-us-atlas",
    "/assets/airportsdata-licence.txt" TEXT "../assets/map/LICENSE-airportsdata",
    "/assets/js/cost.js" SCRIPT "../assets/js/cost.js",
}

/// Finds the file of a path.
pub fn asset(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_loads_only_embedded_files() {
        let page = asset("/").unwrap().text;
        for part in page.split("=\"/assets/").skip(1) {
            let (name, _) = part.split_once('"').unwrap();
            assert!(asset(&format!("/assets/{name}")).is_some(), "{name}");
        }
        for asset in ASSETS.iter().filter(|asset| asset.path.starts_with("/assets/js/")) {
            for part in asset.text.split("from \"./").skip(1) {
                let (name, _) = part.split_once('"').unwrap();
                assert!(super::asset(&format!("/assets/js/{name}")).is_some(), "{}: {name}", asset.path);
            }
        }
    }

    #[test]
    fn page_has_no_inline_script() {
        let page = asset("/").unwrap().text;
        assert!(!page.contains("style=\"") && !page.contains(" onclick") && !page.contains("<style"));
        assert_eq!(
            page.matches("<script").count(),
            page.matches("<script src=\"").count() + page.matches("<script type=\"module\" src=\"").count()
        );
    }
}
