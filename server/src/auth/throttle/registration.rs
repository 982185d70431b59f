//! Slowing down those who register without end. Registrations without an invitation, or with a bad
//! one, count by address, those that succeed as well.

use std::net::IpAddr;

use super::rules::FORGET_SECS;
use super::{Throttle, WAIT_MAX, busy};
use crate::auth::store::registrations;
use crate::client_address::network_of;
use crate::clock;
use crate::db::Db;
use crate::error::ApiError;
use crate::turns::Turn;

impl Throttle {
    /// Makes `address` one that a new account is used from.
    pub(in crate::auth) async fn registered(&self, db: &Db, user_id: &str, address: IpAddr) {
        super::remember(db, user_id, &network_of(address)).await;
    }

    /// The turn of a registration: the database and the processors are for those who log in.
    ///
    /// # Errors
    /// 503 `busy` where earlier ones take too long.
    pub(in crate::auth) async fn turn_to_register(&self, is_invited: bool) -> Result<Turn, ApiError> {
        self.of_registrations.wait(is_invited.to_string(), WAIT_MAX).await.ok_or_else(busy)
    }

    /// Admits a registration from `address`, or refuses it.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub(in crate::auth) async fn admit_registration(&self, db: &Db, address: IpAddr) -> Result<(), ApiError> {
        let rule = self.rules.registrations;
        let (network, now_secs) = (network_of(address), clock::now_unix_secs());
        let since_secs = now_secs - FORGET_SECS;
        let before = registrations::attempts(db, &network, now_secs, since_secs).await?;
        rule.check(before, now_secs)?;
        let count = registrations::count(db, &network, now_secs, since_secs).await?;
        // More than one step further: others were admitted at the same moment.
        if count > rule.free && count > before.count + 1 {
            rule.refuse_for(rule.wait_secs(count).unsigned_abs())?;
        }
        Ok(())
    }
}
