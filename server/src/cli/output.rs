//! The file that a command writes.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Seek as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tempfile::NamedTempFile;

use crate::rendering::RenderError;

/// Name of standard input as an input, and of standard output as an output.
pub(super) const STANDARD_STREAM: &str = "-";

/// The output file. When it is complete, it gets its name or is copied to standard output. If this
/// value is dropped earlier, the file is deleted.
pub(super) struct Output {
    temporary: NamedTempFile,
    /// Path of the file; `None` for standard output.
    destination: Option<PathBuf>,
    /// Path of the file as the user wrote it.
    name: String,
}

impl Output {
    /// Creates the file under a temporary name beside `destination`, or in the folder of temporary
    /// files for standard output.
    ///
    /// # Errors
    /// If the file cannot be created, if it would replace one of `inputs`, or if standard output is
    /// a terminal.
    pub(super) fn create(destination: &Path, inputs: &[&Path]) -> anyhow::Result<Self> {
        if destination.as_os_str() == STANDARD_STREAM {
            if io::stdout().is_terminal() {
                bail!("standard output is a terminal; redirect it, or choose the name of a file");
            }
            let temporary = NamedTempFile::new().context("cannot create a temporary file")?;
            return Ok(Self { temporary, destination: None, name: "standard output".to_owned() });
        }
        if let Some(input) = inputs.iter().find(|input| is_same_file(input, destination)) {
            bail!("{} would replace {}; choose another name", destination.display(), input.display());
        }
        let name = destination.display().to_string();
        let destination = match fs::metadata(destination) {
            // Replacing a device would break it for all programs.
            Ok(facts) if facts.is_dir() => {
                bail!("cannot write {name}: it exists and is not a plain file; for a folder, write {name}/")
            }
            Ok(facts) if !facts.is_file() => bail!("cannot write {name}: it exists and is not a plain file"),
            // If the destination is a link, its target is written, and the link stays.
            Ok(_) => fs::canonicalize(destination).with_context(|| format!("cannot write {name}"))?,
            Err(_) => destination.to_owned(),
        };
        let Some(file_name) = destination.file_name() else { bail!("{name} is not a file name") };
        let folder = match destination.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut new_file = tempfile::Builder::new();
        let prefix = format!(".{}.", file_name.to_string_lossy());
        new_file.prefix(&prefix).suffix(".part");
        #[cfg(unix)]
        new_file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = new_file.tempfile_in(folder).with_context(|| format!("cannot write {name}"))?;
        Ok(Self { temporary, destination: Some(destination), name })
    }

    /// Returns the file.
    pub(super) fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Returns the folder of the file.
    pub(super) fn folder(&self) -> &Path {
        self.temporary.path().parent().unwrap_or(Path::new("."))
    }

    /// Returns the error of a command that could not write the file.
    pub(super) fn failure(&self, error: RenderError) -> anyhow::Error {
        match error {
            RenderError::Cancelled => {
                anyhow::anyhow!("interrupted; {} was not written", self.name)
            }
            RenderError::Io(error) => anyhow::anyhow!("cannot write {}: {error}", self.name),
            other_error => other_error.into(),
        }
    }

    /// Gives the file its name, or copies it to standard output. Returns the stream for the
    /// summary: standard output, or standard error if the file went to standard output.
    ///
    /// # Errors
    /// If the file cannot be written or renamed.
    pub(super) fn finish(self) -> anyhow::Result<Box<dyn Write>> {
        let Self { mut temporary, destination, name } = self;
        let cannot_write = || format!("cannot write {name}");
        let Some(destination) = destination else {
            temporary.rewind().with_context(cannot_write)?;
            let mut standard_output = io::stdout().lock();
            io::copy(&mut temporary, &mut standard_output)
                .and_then(|_| standard_output.flush())
                .with_context(cannot_write)?;
            return Ok(Box::new(io::stderr()));
        };
        temporary.as_file().sync_all().with_context(cannot_write)?;
        temporary.persist(&destination).with_context(cannot_write)?;
        Ok(Box::new(io::stdout()))
    }
}

/// Whether two paths lead to the same file.
fn is_same_file(first_path: &Path, second_path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let id = |path: &Path| fs::metadata(path).ok().map(|facts| (facts.dev(), facts.ino()));
        id(first_path).is_some() && id(first_path) == id(second_path)
    }
    #[cfg(not(unix))]
    {
        let canonical_path = |path: &Path| fs::canonicalize(path).ok();
        canonical_path(first_path).is_some() && canonical_path(first_path) == canonical_path(second_path)
    }
}
