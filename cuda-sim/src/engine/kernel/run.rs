//! Runs a kernel that has come to its turn.

use cuda_sys::CUresult;

use super::{Kernel, operand, race::Late};
use crate::engine::access::AccessBox;
use crate::engine::state::State;
use crate::engine::work::{Item, ItemId, Touch};
use crate::kernel::{self, Launch};
use crate::report::{Finding, FindingKind, Side};

/// Runs a kernel; a wrong access, an error or a panic of its body stays.
pub(crate) fn run(state: &mut State, id: ItemId, item: &Item, kernel: &Kernel) {
    let known = state.kernels.remove(&id);
    let stream = state.lanes.get(item.lane).map(|lane| lane.label.clone());
    let side = |operand| Side {
        stream: stream.clone(),
        site: item.site.clone(),
        ..Side::new(item.call, operand)
    };
    let mut launch = Launch::new(state, kernel);
    let outcome = kernel::run(&kernel.body, &mut launch);
    let (trace, fault) = launch.finish();
    let name = kernel.arguments.name();
    let failure = match (fault, outcome) {
        (Some(fault), _) | (None, Ok(Err(fault))) => {
            let kind = match fault.code() {
                CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => FindingKind::IllegalAddress,
                CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => FindingKind::MisalignedAddress,
                _ => FindingKind::KernelFailed,
            };
            let text = fault.to_string();
            let named = text.contains(name);
            let subject = if named { text } else { format!("kernel {name}: {text}") };
            Some((kind, fault.code(), subject))
        }
        (None, Err(text)) => {
            let subject = format!("kernel {name}: {text}");
            Some((FindingKind::Panic, CUresult::CUDA_ERROR_LAUNCH_FAILED, subject))
        }
        (None, Ok(Ok(()))) => None,
    };
    let declares = kernel.body.declares();
    let declared = kernel.touches.iter().flat_map(|touch| {
        let parts = state.parts(touch.memory, &touch.area).into_iter();
        parts.map(|(memory, area)| (memory, touch.kind, area))
    });
    let declared: Vec<_> = declared.collect();
    let trace = if declares { trace.without(&declared) } else { trace };
    for (memory, kind, area) in trace.boxes() {
        let parameter = operand(&kernel.arguments, kernel.arguments.parameter_of(area.base));
        let touch = Touch { memory, kind, area, operand: parameter };
        if declares {
            undeclared(state, &touch, side(parameter));
        }
        let known = known.as_ref();
        state.note_late(&Late { id, item, known, side: side(parameter) }, &touch);
    }
    if let Some((kind, code, subject)) = failure {
        let operand = operand(&kernel.arguments, None);
        state.findings.add(Finding { kind, earlier: None, later: side(operand), subject });
        state.strike(code);
    }
}

fn undeclared(state: &mut State, touch: &Touch, side: Side) {
    let area: AccessBox = touch.area;
    state.findings.add(Finding {
        kind: FindingKind::UndeclaredAccess,
        earlier: None,
        later: Side { access: Some((touch.kind, area)), ..side },
        subject: "its registration does not declare this".to_owned(),
    });
}
