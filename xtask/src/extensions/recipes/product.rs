use super::{Place, Recipe};

const PRODUCT: &str = "crates/decide/advise/src/products/product.rs";
const PRODUCTS: &str = "crates/decide/advise/src/products/mod.rs";

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### A product to advise",
    own: &["crates/decide/advise/src/products/seastar.rs"],
    names: &[("Seastar", "MadeUpProduct"), ("seastar", "made_up_product")],
    edits: &[
        (PRODUCT, "    Seastar,\n", "    Seastar,\n    /// Made up.\n    MadeUpProduct,\n"),
        (PRODUCT, "[Self; 7] =", "[Self; 8] ="),
        (PRODUCT, "        Self::Seastar,\n", "        Self::Seastar,\n        Self::MadeUpProduct,\n"),
        (
            PRODUCT,
            "            Self::Seastar => \"seastar\",\n",
            "            Self::MadeUpProduct => \"made-up-product\",\n            Self::Seastar => \"seastar\",\n",
        ),
        (
            PRODUCT,
            "            Self::Seastar => Version::new(22, 0),\n",
            "            Self::MadeUpProduct | Self::Seastar => Version::new(22, 0),\n",
        ),
        (
            PRODUCT,
            "            Self::Seastar => Version::new(25, 0),\n",
            "            Self::MadeUpProduct | Self::Seastar => Version::new(25, 0),\n",
        ),
        // Seastar and the kernel agree here: sessions don't count, no setting helps a waiting
        // commit, and "#" begins a comment.
        (PRODUCT, "Self::Seastar | Self::Linux =>", "Self::Seastar | Self::MadeUpProduct | Self::Linux =>"),
        (PRODUCT, "Self::Seastar | Self::Linux =>", "Self::Seastar | Self::MadeUpProduct | Self::Linux =>"),
        (PRODUCT, "Self::Seastar | Self::Linux =>", "Self::Seastar | Self::MadeUpProduct | Self::Linux =>"),
        (
            PRODUCT,
            "            Self::Seastar => format!",
            "            Self::MadeUpProduct | Self::Seastar => format!",
        ),
        (
            PRODUCT,
            "            Self::Seastar => \"Seastar\",\n",
            "            Self::MadeUpProduct => \"Made-up\",\n            Self::Seastar => \"Seastar\",\n",
        ),
        (PRODUCTS, "mod mariadb;\n", "mod made_up_product;\nmod mariadb;\n"),
        (
            PRODUCTS,
            "        Product::Seastar => ",
            "        Product::MadeUpProduct => made_up_product::collect(&figures, &mut collector),\n        Product::Seastar => ",
        ),
        (
            PRODUCTS,
            "    if question.product == Product::Seastar {\n",
            "    if question.product == Product::MadeUpProduct {\n        made_up_product::all_or_nothing(&mut collector);\n    }\n    if question.product == Product::Seastar {\n",
        ),
    ],
    shows: &[
        (Place::Answer("advise --help"), "made-up-product"),
        (Place::Answer("advise probed.json --for made-up-product"), "# Made-up 25 on "),
    ],
};
