//! A receiver that can be told what to do with the next requests.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What a receiver does with a request.
#[derive(Debug, Clone, Copy)]
pub enum Reply {
    /// Takes it, and answers with this JSON.
    Ok(&'static str),
    /// Answers with this status, and headers after it.
    Status(&'static str),
    /// Answers with something else.
    Nonsense,
    /// Closes the connection.
    Close,
    /// Does nothing more with the connection.
    Hang,
}

/// Requests by their path.
type Requests = HashMap<String, Vec<Value>>;

#[derive(Default)]
struct State {
    next: HashMap<String, VecDeque<Reply>>,
    asked: Requests,
    taken: Requests,
    hanging: Vec<TcpStream>,
    is_stopped: bool,
}

pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    pub fn start() -> Receiver {
        let state = Arc::<Mutex<State>>::default();
        let (address, thread) = listen("127.0.0.1:0".parse().unwrap(), &state);
        Receiver {
            address,
            state,
            thread: Some(thread),
        }
    }

    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Says what is done with the next request for a path that nothing was said for.
    pub fn next(&self, path: &str, reply: Reply) {
        let mut state = self.state.lock().unwrap();
        state
            .next
            .entry(path.to_owned())
            .or_default()
            .push_back(reply);
    }

    /// All requests for a path.
    pub fn asked(&self, path: &str) -> Vec<Value> {
        let state = self.state.lock().unwrap();
        state.asked.get(path).cloned().unwrap_or_default()
    }

    /// Those that were taken.
    pub fn taken(&self, path: &str) -> Vec<Value> {
        let state = self.state.lock().unwrap();
        state.taken.get(path).cloned().unwrap_or_default()
    }

    /// Ends it; nobody listens there any more.
    pub fn stop(&mut self) {
        self.state.lock().unwrap().is_stopped = true;
        // Who waits for a connection gets one.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// Begins again at the same address.
    pub fn restart(&mut self) {
        self.state.lock().unwrap().is_stopped = false;
        self.thread = Some(listen(self.address, &self.state).1);
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop();
    }
}

fn listen(address: SocketAddr, state: &Arc<Mutex<State>>) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    let state = Arc::clone(state);
    let thread = thread::spawn(move || {
        for stream in listener.incoming() {
            if state.lock().unwrap().is_stopped {
                break;
            }
            // A connection may be closed at any time by the program that is killed.
            let _ = answer(stream.unwrap(), &state);
        }
    });
    (address, thread)
}

/// Answers the requests of a connection.
fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut from = BufReader::new(stream.try_clone()?);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if from.read_line(&mut first)? == 0 {
            return Ok(());
        }
        loop {
            let mut header = String::new();
            from.read_line(&mut header)?;
            let header = header.trim().to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if header.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body).unwrap();
        let path = first.split(' ').nth(1).unwrap().to_owned();
        let reply = {
            let mut state = state.lock().unwrap();
            let next = state.next.get_mut(&path).and_then(VecDeque::pop_front);
            let reply = next.unwrap_or(Reply::Ok("{}"));
            let asked = state.asked.entry(path.clone()).or_default();
            asked.push(body.clone());
            if matches!(reply, Reply::Ok(_)) {
                state.taken.entry(path).or_default().push(body);
            }
            if matches!(reply, Reply::Hang) {
                let stream = stream.try_clone()?;
                state.hanging.push(stream);
            }
            reply
        };
        let (status, body) = match reply {
            Reply::Ok(body) => ("200 OK", body),
            Reply::Status(status) => (status, ""),
            Reply::Nonsense => return stream.write_all(b"\x00\x01 220 mail.example ESMTP\r\n"),
            Reply::Close | Reply::Hang => return Ok(()),
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
    }
}
