//! Rows through a real `sshd` on loopback, where it is installed.

use super::{LOGS, follow, home_there, program_there, script, wait_for_rows};
use ctxgauge::files::waiting::wait_for;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A real `sshd` as the user of the tests.
struct Sshd {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Sshd {
    /// Starts one that runs commands in this home; `None`: it is not installed.
    fn start(folder: &Path, home: &Path, port: u16) -> Option<Sshd> {
        let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].map(Path::new);
        let sshd = sshd.into_iter().find(|path| path.exists())?;
        let keygen = |name: &str| {
            let key = folder.join(name);
            if key.exists() {
                return Some(());
            }
            let run = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(key)
                .status();
            run.is_ok_and(|status| status.success()).then_some(())
        };
        keygen("host")?;
        keygen("user")?;
        fs::copy(folder.join("user.pub"), folder.join("authorized")).unwrap();
        let command = folder.join("command");
        script(
            &command,
            &format!(
                "PATH='{}/bin':$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
                home.display()
            ),
        );
        let d = folder.display();
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {d}/host\nPidFile none\nUsePAM no\nStrictModes no\n\
             AuthorizedKeysFile {d}/authorized\nPasswordAuthentication no\nPermitRootLogin yes\nForceCommand {}\n",
            command.display()
        );
        fs::write(folder.join("conf"), settings).unwrap();
        // As root it wants its folder.
        let _ = fs::create_dir("/run/sshd");
        let child = Command::new(sshd)
            .args(["-D", "-e", "-f"])
            .arg(folder.join("conf"))
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .ok()?;
        Some(Sshd {
            child,
            folder: folder.to_owned(),
            port,
        })
    }

    /// The script that is run as `ssh`: the real one, with the key of this machine and no configuration.
    fn client(&self) -> PathBuf {
        let path = self.folder.join("ssh");
        let d = self.folder.display();
        script(
            &path,
            &format!(
                "exec ssh -F none -i {d}/user -o UserKnownHostsFile={d}/known -o StrictHostKeyChecking=accept-new -p {} \"$@\"",
                self.port
            ),
        );
        path
    }

    /// Ends the server and the connections that it has.
    fn stop(&mut self) {
        let id = self.child.id().to_string();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let _ = kill(Pid::from_raw(child.parse().unwrap()), Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.stop();
    }
}

#[test]
fn a_real_sshd_that_is_killed_and_started_again_is_away_and_back() {
    let (home, folder) = (home_there(), tempfile::tempdir().unwrap());
    program_there(home.path());
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let Some(mut sshd) = Sshd::start(folder.path(), home.path(), port) else {
        println!("no sshd here: rows were not read through a real one");
        return;
    };
    let user = Command::new("id").arg("-un").output().unwrap().stdout;
    let user = String::from_utf8(user).unwrap().trim().to_owned();
    let name = format!("{user}@127.0.0.1");
    let (_links, seen) = follow(&sshd.client(), &[&name]);
    wait_for_rows(&seen, home.path(), &name);
    sshd.stop();
    wait_for("old rows", || {
        let seen = seen.lock().unwrap();
        let is_it = seen.0.hosts_away() == 1 && seen.0.len() == LOGS.len();
        is_it.then_some(()).ok_or_else(|| format!("{:?}", seen.1))
    });
    let again = Sshd::start(folder.path(), home.path(), port);
    assert!(again.is_some());
    wait_for_rows(&seen, home.path(), &name);
}
