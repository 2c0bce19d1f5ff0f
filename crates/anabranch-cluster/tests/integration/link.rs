//! A network link that can be cut: a network namespace, joined to this machine by a pair of interfaces.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::Role;

pub struct Link {
    name: String,
    /// The third number of its addresses.
    number: u32,
}

impl Link {
    /// Makes a link. `None` if this needs more rights than the tests have.
    pub fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = (std::process::id() * 8 + NEXT.fetch_add(1, Ordering::Relaxed)) % 250;
        let link = Self { name: format!("abr{}n{number}", std::process::id()), number };
        let (name, here, there) = (&link.name, link.address(), link.other());
        let steps = [
            format!("netns add {name}"),
            format!("link add {name} type veth peer name inside netns {name}"),
            format!("addr add {here}/30 dev {name}"),
            format!("link set {name} up"),
            format!("netns exec {name} ip addr add {there}/30 dev inside"),
            format!("netns exec {name} ip link set inside up"),
        ];
        steps.iter().all(|step| ip(step)).then_some(link)
    }

    /// The address of this machine on the link.
    pub fn address(&self) -> String {
        format!("10.213.{}.1", self.number)
    }

    fn other(&self) -> String {
        format!("10.213.{}.2", self.number)
    }

    /// Lets a process run at the other side.
    pub fn inside(&self, role: Role) -> Role {
        role.behind(&["ip", "netns", "exec", &self.name])
    }

    /// Lets the link carry at most so many bytes a second, behind a queue for all connections that is as long as 400 ms. Returns
    /// whether this system can do so.
    pub fn slow(&self, rate: u64) -> bool {
        let name = &self.name;
        let queue = format!("root tbf rate {rate}bps burst 32kb latency 400ms");
        run("tc", &format!("qdisc add dev {name} {queue}"))
            && ip(&format!("netns exec {name} tc qdisc add dev inside {queue}"))
    }

    /// How many bytes have passed in both directions.
    pub fn bytes(&self) -> u64 {
        let count = |way: &str| {
            let path = format!("/sys/class/net/{}/statistics/{way}_bytes", self.name);
            std::fs::read_to_string(path).unwrap().trim().parse::<u64>().unwrap()
        };
        count("rx") + count("tx")
    }

    pub fn cut(&self) {
        assert!(ip(&format!("link set {} down", self.name)));
    }

    pub fn mend(&self) {
        assert!(ip(&format!("link set {} up", self.name)));
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        ip(&format!("link del {}", self.name));
        ip(&format!("netns del {}", self.name));
    }
}

fn ip(arguments: &str) -> bool {
    run("ip", arguments)
}

fn run(program: &str, arguments: &str) -> bool {
    let mut command = Command::new(program);
    command.args(arguments.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
