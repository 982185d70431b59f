//! Limits on the rows that a user may have in a table.

use sqlx::{AnyConnection, AssertSqlSafe, Row as _};

use super::LockedTransaction;
use crate::error::{ApiError, ApiResult};

/// Limits on the rows that a user may have in a table. They also limit the time of a search, which
/// reads the text of every row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowLimits {
    /// Name of the table, which has a column `owner_id`.
    pub(crate) table: &'static str,
    /// Column with the longest text of a row.
    pub(crate) text_column: &'static str,
    /// Code of the error, such as `too_many_presets`.
    pub(crate) code: &'static str,
    /// Name of the rows in the error, in the plural, such as `presets`.
    pub(crate) noun: &'static str,
    /// Maximum number of rows.
    pub(crate) max_rows: i64,
    /// Maximum total size of the texts, in MiB.
    pub(crate) text_mib: i64,
}

impl RowLimits {
    /// Commits a transaction that stored rows of a user, or rolls it back if the user would have
    /// more rows or longer texts than allowed.
    ///
    /// # Errors
    /// 409 with [`Self::code`], or an error if a query fails.
    pub(crate) async fn commit(&self, mut transaction: LockedTransaction, owner_id: &str) -> ApiResult<()> {
        match self.check(&mut transaction, owner_id).await {
            Ok(()) => Ok(transaction.commit().await?),
            Err(refusal) => {
                transaction.rollback().await?;
                Err(refusal)
            }
        }
    }

    async fn check(&self, connection: &mut AnyConnection, owner_id: &str) -> ApiResult<()> {
        let Self { table, text_column, code, noun, max_rows, text_mib } = *self;
        let sums = format!(
            "SELECT CAST(COUNT(*) AS BIGINT) AS row_count, \
             CAST(COALESCE(SUM(octet_length({text_column})), 0) AS BIGINT) AS text_bytes \
             FROM {table} WHERE owner_id = $1"
        );
        let sums = sqlx::query(AssertSqlSafe(sums)).bind(owner_id).fetch_one(connection).await?;
        let (row_count, text_bytes): (i64, i64) = (sums.try_get("row_count")?, sums.try_get("text_bytes")?);
        if row_count <= max_rows && text_bytes <= text_mib << 20 {
            return Ok(());
        }
        let detail = format!(
            "You can store at most {max_rows} {noun} with {text_mib} MiB together; delete some first."
        );
        Err(ApiError::Conflict { code, detail })
    }
}
