//! What a client of PostgreSQL says, message by message.

use super::Heard;

/// The longest text of a statement that is looked at: what ends a transaction is short.
const LOOKED_AT: usize = 64;

/// The codes of the requests for TLS and for GSS encryption, which come before the start.
const ENCRYPTION: [u32; 2] = [80_877_103, 80_877_104];

#[derive(Default)]
pub struct Messages {
    header: Vec<u8>,
    body: Vec<u8>,
    body_left: usize,
    started: bool,
}

impl Messages {
    /// Hears the next bytes.
    pub fn hear(&mut self, mut bytes: &[u8]) -> Heard {
        let mut heard = Heard::default();
        while !bytes.is_empty() {
            if self.body_left > 0 {
                let (body, rest) = bytes.split_at(self.body_left.min(bytes.len()));
                let room = LOOKED_AT.saturating_sub(self.body.len()).min(body.len());
                self.body.extend_from_slice(&body[..room]);
                self.body_left -= body.len();
                bytes = rest;
            } else {
                self.header.push(bytes[0]);
                bytes = &bytes[1..];
                self.begin();
            }
            if self.started && self.header.len() == 5 && self.body_left == 0 {
                heard.add(self.header[0], &self.body);
                self.header.clear();
                self.body.clear();
            }
        }
        heard
    }

    /// The first message has no kind, but a length and a code; the others a kind and a length.
    fn begin(&mut self) {
        if !self.started && self.header.len() == 8 {
            self.started = !ENCRYPTION.contains(&number(&self.header[4..]));
            self.body_left = number(&self.header[..4]) as usize - 8;
            self.header.clear();
        } else if self.started && self.header.len() == 5 {
            self.body_left = number(&self.header[1..]) as usize - 4;
        }
    }
}

impl Heard {
    fn add(&mut self, kind: u8, body: &[u8]) {
        self.executions += usize::from(matches!(kind, b'E' | b'Q'));
        // Query has the text at once, Parse after the statement's name.
        let text = match kind {
            b'Q' => Some(body),
            b'P' => body.splitn(2, |byte| *byte == 0).nth(1),
            _ => None,
        };
        self.commit |= text.is_some_and(|text| text.starts_with(b"COMMIT"));
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}
