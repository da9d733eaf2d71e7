//! Changing the record without holding the lock.

use super::record::Record;
use super::store::Store;
use crate::error::{Exit, Result};

/// How often the record is read anew when others write it at the same time.
const ATTEMPTS: usize = 10;

impl Store {
    /// Changes the record as it is now, whoever wrote it last; nothing, when there is none. For
    /// what is said of a release after the lease was given up: by then others may have written, so
    /// a record that was read before must not be written over theirs.
    pub async fn amend(&self, change: impl Fn(&mut Record)) -> Result<()> {
        let mut attempt = 1;
        while let Some((mut record, version)) = self.record().await? {
            change(&mut record);
            match self.write_record(&record, Some(&version)).await {
                Ok(_) => break,
                Err(error) if error.exit() == Exit::Blocked && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
