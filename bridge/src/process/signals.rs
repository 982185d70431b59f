//! Keeps plugins from sending signals to the supervisor and the service.
//!
//! A plugin that kills the supervisor would leave the processes that it started in other sessions,
//! which only the supervisor finds. A seccomp filter (seccomp(2)) makes the system refuse such
//! signals with `EPERM`. The filter also applies to processes that the plugin starts.
//!
//! The filter guards against mistakes. It does not stop a hostile plugin, which has further ways to
//! end processes of its user: signals to the ids of threads, `ptrace`, or `prlimit`. If a
//! supervisor ends, the plugin's process ends, too (`parent.rs`).
#![expect(unsafe_code, reason = "the filter is a system call without a safe interface")]

use nix::errno::Errno;
use nix::libc::{
    self, BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, sock_filter, sock_fprog,
};
use nix::unistd::{Pid, getpgid};
use songfoundry_bridge_protocol::PARENT_VARIABLE;

/// Name of the processor's instruction set in `seccomp_data` (linux/audit.h).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Environment variable with the process id of the service, which the supervisor sets for its
/// command.
pub(super) const SERVICE_VARIABLE: &str = "SF_SERVICE_PID";

/// Offsets in `seccomp_data` (linux/seccomp.h). The lower half of an argument comes first, because
/// the processors above are little-endian.
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;
const ARGUMENT_BYTES: u32 = 8;

/// Mask that removes the bit of the x32 interface of x86-64 from the number of a system call.
const NUMBER_MASK: u32 = !0x4000_0000;

/// System calls whose first argument is the process that gets a signal, with the index of the
/// argument that is the signal.
const SIGNAL_CALLS: [(i64, u32); 5] = [
    (libc::SYS_kill, 1),
    (libc::SYS_tkill, 1),
    (libc::SYS_tgkill, 2),
    (libc::SYS_rt_sigqueueinfo, 1),
    (libc::SYS_rt_tgsigqueueinfo, 2),
];

/// Prevents signals of this process and of the processes that it will start. They can reach neither
/// the supervisor and the service that started it, nor their groups, nor all processes at once.
/// Requests whether a process exists (signal 0) stay possible.
///
/// Must be called before this process starts threads. A system without such filters runs plugins
/// without this protection.
pub(crate) fn protect_ancestors() {
    let ids = [PARENT_VARIABLE, SERVICE_VARIABLE].into_iter().filter_map(|name| std::env::var(name).ok());
    let ancestors: Vec<Pid> = ids.filter_map(|id| id.parse().ok()).map(Pid::from_raw).collect();
    if let Err(error) = protect(&ancestors) {
        eprintln!("cannot protect the service from signals of the plugin: {error}");
    }
}

fn protect(protected: &[Pid]) -> nix::Result<()> {
    let groups = protected.iter().filter_map(|process| getpgid(Some(*process)).ok());
    let ids = protected.iter().copied().chain(groups).map(Pid::as_raw);
    let mut targets: Vec<i32> = ids.flat_map(|id| [id, -id]).chain([-1]).collect();
    targets.sort_unstable();
    targets.dedup();
    // Without this, only an administrator may set a filter. Programs that the plugin starts then
    // cannot gain the rights of other users.
    nix::sys::prctl::set_no_new_privs()?;
    let mut program = program(&targets);
    let program = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let flags = libc::SECCOMP_FILTER_FLAG_TSYNC | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    let operation = libc::c_ulong::from(libc::SECCOMP_SET_MODE_FILTER);
    // SAFETY: `program` has the stated number of instructions, and lives as long as the call.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program) };
    if answer == 0 {
        return Ok(());
    }
    // Hardened systemd units usually forbid the first call but not this one, which applies to this
    // thread and the threads that it starts. The filter may slow down memory accesses on Linux
    // before 5.16.
    let mode = libc::c_ulong::from(libc::SECCOMP_MODE_FILTER);
    // SAFETY: as above.
    let answer = unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) };
    Errno::result(answer).map(|_| ())
}

