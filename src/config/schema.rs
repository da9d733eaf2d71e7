//! JSON Schema of the two files, from the types that read them. The checked-in copies are in
//! `schemas/`.

use schemars::generate::SchemaSettings;

use super::application::ApplicationFile;
use super::fleet::FleetFile;

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaKind {
    /// The fleet file.
    Fleet,
    /// The application file.
    Application,
}

/// The schema (draft 2020-12) as text that ends with a newline.
pub fn schema(kind: SchemaKind) -> String {
    let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let schema = match kind {
        SchemaKind::Fleet => generator.into_root_schema_for::<FleetFile>(),
        SchemaKind::Application => generator.into_root_schema_for::<ApplicationFile>(),
    };
    format!("{:#}\n", schema.to_value())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// `MCD_UPDATE=1 cargo test` writes them anew.
    #[test]
    fn the_checked_in_schemas_are_current() {
        for (kind, name) in
            [(SchemaKind::Fleet, "fleet.json"), (SchemaKind::Application, "application.json")]
        {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(name);
            let text = schema(kind);
            if std::env::var_os("MCD_UPDATE").is_some() {
                std::fs::write(&path, &text).expect("it can be written");
            }
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(found == text, "schemas/{name} is old: run the test with MCD_UPDATE=1");
        }
    }
}
