//! Whatever happens in whatever order, leased memory is not freed, and what nobody needs is.

use std::collections::{HashMap, HashSet};
use std::sync::Weak;

use cuda_safe::StridedLayout;
use proptest::prelude::*;

use super::*;
use crate::wire::{DType, Source};

/// Is something that happens; numbers are taken modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    Publish { handle: u8, buffer_id: u64 },
    Claim { link: LinkId, export: usize },
    Release { link: LinkId, lease: u64 },
    Orphan(LinkId),
    Died(LinkId),
    Leak(LinkId),
    Revoke(usize),
    Abandon(usize),
    Take(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let link = 0..4_u64;
    let export = 0..8_usize;
    let step = prop_oneof![
        2 => (0..3_u8, 0..3_u64)
            .prop_map(|(handle, buffer_id)| Step::Publish { handle, buffer_id }),
        6 => (link.clone(), export.clone()).prop_map(|(link, export)| Step::Claim { link, export }),
        4 => (link.clone(), 1..20_u64).prop_map(|(link, lease)| Step::Release { link, lease }),
        1 => link.clone().prop_map(Step::Orphan),
        1 => link.clone().prop_map(Step::Died),
        1 => link.prop_map(Step::Leak),
        2 => export.clone().prop_map(Step::Revoke),
        2 => export.clone().prop_map(Step::Abandon),
        2 => export.prop_map(Step::Take),
    ];
    prop::collection::vec(step, 1..60)
}

const PROCESS: Identity = Identity { boot_id: [1; 16], pid_namespace: 2, pid: 3, start_time: 4 };

fn descriptor(number: usize, handle: u8, buffer_id: u64) -> Descriptor {
    let mut nonce = [0; 16];
    nonce[0] = u8::try_from(number).unwrap();
    let source = Source {
        exporter: PROCESS,
        device: DeviceUuid::new([5; 16]),
        buffer_id,
        nonce: Nonce::from_bytes(nonce),
        handle: MemoryHandle::Legacy([handle + 1; 64]),
        allocation_size: 8,
    };
    let layout = StridedLayout::from_byte_strides(&[8], &[1], 1).unwrap();
    Descriptor::new(source, DType::U8, layout).unwrap()
}

/// Is what should be true of an export.
struct Expected {
    descriptor: Descriptor,
    owner: Weak<()>,
    open: bool,
    kept: bool,
    taken: bool,
    leaked: bool,
    leases: HashSet<u64>,
}

impl Expected {
    fn is_needed(&self) -> bool {
        !self.taken && (self.open || self.kept || self.leaked || !self.leases.is_empty())
    }
}

#[derive(Default)]
struct Model {
    ledger: Ledger,
    exports: Vec<Expected>,
    links: HashMap<u64, LinkId>,
}

impl Model {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Publish { handle, buffer_id } => {
                let descriptor = descriptor(self.exports.len(), handle, buffer_id);
                let owner = Arc::new(());
                let weak = Arc::downgrade(&owner);
                let clash = self.exports.iter().any(|it| {
                    let source = it.descriptor.source();
                    let same = source.handle == descriptor.source().handle;
                    it.is_needed() && same && source.buffer_id != buffer_id
                });
                let published = self.ledger.publish(&descriptor, owner);
                assert_eq!(published.is_err(), clash);
                if !clash {
                    self.exports.push(Expected {
                        descriptor,
                        owner: weak,
                        open: true,
                        kept: true,
                        taken: false,
                        leaked: false,
                        leases: HashSet::new(),
                    });
                }
            }
            Step::Claim { link, export } => {
                let Some(expected) = pick(&mut self.exports, export) else { return };
                let bytes = expected.descriptor.encode();
                let claimed = self.ledger.claim(link, PROCESS, &bytes);
                assert_eq!(claimed.is_ok(), expected.open);
                if let Ok((lease, _)) = claimed {
                    expected.leases.insert(lease);
                    self.links.insert(lease, link);
                }
            }
            Step::Release { link, lease } => {
                let (had, needless) = self.ledger.release(link, lease);
                drop(needless);
                assert_eq!(had, self.links.get(&lease) == Some(&link));
                if had {
                    self.end(|number, _| number == lease);
                }
            }
            Step::Orphan(link) => self.ledger.orphan(link),
            Step::Died(link) => {
                drop(self.ledger.died(link));
                self.end(|_, its| its == link);
            }
            Step::Leak(link) => {
                self.ledger.leak(link);
                let links = &self.links;
                for expected in &mut self.exports {
                    expected.leaked |= expected.leases.iter().any(|it| links[it] == link);
                }
                self.end(|_, its| its == link);
            }
            Step::Revoke(export) => {
                let Some(expected) = pick(&mut self.exports, export) else { return };
                self.ledger.revoke(expected.descriptor.source().nonce);
                expected.open = false;
            }
            Step::Abandon(export) => {
                let Some(expected) = pick(&mut self.exports, export) else { return };
                // As dropping does it.
                let nonce = expected.descriptor.source().nonce;
                self.ledger.revoke(nonce);
                drop(self.ledger.abandon(nonce));
                (expected.open, expected.kept) = (false, false);
            }
            Step::Take(export) => {
                let Some(expected) = pick(&mut self.exports, export) else { return };
                let owner = self.ledger.take(expected.descriptor.source().nonce);
                let may = !expected.open && expected.leases.is_empty() && !expected.leaked;
                assert_eq!(owner.is_some(), may && expected.kept && !expected.taken);
                if owner.is_some() {
                    expected.taken = true;
                }
            }
        }
    }

    fn end(&mut self, ends: impl Fn(u64, LinkId) -> bool) {
        let ended: Vec<_> = self.links.iter().filter(|(it, link)| ends(**it, **link)).collect();
        let ended: Vec<u64> = ended.into_iter().map(|(lease, _)| *lease).collect();
        for lease in ended {
            self.links.remove(&lease);
            for expected in &mut self.exports {
                expected.leases.remove(&lease);
            }
        }
    }

    fn check(&self) {
        for expected in &self.exports {
            assert_eq!(expected.owner.strong_count() > 0, expected.is_needed());
            let leases = self.ledger.leases(expected.descriptor.source().nonce);
            assert_eq!(leases.len(), expected.leases.len());
        }
    }
}

fn pick(exports: &mut [Expected], at: usize) -> Option<&mut Expected> {
    let count = exports.len();
    exports.get_mut(at.checked_rem(count)?)
}

proptest! {
    #[test]
    fn leased_memory_is_not_freed_and_needless_memory_is(steps in steps()) {
        let mut model = Model::default();
        for step in &steps {
            model.step(step);
            model.check();
        }
    }
}
