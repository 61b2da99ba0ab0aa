//! An input that can be read more than once.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek},
    path::Path,
};

use anyhow::{Context, Result, bail};

/// A file, or a copy of what came in by a pipe.
pub(super) struct Input {
    file: File,
    length: u64,
}

/// The lines of an input, one after another.
pub(super) struct Lines {
    reader: BufReader<io::Take<File>>,
    line: Vec<u8>,
    number: u64,
    longest: u64,
}

impl Input {
    /// Opens a file; `-` is standard input. What cannot be read twice is copied to a temporary file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Self::spool(io::stdin().lock());
        }
        let file = File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?;
        let meta = file
            .metadata()
            .with_context(|| format!("{} cannot be read", path.display()))?;
        if meta.is_dir() {
            bail!(
                "{} is a folder: name a file of JSON Lines, or - for standard input",
                path.display()
            );
        }
        if !meta.is_file() {
            return Self::spool(file);
        }
        Ok(Self {
            file,
            length: meta.len(),
        })
    }

    fn spool(mut from: impl Read) -> Result<Self> {
        let mut file = tempfile::tempfile().context("no temporary file can be made to keep the input in")?;
        let length =
            io::copy(&mut from, &mut file).context("the input cannot be copied to a temporary file")?;
        Ok(Self { file, length })
    }

    /// How many bytes there are.
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// Reads from the start; `longest` is how many bytes a line may have. What is added to the file meanwhile is
    /// not read.
    pub(super) fn lines(&self, longest: u64) -> Result<Lines> {
        let mut file = self.file.try_clone().context("the input cannot be read again")?;
        file.rewind().context("the input cannot be read again")?;
        Ok(Lines {
            reader: BufReader::with_capacity(1 << 16, file.take(self.length)),
            line: Vec::new(),
            number: 0,
            longest,
        })
    }
}

impl Lines {
    /// The next line without its end, and how many bytes were read for it.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], u64)>> {
        self.line.clear();
        self.number += 1;
        let read = self
            .reader
            .by_ref()
            .take(self.longest + 1)
            .read_until(b'\n', &mut self.line)
            .with_context(|| format!("line {} cannot be read", self.number))?;
        if read == 0 {
            return Ok(None);
        }
        if self.line.len() as u64 > self.longest {
            bail!("line {}: it has more than {} bytes", self.number, self.longest);
        }
        Ok(Some((self.line.trim_ascii_end(), read as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_read_again_from_the_start() {
        let input = Input::spool(&b"one\r\n\ntwo"[..]).unwrap();
        for _ in 0..2 {
            let mut lines = input.lines(5).unwrap();
            assert_eq!(lines.next().unwrap(), Some((&b"one"[..], 5)));
            assert_eq!(lines.next().unwrap(), Some((&b""[..], 1)));
            assert_eq!(lines.next().unwrap(), Some((&b"two"[..], 3)));
            assert_eq!(lines.next().unwrap(), None);
        }
        let mut lines = input.lines(4).unwrap();
        assert!(lines.next().unwrap_err().to_string().starts_with("line 1: "));
    }
}
