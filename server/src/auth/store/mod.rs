//! The tables of this slice: accounts, failed log-ins, registrations, API keys, invitations and
//! ended sessions.

mod acting;
pub(super) mod failures;
pub(super) mod invites;
pub(super) mod keys;
pub(super) mod registrations;
pub(super) mod sessions;
mod unused_invites;
pub(super) mod users;

pub use acting::ActingUser;
pub use users::{Role, UserRow};
