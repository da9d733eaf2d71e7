//! Reads single files out of a chart's archive (a gzipped tar), without unpacking it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;

/// A block of a tar archive.
const BLOCK: usize = 512;
/// The longest file that is read, and how much is unpacked to find it; bytes.
const LONGEST: u64 = 4 << 20;
const SEARCHED: u64 = 256 << 20;

/// The file `name` in the chart's own folder (`web/Chart.yaml`, not that of a chart below it).
/// None when the archive has none, or is none.
pub(super) fn file(archive: &Path, name: &str) -> Option<String> {
    let file = File::open(archive).ok()?;
    let mut tar = GzDecoder::new(io::BufReader::new(file)).take(SEARCHED);
    let mut header = [0_u8; BLOCK];
    loop {
        tar.read_exact(&mut header).ok()?;
        let path = text(header.get(..100)?);
        let size = u64::from_str_radix(text(header.get(124..136)?).trim(), 8).ok()?;
        let padded = size.div_ceil(BLOCK as u64) * BLOCK as u64;
        let mut parts = path.trim_start_matches("./").split('/');
        let is_it = parts.nth(1) == Some(name) && parts.next().is_none();
        if is_it && size <= LONGEST {
            let mut content = String::new();
            tar.by_ref().take(size).read_to_string(&mut content).ok()?;
            return Some(content);
        }
        if path.is_empty() {
            // The end, or nothing that a chart's archive holds.
            return None;
        }
        io::copy(&mut tar.by_ref().take(padded), &mut io::sink()).ok()?;
    }
}

/// A field: up to its first NUL.
fn text(field: &[u8]) -> &str {
    let end = field.iter().position(|b| *b == 0).unwrap_or(field.len());
    std::str::from_utf8(field.get(..end).unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn archive(files: &[(&str, &str)], path: &Path) {
        let mut gz = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
        for (name, content) in files {
            let mut header = [0_u8; BLOCK];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            gz.write_all(&header).unwrap();
            let mut body = content.as_bytes().to_vec();
            body.resize(content.len().div_ceil(BLOCK) * BLOCK, 0);
            gz.write_all(&body).unwrap();
        }
        gz.write_all(&[0; 2 * BLOCK]).unwrap();
        gz.finish().unwrap();
    }

    #[test]
    fn the_charts_own_file_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("web-1.tgz");
        let long = "x".repeat(1000);
        archive(
            &[
                ("web/templates/a.yaml", long.as_str()),
                ("web/charts/db/Chart.yaml", "name: db"),
                ("web/Chart.yaml", "name: web"),
                ("web/values.yaml", ""),
            ],
            &path,
        );
        assert_eq!(file(&path, "Chart.yaml").as_deref(), Some("name: web"));
        assert_eq!(file(&path, "values.yaml").as_deref(), Some(""));
        assert_eq!(file(&path, "a.yaml"), None);
        std::fs::write(&path, "no archive").unwrap();
        assert_eq!(file(&path, "Chart.yaml"), None);
        assert_eq!(file(Path::new("/nowhere.tgz"), "Chart.yaml"), None);
    }
}
