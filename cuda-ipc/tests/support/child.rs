//! Second processes: the test binary again, in a role, spoken to by lines.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Begins a line that is meant for the first process: a test's harness prints others.
const MARK: &str = "> ";

/// Longer nothing may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Is a second process. It is killed when it is dropped.
pub(crate) struct Second {
    child: Child,
    lines: Receiver<String>,
}

impl Second {
    /// Starts a command that speaks as [`say`] and [`hear`] do.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        let reader = std::thread::Builder::new().name("second's lines".to_owned());
        let spawned = reader.spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // What a harness prints may stand before it in the same line.
                if let Some((_, said)) = line.split_once(MARK)
                    && sender.send(said.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        drop(spawned.unwrap());
        Self { child, lines }
    }

    /// Waits for its next line.
    pub(crate) fn hear(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("it says nothing"))
    }

    pub(crate) fn expect(&self, line: &str) {
        assert_eq!(self.hear(), line);
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, without a chance to say anything.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        let status = self.wait();
        assert_eq!(status.signal(), Some(9));
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says a line to the first process.
pub(crate) fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{MARK}{line}").unwrap();
    output.flush().unwrap();
}

/// Waits for a line of the first process; its end ends this one.
pub(crate) fn hear() -> String {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line).unwrap() == 0 {
        std::process::exit(3);
    }
    line.trim_end().to_owned()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(pair).collect()
}
