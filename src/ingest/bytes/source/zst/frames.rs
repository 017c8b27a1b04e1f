//! The frames of a compressed file, one after the other (RFC 8878, 3.1): log rotation and `pzstd` write several.

use crate::bytes::source::Bytes;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::{self, BufReader, Read};

/// The most bytes that a decoder holds: by default, `zstd` uses 8 MiB at most.
const LARGEST_WINDOW: u64 = 32 << 20;
/// The first bytes of a frame, and of a frame without content, whose last four bits vary.
const FRAME_MAGIC: u32 = 0xfd2f_b528;
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

type Decoder = StreamingDecoder<BufReader<Bytes>, FrameDecoder>;

/// A file that is being decoded.
pub(super) struct Frames {
    /// The frame that is being read; `None`: all frames were read.
    frame: Option<Decoder>,
}

impl Frames {
    /// Begins at the first frame. A file without one is an error.
    pub(super) fn begin(bytes: Bytes) -> io::Result<Frames> {
        let file = BufReader::new(bytes);
        match next_frame(file)? {
            None => Err(invalid("it is no compressed file")),
            frame => Ok(Frames { frame }),
        }
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(frame) = &mut self.frame {
            let read = frame.read(buffer)?;
            if read > 0 {
                #[cfg(test)]
                super::tests::DECODED.set(super::tests::DECODED.get() + read as u64);
                return Ok(read);
            }
            let file = self.frame.take().map(StreamingDecoder::into_inner);
            self.frame = file.map_or(Ok(None), next_frame)?;
        }
        Ok(0)
    }
}

/// Returns the next frame with content; `None`: the file ends.
fn next_frame(mut file: BufReader<Bytes>) -> io::Result<Option<Decoder>> {
    loop {
        let mut magic = Vec::with_capacity(4);
        file.by_ref().take(4).read_to_end(&mut magic)?;
        if magic.is_empty() {
            return Ok(None);
        }
        match magic.try_into().map_or(0, u32::from_le_bytes) {
            FRAME_MAGIC => {
                file.seek_relative(-4)?;
                let decoder = StreamingDecoder::new_with_max_window_size(file, LARGEST_WINDOW);
                return decoder.map(Some).map_err(|why| invalid(&why.to_string()));
            }
            magic if magic & !0xf == SKIPPABLE_MAGIC => {
                let mut size = [0; 4];
                file.read_exact(&mut size)?;
                let size = u64::from(u32::from_le_bytes(size));
                if io::copy(&mut file.by_ref().take(size), &mut io::sink())? < size {
                    return Err(invalid("a frame is cut"));
                }
            }
            _ => return Err(invalid("bytes before or after its frames are no frame")),
        }
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
