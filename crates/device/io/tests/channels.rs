//! Channels from other threads into a runtime, under load, on the real worlds.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

use common::{memory_file, real_worlds};
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::{Runtime, SendError, Sender, TrySendError, channel};
use nandle_io::{Arena, Nanos};

const THREADS: usize = 4;
const MESSAGES: usize = 5_000;

/// Runtimes on each real world, with a device.
fn runtimes() -> Vec<Runtime> {
    let with_device = |mut world: Box<dyn common::RealWorld>| {
        world.add_file(memory_file());
        Runtime::new(world)
    };
    real_worlds().into_iter().map(with_device).collect()
}

fn join<T>(threads: impl IntoIterator<Item = thread::JoinHandle<T>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

fn send_all(sender: &Sender<(usize, usize)>, thread: usize) {
    for number in 0..MESSAGES {
        sender.send((thread, number)).unwrap();
    }
}

#[test]
fn every_message_of_every_thread_arrives_once_and_in_order() {
    for runtime in runtimes() {
        for (capacity, limit) in [(1, 1), (7, 3), (1000, usize::MAX)] {
            let (sender, mut receiver) = channel(&runtime.handle(), capacity);
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let sender = sender.clone();
                    thread::spawn(move || send_all(&sender, thread))
                })
                .collect();
            drop(sender);
            let next = runtime.block_on(async {
                let mut next = [0; THREADS];
                let mut messages = Vec::new();
                while receiver.recv_many(&mut messages, limit).await > 0 {
                    assert!(messages.len() <= limit.min(capacity));
                    for (thread, number) in messages.drain(..) {
                        assert_eq!(number, next[thread]);
                        next[thread] += 1;
                    }
                }
                next
            });
            assert_eq!(next, [MESSAGES; THREADS]);
            join(threads);
        }
    }
}

/// Group commit: every thread waits until its write is durable, and the owner makes all that have
/// arrived durable at once.
#[test]
fn what_has_come_is_one_batch() {
    for runtime in runtimes() {
        let handle = runtime.handle();
        let device = handle.device(handle.devices()[0].id);
        let (sender, mut receiver) = channel::<thread::Thread>(&handle, THREADS);
        let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(committing(sender.clone()))).collect();
        drop(sender);
        let page = Arena::new(4096).unwrap().allocate(4096).unwrap().freeze();
        let (commits, largest) = runtime.block_on(async {
            let (mut batch, mut commits, mut largest) = (Vec::new(), 0, 0);
            while receiver.recv_many(&mut batch, usize::MAX).await > 0 {
                let writes: Vec<_> = (0..batch.len()).map(|_| device.write(0, page.clone())).collect();
                for write in writes {
                    write.await.unwrap();
                }
                device.flush().await.unwrap();
                commits += batch.len();
                largest = largest.max(batch.len());
                batch.drain(..).for_each(|thread| thread.unpark());
                // Give other threads time to join the next batch.
                handle.sleep(Nanos::from_micros(50)).await;
            }
            (commits, largest)
        });
        assert_eq!(commits, THREADS * 100);
        assert!(largest > 1, "no two commits of {THREADS} threads ever shared a flush");
        join(threads);
    }
}

fn committing(sender: Sender<thread::Thread>) -> impl FnOnce() {
    move || {
        for _ in 0..100 {
            sender.send(thread::current()).unwrap();
            thread::park();
        }
    }
}

#[test]
fn senders_learn_that_the_receiver_is_gone() {
    for runtime in runtimes() {
        let (sender, receiver) = channel(&runtime.handle(), 1);
        sender.send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        let blocked = sender.clone();
        let thread = thread::spawn(move || blocked.send(3));
        thread::yield_now();
        drop(receiver);
        assert_eq!(thread.join().unwrap(), Err(SendError(3)));
        assert_eq!(sender.send(4), Err(SendError(4)));
        assert_eq!(sender.try_send(5), Err(TrySendError::Closed(5)));
    }
}

#[test]
fn the_receiver_learns_that_the_senders_are_gone() {
    for runtime in runtimes() {
        let (sender, mut receiver) = channel::<u8>(&runtime.handle(), 1);
        let second = sender.clone();
        let threads = [sender, second].map(|sender| thread::spawn(move || drop(sender)));
        assert_eq!(runtime.block_on(receiver.recv()), None);
        join(threads);
    }
}

#[test]
fn tasks_of_one_runtime_may_use_a_channel_too() {
    let runtime = Runtime::new(Box::new(MemoryWorld::new(1, Nanos(1))));
    let handle = runtime.handle();
    let (sender, mut receiver) = channel(&handle, 4);
    let sum: u32 = runtime.block_on(async {
        let sleeper = handle.clone();
        handle.spawn(async move {
            for number in 0..10 {
                sender.try_send(number).unwrap();
                sleeper.sleep(Nanos(10)).await;
            }
        });
        let mut sum = 0;
        while let Some(number) = receiver.recv().await {
            sum += number;
        }
        sum
    });
    assert_eq!(sum, 45);
    let mut rest = Vec::new();
    assert_eq!(receiver.drain(&mut rest), 0);
}

#[test]
fn other_threads_may_wake_a_task_directly() {
    for runtime in runtimes() {
        let _wakes = runtime.handle().foreign_wakes();
        for _ in 0..200 {
            let flag = Arc::new(AtomicBool::new(false));
            let mut thread = None;
            runtime.block_on(std::future::poll_fn(|context| {
                if flag.load(Ordering::Acquire) {
                    return Poll::Ready(());
                }
                let (flag, waker) = (Arc::clone(&flag), context.waker().clone());
                thread.get_or_insert_with(|| {
                    thread::spawn(move || {
                        flag.store(true, Ordering::Release);
                        waker.wake();
                    })
                });
                Poll::Pending
            }));
            thread.unwrap().join().unwrap();
        }
    }
}
