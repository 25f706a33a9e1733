use crate::common::busy::{Busy, time};
use crate::common::*;
use crate::table;

#[test]
fn destroyed_while_busy() {
    table!("handles of destroyed things", |rows| {
        start();
        let busy = Busy::load();
        let (old, behind) = (stream(1), event());
        let mut id = 0;
        ok!(cuStreamGetId(old, &mut id));
        busy.stream(old, 300);
        ok!(cuEventRecord(behind, old));
        let took = time(|| ok!(cuStreamDestroy_v2(old)));
        rows.is("cuStreamDestroy behind work: at once", took.as_millis() < 100, true);
        rows.is("its event", code!(cuEventQuery(behind)), 600);
        let new = stream(1);
        rows.differs(
            "the next stream has the same value",
            new == old,
            true,
            false,
            "a handle that was destroyed is never another's, so that its use is found",
        );
        let mut new_id = 0;
        ok!(cuStreamGetId(new, &mut new_id));
        rows.is("cuStreamGetId differs", new_id != id, true);
        rows.is("the event fires", code!(cuEventSynchronize(behind)), 0);
        busy.stream(new, 100);
        ok!(cuEventRecord(behind, new));
        let took = time(|| ok!(cuEventDestroy_v2(behind)));
        rows.is("cuEventDestroy while pending: at once", took.as_millis() < 50, true);
        ok!(cuStreamSynchronize(new));
        ok!(cuStreamDestroy_v2(new));
        end();
    });
}

#[test]
fn unloaded_functions() {
    table!("function of an unloaded module", |rows| {
        start();
        let source = ".version 7.0\n.target sm_70\n.address_size 64\n\
                      .visible .entry empty()\n{\n    ret;\n}\n\0";
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        ok!(cuModuleLoadData(&mut module, source.as_ptr().cast()));
        ok!(cuModuleGetFunction(&mut function, module, c"empty".as_ptr()));
        ok!(cuModuleUnload(module));
        let none = std::ptr::null_mut();
        let answer = code!(cuLaunchKernel(
            function,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            LEGACY,
            none,
            std::ptr::null_mut()
        ));
        rows.is("launch", answer, 400);
        end();
    });
}
