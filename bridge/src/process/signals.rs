//! Keeps plugins from sending signals to the supervisor and the service.
//!
//! A plugin that kills the supervisor would leave the processes that it started in other sessions,
//! which only the supervisor finds. The system refuses such signals with `EPERM` (a seccomp filter,
//! seccomp(2)), also those of processes that the plugin starts.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use nix::libc;
use nix::unistd::{Pid, getpgid};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use songfoundry_bridge_protocol::PARENT_VARIABLE;

/// Environment variable with the process id of the service, which the supervisor sets for its
/// command.
pub(super) const SERVICE_VARIABLE: &str = "SF_SERVICE_PID";

/// System calls whose first argument is the process that gets a signal, with the index of the
/// argument that is the signal.
const SIGNAL_CALLS: [(i64, u8); 5] = [
    (libc::SYS_kill, 1),
    (libc::SYS_tkill, 1),
    (libc::SYS_tgkill, 2),
    (libc::SYS_rt_sigqueueinfo, 1),
    (libc::SYS_rt_tgsigqueueinfo, 2),
];

/// Denies this process, and the processes that it will start, to send signals to the supervisor, to
/// the service that started it, to their groups, and to all processes at once. Requests whether a
/// process exists (signal 0) stay possible.
///
/// Must be called before this process starts threads. A system without such filters runs plugins
/// without this protection.
pub(crate) fn protect_ancestors() {
    let ids = [PARENT_VARIABLE, SERVICE_VARIABLE].into_iter().filter_map(|name| std::env::var(name).ok());
    let ancestors: Vec<Pid> = ids.filter_map(|id| id.parse().ok()).map(Pid::from_raw).collect();
    let groups = ancestors.iter().filter_map(|process| getpgid(Some(*process)).ok());
    let ids = ancestors.iter().copied().chain(groups).map(Pid::as_raw);
    let targets: Vec<i32> = ids.flat_map(|id| [id, -id]).chain([-1]).collect();
    if let Err(error) = program(&targets).map_err(Into::into).and_then(|program| apply_filter(&program)) {
        eprintln!("cannot protect the service from signals of the plugin: {error}");
    }
}

/// Returns the filter that denies signals to `targets`, as `kill` names them.
fn program(targets: &[i32]) -> Result<BpfProgram, BackendError> {
    let mut rules = BTreeMap::new();
    for (call, signal_index) in SIGNAL_CALLS {
        let rule = |target: &i32| {
            let is_target = condition(0, SeccompCmpOp::Eq, target.cast_unsigned())?;
            SeccompRule::new(vec![is_target, condition(signal_index, SeccompCmpOp::Ne, 0)?])
        };
        rules.insert(call, targets.iter().map(rule).collect::<Result<_, _>>()?);
    }
    // This call names a process by a descriptor. Few programs use it.
    rules.insert(libc::SYS_pidfd_send_signal, Vec::new());
    let deny = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, deny, ARCH.try_into()?)?.try_into()
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value.into())
}