/// Returns the filter that denies signals to `targets`, as `kill` names them.
fn program(targets: &[i32]) -> Vec<sock_filter> {
    let allow = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    let deny = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | libc::EPERM as u32);
    let load = |offset| statement(BPF_LD | BPF_W | BPF_ABS, offset);
    let argument = |index| load(ARGUMENTS_OFFSET + index * ARGUMENT_BYTES);
    // Other instruction sets have other numbers of system calls.
    let mut program = vec![load(ARCHITECTURE_OFFSET), skip_if(ARCHITECTURE, 1), allow];
    program.extend([load(NUMBER_OFFSET), statement(BPF_ALU | BPF_AND | BPF_K, NUMBER_MASK)]);
    for (call, signal_index) in SIGNAL_CALLS {
        let mut checks = vec![argument(signal_index), skip_unless(0, 1), allow, argument(0)];
        for target in targets {
            checks.extend([skip_unless(target.cast_unsigned(), 1), deny]);
        }
        checks.push(allow);
        program.push(skip_unless(call as u32, checks.len() as u8));
        program.extend(checks);
    }
    // This call identifies a process by a descriptor, which the filter cannot check. Few programs
    // use it.
    program.extend([skip_unless(libc::SYS_pidfd_send_signal as u32, 1), deny, allow]);
    program
}

fn statement(code: u32, operand: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k: operand }
}

/// Skips `count` instructions if the loaded value is `value`.
fn skip_if(value: u32, count: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: count, jf: 0, k: value }
}

/// Skips `count` instructions if the loaded value is not `value`.
fn skip_unless(value: u32, count: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: 0, jf: count, k: value }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Runs the filter on a system call with these arguments.
    fn answer(program: &[sock_filter], call: i64, arguments: [u64; 3]) -> u32 {
        let mut data = HashMap::from([(NUMBER_OFFSET, call as u32), (ARCHITECTURE_OFFSET, ARCHITECTURE)]);
        for (index, argument) in (0..).zip(arguments) {
            data.insert(ARGUMENTS_OFFSET + index * ARGUMENT_BYTES, argument as u32);
        }
        let (mut index, mut loaded_value) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[index];
            index += 1;
            match u32::from(code) {
                code if code == BPF_LD | BPF_W | BPF_ABS => loaded_value = data[&k],
                code if code == BPF_ALU | BPF_AND | BPF_K => loaded_value &= k,
                code if code == BPF_JMP | BPF_JEQ | BPF_K => {
                    index += usize::from(if loaded_value == k { jt } else { jf });
                }
                code if code == BPF_RET | BPF_K => return k,
                code => panic!("instruction {code:#x}"),
            }
        }
    }

    #[test]
    fn only_signals_to_protected_processes_are_denied() {
        let program = program(&[-70, -1, 70, 80]);
        let is_denied = |call, target: i32, second_argument: u64, third: u64| {
            let denied = SECCOMP_RET_ERRNO | libc::EPERM as u32;
            let answer = answer(&program, call, [target as u64, second_argument, third]);
            assert!(answer == denied || answer == SECCOMP_RET_ALLOW, "{answer:#x}");
            answer == denied
        };
        for target in [70, -70, 80, -1] {
            assert!(is_denied(libc::SYS_kill, target, 9, 0), "{target}");
            assert!(!is_denied(libc::SYS_kill, target, 0, 0), "{target}: only asks");
            assert!(is_denied(libc::SYS_kill | 0x4000_0000, target, 9, 0), "{target}");
            assert!(is_denied(libc::SYS_tgkill, target, 5, 9), "{target}");
            assert!(is_denied(libc::SYS_rt_sigqueueinfo, target, 9, 0), "{target}");
        }
        for target in [0, 71, -80, 7] {
            assert!(!is_denied(libc::SYS_kill, target, 9, 0), "{target}");
            assert!(!is_denied(libc::SYS_tgkill, target, 70, 9), "{target}");
        }
        assert!(is_denied(libc::SYS_pidfd_send_signal, 3, 9, 0));
        assert!(!is_denied(libc::SYS_read, 70, 9, 0));
    }
}
