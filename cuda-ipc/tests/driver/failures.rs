//! Each driver call fails in turn, in both processes: an error, and nothing that stays open, leaks
//! or hangs.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_ipc::lease::Orphans;
use cuda_ipc::{Descriptor, Exporter, Importer};
use cuda_safe::{Device, DeviceBuffer, PinnedBuffer, Stream, call};
use cuda_sim::{Config, for_each_failure};
use cuda_sys::CUresult;

use crate::child::{PATIENCE, Second, hear, hex, say, unhex};
use crate::{DESCRIPTOR, SOCKET, is_consumer, run};

/// Starts the peer with a driver like this process's, but in which nothing fails.
fn sound_peer(role: &str) -> std::io::Result<Command> {
    let mut command = cuda_sim::peer(role)?;
    let text = std::env::var(cuda_sim::ENVIRONMENT).unwrap();
    let sound: Vec<_> = text.split(';').filter(|part| !part.starts_with("fail=")).collect();
    command.env(cuda_sim::ENVIRONMENT, sound.join(";"));
    Ok(command)
}

/// Waits for the threads that close what was dropped while a stream used it.
fn wait_for_closing() {
    // Of a thread that has ended meanwhile there is none.
    let name = |thread: &Path| std::fs::read_to_string(thread.join("comm")).unwrap_or_default();
    let own = std::fs::read_link("/proc/thread-self").unwrap();
    let own = Path::new("/proc/self/task").join(own.file_name().unwrap());
    let start = Instant::now();
    // A thread that has just been started is still called as the one that started it.
    let is_closing = |thread: PathBuf| {
        let its = name(&thread);
        thread != own && (its == "cuda-ipc close\n" || its == name(&own))
    };
    while std::fs::read_dir("/proc/self/task").unwrap().any(|task| is_closing(task.unwrap().path()))
    {
        assert!(start.elapsed() < PATIENCE, "it is not closed");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn producer(peer: impl FnOnce(&Path, &Descriptor) -> Result<(), Box<dyn Error>>) -> Answer {
    let context = Device::get(0)?.context()?;
    let stream = Stream::new(&context)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket");
    let exporter = Exporter::bind(&path, Orphans::default())?;
    let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
    let pinned = PinnedBuffer::from_slice(&context, &[1_u8; 64])?;
    call::memcpy_htod_async(&mut buffer, &pinned, &stream)?;
    let published = exporter.share(Arc::new(buffer), run(64), PATIENCE)?;
    published.announce_after(&stream, 1, PATIENCE)?;
    let answer = peer(&path, published.descriptor());
    // Whatever failed there, the memory comes back.
    published.withdraw(PATIENCE)?;
    answer
}

fn consumer(path: &Path, descriptor: &Descriptor) -> Answer {
    let context = Device::get(0)?.context()?;
    let stream = Stream::new(&context)?;
    let importer = Importer::connect(path, PATIENCE)?;
    let imported = importer.import(descriptor, &context, PATIENCE)?;
    imported.lease().wait_announced(1, PATIENCE)?;
    let mut bytes = PinnedBuffer::<u8>::zeroed(&context, 64)?;
    call::memcpy_dtoh_async(&mut bytes, imported.memory()?, &stream)?;
    assert_eq!(bytes.as_slice()?, [1_u8; 64]);
    imported.close(PATIENCE)?;
    Ok(())
}

type Answer = Result<(), Box<dyn Error>>;

/// Reads what the other process says of a descriptor.
fn read(path: &str, descriptor: &str) -> Result<(PathBuf, Descriptor), Box<dyn Error>> {
    Ok((path.into(), Descriptor::decode(&unhex(descriptor))?))
}

#[test]
fn every_call_of_a_producer_may_fail() {
    for_each_failure!(Config::new(), CUresult::CUDA_ERROR_OUT_OF_MEMORY, || {
        if is_consumer() {
            let told = |name| std::env::var(name).unwrap();
            let (path, descriptor) = read(&told(SOCKET), &told(DESCRIPTOR))?;
            let answer = consumer(&path, &descriptor);
            wait_for_closing();
            return answer;
        }
        producer(|path, descriptor| {
            let mut command = sound_peer("consumer")?;
            command.env(SOCKET, path).env(DESCRIPTOR, hex(&descriptor.encode()));
            assert!(Second::spawn(command).wait().success());
            Ok(())
        })
    });
}

#[test]
fn every_call_of_a_consumer_may_fail() {
    for_each_failure!(Config::new(), CUresult::CUDA_ERROR_OUT_OF_MEMORY, || {
        if is_consumer() {
            return producer(|path, descriptor| {
                say(path.to_str().unwrap());
                say(&hex(&descriptor.encode()));
                assert_eq!(hear(), "go");
                Ok(())
            });
        }
        let mut peer = Second::spawn(sound_peer("producer")?);
        let (path, descriptor) = read(&peer.hear(), &peer.hear())?;
        let answer = consumer(&path, &descriptor);
        wait_for_closing();
        if answer.is_ok() {
            peer.say("go");
            assert!(peer.wait().success());
        }
        // If a call failed, a mapping may be open that could not be closed: it is leased until this
        // process ends, so that the other is not waited for.
        drop(peer);
        drop(std::fs::remove_dir_all(path.parent().unwrap()));
        answer
    });
}
