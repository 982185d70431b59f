//! Slowing down those who register without end.

use std::net::IpAddr;

use super::rules::{FORGET_SECS, Rule};
use crate::auth::client_address::network_of;
use crate::auth::store::registrations;
use crate::clock;
use crate::db::Db;
use crate::error::ApiError;

/// Registrations from one address, without an invitation or with a bad one.
const RULE: Rule =
    Rule { free: 10, first_wait_secs: 1, longest_wait_secs: 900, about: "Too many registrations" };

/// Admits a registration from `address`, or refuses it. Successful ones count too.
///
/// # Errors
/// 429 with the seconds to wait.
pub(in crate::auth) async fn admit_registration(db: &Db, address: IpAddr) -> Result<(), ApiError> {
    let (network, now_secs) = (network_of(address), clock::now_unix_secs());
    let since_secs = now_secs - FORGET_SECS;
    let before = registrations::attempts(db, &network, now_secs, since_secs).await?;
    RULE.check(before, now_secs)?;
    let count = registrations::count(db, &network, now_secs, since_secs).await?;
    // More than one step further: others were admitted at the same moment.
    if count > RULE.free && count > before.count + 1 {
        RULE.refuse_for(RULE.wait_secs(count).unsigned_abs())?;
    }
    Ok(())
}
