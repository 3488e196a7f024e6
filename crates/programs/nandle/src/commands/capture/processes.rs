//! Attributes tasks to processes.

use std::collections::HashMap;
use std::fs;

use nandle_trace::ftrace::Task;

use super::args::Chosen;

/// Parent of all kernel threads, `kthreadd`.
const KERNEL: u32 = 2;

/// Owner of a request. If several tasks share a request, the greatest owner counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    /// This program.
    Own,
    /// A program that wasn't chosen.
    Other,
    /// The kernel on behalf of any program: write-back, journal.
    Kernel,
    /// A chosen process or one of its descendants.
    Chosen,
}

/// Tasks of the chosen processes. Events from the kernel add later ones.
#[derive(Debug)]
pub(super) struct Processes {
    everybody: bool,
    own: u32,
    known: HashMap<u32, Whose>,
}

impl Processes {
    /// The process of a command is [added](Self::add) once it runs.
    pub(super) fn new(chosen: Chosen) -> Self {
        let mut processes =
            Self { everybody: chosen == Chosen::Everybody, own: std::process::id(), known: HashMap::new() };
        if let Chosen::Process(id) = chosen {
            processes.add_tree(id);
        }
        processes
    }

    /// Adds a process without descendants.
    pub(super) fn add(&mut self, process: u32) {
        self.known.insert(process, Whose::Chosen);
    }

    /// Adds a process with its threads and living descendants.
    fn add_tree(&mut self, root: u32) {
        let all: Vec<Status> = numbers("/proc").filter_map(Status::of).collect();
        let mut below = vec![root];
        while let Some(process) = below.pop() {
            self.add(process);
            numbers(&format!("/proc/{process}/task")).for_each(|thread| self.add(thread));
            let children = all.iter().filter(|status| status.parent == process).map(|status| status.process);
            below.extend(children.filter(|child| !self.known.contains_key(child)));
        }
    }

    /// Records that a task created another.
    pub(super) fn fork(&mut self, parent: u32, child: u32) {
        if self.known.get(&parent) == Some(&Whose::Chosen) {
            self.add(child);
        } else if parent != self.own {
            // Task ids are reused. This program's only child is the command, which was added.
            self.known.remove(&child);
        }
    }

    /// Forgets tasks of other programs after events were lost: a chosen process may have started
    /// them.
    pub(super) fn forget_others(&mut self) {
        self.known.retain(|_, whose| *whose == Whose::Chosen);
    }

    /// Owner of a task.
    pub(super) fn whose(&mut self, task: Task) -> Whose {
        if task.id == self.own {
            return Whose::Own;
        }
        if self.everybody {
            return Whose::Chosen;
        }
        if let Some(whose) = self.known.get(&task.id) {
            return *whose;
        }
        let whose = self.look(task);
        self.known.insert(task.id, whose);
        whose
    }

    /// Looks up a task that no event has reported. If it has ended, only its name is left.
    fn look(&self, task: Task) -> Whose {
        let is_chosen = |process: u32| self.known.get(&process) == Some(&Whose::Chosen);
        // Idle processor: a completion issued a waiting request.
        if task.id == 0 {
            return Whose::Kernel;
        }
        match Status::of(task.id) {
            // Threads of io_uring appear without an event, and a fork event may be lost.
            Some(status) if is_chosen(status.process) || is_chosen(status.parent) => Whose::Chosen,
            Some(status) if status.parent == KERNEL || status.process == KERNEL => Whose::Kernel,
            Some(_) => Whose::Other,
            None => match task.name.split_once("iou-wrk-").map(|(_, owner)| owner.parse()) {
                Some(Ok(owner)) if is_chosen(owner) => Whose::Chosen,
                _ if ["kworker/", "jbd2/"].iter().any(|name| task.name.starts_with(name)) => Whose::Kernel,
                _ => Whose::Other,
            },
        }
    }
}

/// Status of a task (`proc_pid_status(5)`).
#[derive(Debug, PartialEq, Eq)]
struct Status {
    /// Process that the thread belongs to.
    process: u32,
    parent: u32,
}

impl Status {
    fn of(task: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{task}/status")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        Some(Self { process: number("Tgid:")?, parent: number("PPid:")? })
    }
}

/// Numeric entries of a directory.
fn numbers(directory: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Larger than any process id of Linux.
    const GONE: u32 = 1 << 30;

    fn task(id: u32, name: &str) -> Task<'_> {
        Task { id, name }
    }

    #[test]
    fn what_a_chosen_process_starts_is_chosen() {
        let mut processes = Processes::new(Chosen::Command);
        processes.add(GONE);
        processes.fork(std::process::id(), GONE);
        processes.fork(GONE, GONE + 1);
        processes.fork(GONE + 1, GONE + 2);
        assert_eq!(processes.whose(task(GONE + 2, "a")), Whose::Chosen);
        processes.fork(GONE + 7, GONE + 2);
        assert_eq!(processes.whose(task(GONE + 2, "b")), Whose::Other, "the number was given again");
    }

    #[test]
    fn threads_of_the_kernel_are_told_by_name_when_they_are_gone() {
        let mut processes = Processes::new(Chosen::Command);
        processes.add(GONE);
        assert_eq!(processes.whose(task(0, "<idle>")), Whose::Kernel);
        assert_eq!(processes.whose(task(GONE + 1, "kworker/1:1H")), Whose::Kernel);
        let worker = format!("iou-wrk-{GONE}");
        assert_eq!(processes.whose(task(GONE + 2, &worker)), Whose::Chosen);
        assert_eq!(processes.whose(task(GONE + 3, "iou-wrk-1")), Whose::Other);
        assert_eq!(processes.whose(task(std::process::id(), "nandle")), Whose::Own);
    }

    #[test]
    fn a_process_is_chosen_with_its_threads_and_children() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut processes = Processes::new(Chosen::Process(std::process::id()));
        assert_eq!(processes.whose(task(child.id(), "sleep")), Whose::Chosen);
        let parent = std::os::unix::process::parent_id();
        assert_ne!(processes.whose(task(parent, "sh")), Whose::Chosen);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_status_is_read() {
        let text = "Name:\tpostgres\nUmask:\t0077\nTgid:\t812\nNgid:\t0\nPid:\t815\nPPid:\t1\n";
        assert_eq!(Status::parse(text), Some(Status { process: 812, parent: 1 }));
        assert_eq!(Status::parse("Name:\tx\n"), None);
    }

    #[test]
    fn everybody_is_chosen_but_this_program() {
        let mut processes = Processes::new(Chosen::Everybody);
        assert_eq!(processes.whose(task(GONE, "any")), Whose::Chosen);
        assert_eq!(processes.whose(task(std::process::id(), "nandle")), Whose::Own);
    }
}
