//! Tests of changes by accounts that lose access before the changes are stored.

use crate::auth::management;
use crate::auth::store::keys::{self, InsertOutcome, NewKey};
use crate::auth::store::{ActingUser, Role, users};
use crate::error::ApiError;
use crate::test_app::TestApp;

async fn acting(app: &TestApp, name: &str) -> ActingUser {
    let user_row = users::find_by_username(&app.state.db, name).await.expect("reads").expect("an account");
    super::acting(&user_row)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, ApiError>) {
    assert!(matches!(outcome, Err(ApiError::Forbidden { code: "admin_only", .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_demoted_or_disabled_administrator_cannot_undo_this_by_an_earlier_request() {
    let app = TestApp::start().await;
    app.token_of_new_user("ada").await;
    let (db, hasher) = (&app.state.db, &app.state.passwords);
    let (admin, ada) = (acting(&app, "admin").await, acting(&app, "ada").await);
    for (role, disabled) in [(Some(Role::User), None), (None, Some(true))] {
        management::change_user(db, &admin, &ada.id, Some(Role::Admin), Some(false)).await.expect("changes");
        let ada = acting(&app, "ada").await;
        management::change_user(db, &ada, &ada.id, Some(Role::Admin), Some(false)).await.expect("changes");
        management::change_user(db, &admin, &ada.id, role, disabled).await.expect("changes");
        refused(management::change_user(db, &ada, &ada.id, Some(Role::Admin), Some(false)).await);
        refused(management::create_invite(db, &ada, "ada", Role::Admin, "", 3_600).await);
        refused(management::create_user(db, hasher, Some(&ada), "eve", Role::Admin, None).await);
        refused(management::reset_password(db, hasher, Some(&ada), &admin.id, None).await);
    }
    assert!(users::find_by_username(db, "eve").await.expect("reads").is_none());
}

#[tokio::test]
async fn an_api_key_requested_before_a_password_reset_is_not_created_afterwards() {
    let app = TestApp::start().await;
    app.token_of_new_user("ada").await;
    let (db, account_before) = (&app.state.db, acting(&app, "ada").await);
    let key = NewKey { name: "a script", sha256: "0", hint: "sfk" };
    management::reset_password(db, &app.state.passwords, None, &account_before.id, None)
        .await
        .expect("resets");
    let outcome = keys::insert(db, &account_before, &key, 10).await.expect("asks");
    assert!(matches!(outcome, InsertOutcome::AccessEnded));
    assert!(keys::read_of_user(db, &account_before.id).await.expect("reads").is_empty());
    let account_after = acting(&app, "ada").await;
    let outcome = keys::insert(db, &account_after, &key, 10).await.expect("asks");
    assert!(matches!(outcome, InsertOutcome::Stored(_)));
}
