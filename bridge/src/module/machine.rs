//! Reads the operating system and the architecture of a library from its header.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::FailureReason;

/// Number of bytes that are read. The header of a Windows library begins within them.
const HEADER_BYTES: u64 = 4096;

/// Machine that a library is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Machine {
    /// Operating system, as in [`std::env::consts::OS`]. `linux` stands for all systems with ELF.
    system: &'static str,
    /// Architecture, as in [`std::env::consts::ARCH`]; `None` if it has no name in the tables of
    /// this file, or if the library is built for several architectures.
    architecture: Option<&'static str>,
}

/// Checks that a library is built for this machine. Files without a known header pass: the system's
/// loader has better messages for them.
///
/// # Errors
/// Names the machine that the library is built for.
pub(super) fn check(library: &Path) -> Result<(), FailureReason> {
    let mut header = Vec::new();
    let read_result = File::open(library).and_then(|file| file.take(HEADER_BYTES).read_to_end(&mut header));
    let Some(machine) = read_result.ok().and_then(|_| Machine::of(&header)) else { return Ok(()) };
    let this_system = match std::env::consts::OS {
        system @ ("windows" | "macos") => system,
        _ => "linux",
    };
    machine.check(this_system, std::env::consts::ARCH)
}

impl Machine {
    /// Returns the machine that a library with this header is built for; `None` if the header is
    /// unknown.
    fn of(header: &[u8]) -> Option<Self> {
        match header.first_chunk()? {
            b"\x7fELF" => Some(Self { system: "linux", architecture: elf_architecture(header) }),
            // Mach-O (Apple, `mach-o/loader.h` and `mach-o/fat.h`), in both byte orders. A class
            // file of Java has the same first bytes as a library for several architectures, but no
            // such file is a module.
            [0xcf | 0xce, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe] => {
                Some(Self { system: "macos", architecture: None })
            }
            [b'M', b'Z', ..] => Some(Self { system: "windows", architecture: windows_architecture(header) }),
            _ => None,
        }
    }

    fn check(self, this_system: &str, this_architecture: &str) -> Result<(), FailureReason> {
        if self.system != this_system {
            let [system, this_system] = [self.system, this_system].map(system_name);
            return Err(match self.architecture {
                Some(architecture) => {
                    format!(
                        "the library is built for {system} ({architecture}), but this system is {this_system}"
                    )
                }
                None => format!("the library is built for {system}, but this system is {this_system}"),
            });
        }
        match self.architecture {
            Some(architecture) if architecture != this_architecture => Err(format!(
                "the library is built for {architecture}, but this machine is {this_architecture}"
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the name of an operating system for people.
fn system_name(system: &str) -> &'static str {
    match system {
        "windows" => "Windows",
        "macos" => "macOS",
        _ => "Linux",
    }
}

/// Returns the architecture of an ELF library: the field `e_machine`, whose byte order is in
/// `e_ident` (System V ABI, chapter 4, "ELF Header").
fn elf_architecture(header: &[u8]) -> Option<&'static str> {
    const DATA_INDEX: usize = 5;
    const BIG_ENDIAN: u8 = 2;
    const MACHINE_OFFSET: usize = 18;
    let bytes = *header.get(MACHINE_OFFSET..)?.first_chunk()?;
    let is_big_endian = *header.get(DATA_INDEX)? == BIG_ENDIAN;
    let number = if is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    match number {
        3 => Some("x86"),
        8 => Some("mips"),
        20 => Some("powerpc"),
        21 => Some("powerpc64"),
        22 => Some("s390x"),
        40 => Some("arm"),
        62 => Some("x86_64"),
        183 => Some("aarch64"),
        243 => Some("riscv64"),
        258 => Some("loongarch64"),
        _ => None,
    }
}

/// Returns the architecture of a Windows library: the field `Machine` after the signature, to which
/// the DOS header points (Microsoft, "PE Format").
fn windows_architecture(header: &[u8]) -> Option<&'static str> {
    const POINTER_OFFSET: usize = 0x3c;
    let pointer = u32::from_le_bytes(*header.get(POINTER_OFFSET..)?.first_chunk()?);
    let after_signature = header.get(usize::try_from(pointer).ok()?..)?.strip_prefix(b"PE\0\0")?;
    match u16::from_le_bytes(*after_signature.first_chunk()?) {
        0x14c => Some("x86"),
        0x8664 => Some("x86_64"),
        0x1c4 => Some("arm"),
        0xaa64 => Some("aarch64"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(machine: u16) -> Vec<u8> {
        let mut header = b"\x7fELF\x02\x01\x01".to_vec();
        header.resize(18, 0);
        header.extend(machine.to_le_bytes());
        header
    }

    fn windows(machine: u16) -> Vec<u8> {
        let mut header = b"MZ".to_vec();
        header.resize(0x3c, 0);
        header.extend(0x40_u32.to_le_bytes());
        header.extend(b"PE\0\0");
        header.extend(machine.to_le_bytes());
        header
    }

    fn check(header: &[u8], expected: Result<(), &str>) {
        let outcome = Machine::of(header).map_or(Ok(()), |machine| machine.check("linux", "x86_64"));
        assert_eq!(outcome, expected.map_err(str::to_owned), "{header:?}");
    }

    #[test]
    fn libraries_for_other_machines_are_recognized() {
        check(&elf(62), Ok(()));
        check(&elf(183), Err("the library is built for aarch64, but this machine is x86_64"));
        check(&elf(3), Err("the library is built for x86, but this machine is x86_64"));
        let mut powerpc = elf(0);
        (powerpc[5], powerpc[19]) = (2, 21);
        check(&powerpc, Err("the library is built for powerpc64, but this machine is x86_64"));
        check(&windows(0x8664), Err("the library is built for Windows (x86_64), but this system is Linux"));
        check(b"MZ\x90\0", Err("the library is built for Windows, but this system is Linux"));
        check(b"\xcf\xfa\xed\xfe\x0c", Err("the library is built for macOS, but this system is Linux"));
        check(b"\xca\xfe\xba\xbe", Err("the library is built for macOS, but this system is Linux"));
        // The system's loader reports these.
        for header in [&elf(9999), &b"\x7fELF"[..], b"no library", b"M", b""] {
            check(header, Ok(()));
        }
    }
}
