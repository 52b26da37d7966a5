//! One stream of a multiplexed tunnel, as its client: frames in messages, a window that is opened again as it is used.

use crate::client::Socket;
use tokio_tungstenite::tungstenite::Message;

/// Kinds of frames.
const DATA: u8 = 0;
const WINDOW: u8 = 1;
const PING: u8 = 2;

/// Flags.
const SYN: u16 = 1;
const ACK: u16 = 2;
const FIN: u16 = 4;
const RST: u16 = 8;

/// What a window begins with; opened again when half of it is used.
const CREDIT: u32 = 256 * 1024;

/// The only stream.
const STREAM: u32 = 1;

fn frame(kind: u8, flags: u16, stream: u32, length: u32) -> [u8; 12] {
    let mut head = [0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    head[2..4].copy_from_slice(&flags.to_be_bytes());
    head[4..8].copy_from_slice(&stream.to_be_bytes());
    head[8..].copy_from_slice(&length.to_be_bytes());
    head
}

/// Opens a stream to `port` and reads it to its end; how many bytes it carried.
pub(crate) fn read(socket: &mut Socket, port: u16) -> usize {
    let [high, low] = port.to_be_bytes();
    let opening = [&frame(WINDOW, SYN, STREAM, 0)[..], &frame(DATA, 0, STREAM, 3), &[1, high, low]].concat();
    socket.send(Message::Binary(opening.into())).unwrap();
    // A frame may lie across messages, and a message may hold several.
    let (mut held, mut body, mut total, mut used) = (Vec::new(), 0_usize, 0_usize, 0_u32);
    loop {
        let Message::Binary(message) = socket.read().unwrap() else { continue };
        let mut rest = &message[..];
        while !rest.is_empty() {
            let taken = rest.len().min(if body > 0 { body } else { 12 - held.len() });
            let (piece, behind) = rest.split_at(taken);
            rest = behind;
            if body > 0 {
                body -= taken;
                total += taken;
                used += u32::try_from(taken).unwrap();
                continue;
            }
            held.extend_from_slice(piece);
            if held.len() < 12 {
                continue;
            }
            let (kind, flags) = (held[1], u16::from_be_bytes([held[2], held[3]]));
            let length = u32::from_be_bytes(held[8..].try_into().unwrap());
            held.clear();
            match kind {
                DATA => body = usize::try_from(length).unwrap(),
                PING if flags & SYN != 0 => {
                    socket.send(Message::Binary(frame(PING, ACK, 0, length).to_vec().into())).unwrap();
                }
                _ => {}
            }
            assert!(flags & RST == 0, "the stream was reset");
            if flags & FIN != 0 {
                // The first byte said that it opened.
                return total - 1;
            }
        }
        if used >= CREDIT / 2 {
            socket.send(Message::Binary(frame(WINDOW, 0, STREAM, used).to_vec().into())).unwrap();
            used = 0;
        }
    }
}
