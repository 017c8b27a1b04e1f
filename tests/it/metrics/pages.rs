//! The pages of the server, as a browser gets them.

use super::{Server, home};
use crate::support::ctxgauge;
use ctxgauge::files::waiting::wait_for;
use std::fs;
use std::path::Path;

/// A title that ends a text, an attribute and an element, and that runs code where it is not escaped.
const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)> \u{202e}now";

/// Writes a log of Claude Code.
fn log(home: &Path, name: &str, text: &str) {
    let text = serde_json::to_string(text).unwrap();
    let line = format!(
        r#"{{"type":"user","uuid":"u","parentUuid":null,"sessionId":"{name}","cwd":"/w/private","timestamp":"2026-11-28T10:00:00Z","message":{{"role":"user","content":{text}}}}}"#
    );
    let to = home.join(format!(".claude/projects/-w-private/{name}.jsonl"));
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::write(to, line + "\n").unwrap();
}

/// Returns the list, once it has so many rows.
fn list(server: &Server, rows: usize) -> (String, String) {
    wait_for("the list", || {
        let (head, body) = server.get("/", "text/html");
        if body.matches("href=").count() == rows {
            Ok((head, body))
        } else {
            Err(body)
        }
    })
}

#[test]
fn a_list_leads_to_reports_that_run_nothing_and_show_no_texts() {
    let home = home();
    log(home.path(), "hostile", HOSTILE);
    for texts in [false, true] {
        let options: &[&str] = if texts {
            &["--pages", "--texts"]
        } else {
            &["--pages"]
        };
        let server = Server::start(home.path(), options);
        let (head, body) = list(&server, 3);
        let mut pages = vec![(head, body.clone())];
        for link in body.split("href=\"").skip(1) {
            let (link, _) = link.split_once('"').unwrap();
            pages.push(server.get(link, "text/html"));
        }
        for (head, page) in &pages {
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}\n{page}");
            let head = head.to_lowercase();
            assert!(
                head.contains("content-security-policy: default-src 'none'"),
                "{head}"
            );
            assert!(page.contains("<meta http-equiv=\"refresh\""), "{page}");
            for code in ["<script", "<img", "\u{202e}", "javascript:"] {
                assert!(!page.contains(code), "{code}: {page}");
            }
            assert!(
                texts || !(page.contains("alert(1)") || page.contains("private")),
                "{page}"
            );
        }
        let is_shown = pages.iter().any(|(_, page)| page.contains("alert(1)"));
        assert_eq!(is_shown, texts, "{body}");
        let reports = pages
            .iter()
            .filter(|(_, page)| page.contains("How full the context is"));
        assert_eq!(reports.count(), 3);
        for (request, status) in [
            ("GET /session/0123456789abcdef HTTP/1.1", 404),
            ("GET /session/../etc/passwd HTTP/1.1", 404),
            ("POST / HTTP/1.1", 405),
            ("GET / HTTP/1.1\r\nHost: example.com", 403),
        ] {
            let (head, _) = server.ask(&format!("{request}\r\nAccept: */*\r\n\r\n"));
            assert!(
                head.starts_with(&format!("HTTP/1.1 {status} ")),
                "{request}: {head}"
            );
        }
    }
}

#[test]
fn the_newest_500_are_listed_and_the_number_of_all_is_said() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..510 {
        log(home.path(), &format!("s{n}"), "hello");
    }
    let server = Server::start(home.path(), &["--pages"]);
    wait_for("all sessions", || {
        let (_, body) = server.get("/", "text/html");
        let is_whole = body.contains("The newest 500 of 510 sessions.");
        if is_whole { Ok(()) } else { Err(body) }
    });
    list(&server, 500);
}

#[test]
fn pages_are_for_this_machine_alone() {
    let home = tempfile::tempdir().unwrap();
    let mut serve = ctxgauge(home.path());
    serve.args(["serve", "--pages", "--listen", "0.0.0.0:0"]);
    let refused = serve.output();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && error.contains("loopback address"),
        "{error}"
    );
}
