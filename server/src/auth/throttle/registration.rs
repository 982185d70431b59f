//! Slows down mass registration. Registrations without a valid invitation are counted per address,
//! even if they succeed.

use std::net::IpAddr;

use super::rules::COUNT_RESET_SECS;
use super::{Throttle, WAIT_MAX, busy_error};
use crate::auth::store::registrations;
use crate::client_address::network_of;
use crate::clock;
use crate::db::Db;
use crate::error::ApiError;
use crate::turns::Turn;

impl Throttle {
    /// Makes a new account known at `address`.
    pub(in crate::auth) async fn record_registration(&self, db: &Db, user_id: &str, address: IpAddr) {
        super::make_known(db, user_id, &network_of(address)).await;
    }

    /// Waits for the turn of a registration. Registrations with a valid invitation run one at a
    /// time. The other registrations have a separate queue and also run one at a time, so that
    /// log-ins are not delayed.
    ///
    /// # Errors
    /// 503 `busy` if earlier registrations take too long.
    pub(in crate::auth) async fn registration_turn(&self, is_invited: bool) -> Result<Turn, ApiError> {
        self.registrations.wait(is_invited.to_string(), WAIT_MAX).await.ok_or_else(busy_error)
    }

    /// Counts and admits a registration from `address`, or refuses it.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub(in crate::auth) async fn admit_registration(&self, db: &Db, address: IpAddr) -> Result<(), ApiError> {
        let rule = self.rules.registrations;
        let (network, now_secs) = (network_of(address), clock::now_unix_secs());
        let since_secs = now_secs - COUNT_RESET_SECS;
        let earlier_attempts =
            registrations::clamp_and_read_attempts(db, &network, now_secs, since_secs).await?;
        rule.check(earlier_attempts, now_secs)?;
        let count = registrations::count_registrations(db, &network, now_secs, since_secs).await?;
        // If the count rose by more than one, other requests were admitted in the meantime.
        if count > rule.free_attempts && count > earlier_attempts.count + 1 {
            rule.refuse_for(rule.wait_secs(count).unsigned_abs())?;
        }
        Ok(())
    }
}
