//! Copies between views: how they go, and what they refuse.

use cuda_safe::layout::{Index, Order, StridedLayout, s};
use cuda_safe::sys::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_DESC_v1_res_pitch2D, CUDA_TEXTURE_DESC, CUarray_format,
    CUdevice_attribute as Attribute, CUdeviceptr, CUresourcetype, CUresult,
};
use cuda_safe::{
    Device, DeviceBuffer, Element, External, PinnedBuffer, Plan, Quantity, Rule, Stream, View,
    ViewMut, call, copy,
};
use cuda_sim::{Config, is_on_device, isolated, on_every_scheduler};

use crate::common::{context, lazy};

fn dense<T>(shape: &[i64]) -> StridedLayout {
    StridedLayout::dense(shape, size_of::<T>() as i64, Order::C).unwrap()
}

/// Fails unless the copy takes as many calls as it should, as far as the log tells.
fn in_calls<R>(expected: usize, copying: impl FnOnce() -> R) -> R {
    let copies = || {
        let calls = cuda_sim::calls();
        calls.iter().filter(|call| call.function.starts_with("cuMemcpy")).count()
    };
    let before = copies();
    let answer = copying();
    if !is_on_device() {
        assert_eq!(copies() - before, expected);
    }
    answer
}

#[test]
fn row_38_one_row_as_a_whole_array_is_refused() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 40).unwrap();
        let row = View::of_slice(&[1_u8; 10], dense::<u8>(&[1, 10])).unwrap();
        let rows = row.broadcast_to(&[4, 10]).unwrap();
        let mut target = ViewMut::<u8>::new(&mut buffer, dense::<u8>(&[4, 10])).unwrap();
        let refused = in_calls(0, || copy(&rows, &mut target, &stream)).unwrap_err();
        assert_eq!((refused.rule(), refused.code()), (Some(Rule::Rows), None));
    });
}

/// Copies a part of an array from the device, and back to the same place of another one.
fn part_up_and_down<T: Element + PartialEq + Default + std::fmt::Debug>(
    values: &[T],
    shape: &[i64],
    index: &[Index],
    stream: &Stream,
) {
    let context = stream.context();
    let source = PinnedBuffer::from_slice(context, values).unwrap();
    let whole = dense::<T>(shape);
    let mut there = DeviceBuffer::<T>::allocate(context, values.len()).unwrap();
    copy(&source.view().unwrap(), &mut there.view_mut().unwrap(), stream).unwrap();
    let part = View::<T>::new(&there, whole.clone()).unwrap().slice(index).unwrap();
    let (mut home, layout) = PinnedBuffer::<T>::zeroed_like(context, &part, Order::C).unwrap();
    let mut target = ViewMut::<T>::new(&mut home, layout.clone()).unwrap();
    in_calls(1, || copy(&part, &mut target, stream)).unwrap();
    // By a loop on the CPU: the offsets are bytes of the dense array.
    let expected: Vec<T> = whole
        .slice(index)
        .unwrap()
        .offsets()
        .map(|offset| values[usize::try_from(offset).unwrap() / size_of::<T>()])
        .collect();
    assert_eq!(home.as_slice().unwrap(), expected);
    let mut again = DeviceBuffer::<T>::zeroed(stream, values.len()).unwrap();
    let place = ViewMut::<T>::new(&mut again, whole.clone()).unwrap();
    let mut place = place.slice(index).unwrap();
    in_calls(1, || copy(&View::<T>::new(&home, layout).unwrap(), &mut place, stream)).unwrap();
    let mut all = PinnedBuffer::<T>::zeroed(context, values.len()).unwrap();
    copy(&again.view().unwrap(), &mut all.view_mut().unwrap(), stream).unwrap();
    let inside: Vec<usize> = whole
        .slice(index)
        .unwrap()
        .offsets()
        .map(|offset| usize::try_from(offset).unwrap() / size_of::<T>())
        .collect();
    for (place, value) in all.as_slice().unwrap().iter().enumerate() {
        let expected = if inside.contains(&place) { values[place] } else { T::default() };
        assert_eq!(*value, expected, "at {place}");
    }
}

#[test]
fn row_39_planes_of_a_box_are_copied_whole() {
    on_every_scheduler!(lazy(), || {
        let (_context, stream) = context();
        let values: Vec<f64> = (0..120).map(f64::from).collect();
        for at in [1, 2] {
            let planes =
                [s![at, .., ..].to_vec(), s![.., at, ..].to_vec(), s![.., .., at].to_vec()];
            for plane in planes {
                part_up_and_down(&values, &[4, 5, 6], &plane, &stream);
            }
        }
    });
}

#[test]
fn row_40_a_dense_array_is_one_run() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<f32>::allocate(&context, 600_000).unwrap();
        let source = PinnedBuffer::<f32>::zeroed(&context, 600_000).unwrap();
        for shape in [&[200_000, 3][..], &[1, 200_000, 1, 3], &[200_000, 3, 1]] {
            let from = View::<f32>::new(&source, dense::<f32>(shape)).unwrap();
            let mut to = ViewMut::<f32>::new(&mut buffer, dense::<f32>(shape)).unwrap();
            let plan = in_calls(1, || copy(&from, &mut to, &stream)).unwrap();
            assert!(matches!(plan, Plan::Linear { bytes: 2_400_000, .. }), "{plan}");
        }
    });
}

#[test]
fn row_42_rows_with_padding_are_copied_in_one_call() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let values: Vec<u8> = (0..31 * 7).collect();
        let matrix = dense::<u8>(&[7, 31]);
        let mut first = DeviceBuffer::<u8>::allocate_pitched(&context, 31, 7).unwrap();
        let mut second = DeviceBuffer::<u8>::allocate_pitched(&context, 31, 7).unwrap();
        let source = View::of_slice(&values, matrix.clone()).unwrap();
        let up = in_calls(1, || copy(&source, &mut first.view_mut().unwrap(), &stream)).unwrap();
        assert!(matches!(up, Plan::Rows { width: 31, height: 7, src_pitch: 31, .. }), "{up}");
        let across = || copy(&first.view().unwrap(), &mut second.view_mut().unwrap(), &stream);
        in_calls(1, across).unwrap();
        let mut home = [0_u8; 31 * 7];
        let mut target = ViewMut::of_mut_slice(&mut home, matrix).unwrap();
        in_calls(1, || copy(&second.view().unwrap(), &mut target, &stream)).unwrap();
        assert_eq!(home, *values);
    });
}

#[test]
fn row_43_every_third_element_is_copied_alone() {
    on_every_scheduler!(lazy(), || {
        let (_context, stream) = context();
        let values: Vec<f32> = (0..1000_u16).map(f32::from).collect();
        part_up_and_down(&values, &[1000], &s![..;3], &stream);
    });
}

#[test]
fn row_44_padding_is_not_copied() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut image = DeviceBuffer::<u8>::allocate_pitched(&context, 3 * 3, 5).unwrap();
        assert!(image.pitch() > 9);
        image.fill(0xff, &stream).unwrap();
        let pixels: Vec<u8> = (0..45).collect();
        let layout = dense::<u8>(&[5, 9]);
        let source = View::of_slice(&pixels, layout.clone()).unwrap();
        copy(&source, &mut image.view_mut().unwrap(), &stream).unwrap();
        let mut home = [0_u8; 45];
        let mut target = ViewMut::of_mut_slice(&mut home, layout).unwrap();
        copy(&image.view().unwrap(), &mut target, &stream).unwrap();
        assert_eq!(home, *pixels);
    });
}

#[test]
fn row_45_an_image_keeps_its_strides() {
    isolated!(lazy(), || {
        let (context, _stream) = context();
        let image = DeviceBuffer::<u8>::allocate_pitched(&context, 768 * 3, 576).unwrap();
        let pitch = i64::try_from(image.pitch()).unwrap();
        let layout = StridedLayout::from_byte_strides(&[576, 768, 3], &[pitch, 3, 1], 1).unwrap();
        // SAFETY: the address is used as long as the buffer.
        let address = unsafe { image.as_device_ptr() };
        in_calls(0, || {
            // SAFETY: the buffer outlives it.
            let taken = unsafe { External::of_array(&context, address, &layout, ()) }.unwrap();
            let (external, layout) = taken;
            let view = View::<u8>::new(&external, layout).unwrap();
            assert_eq!(view.layout().byte_strides(), [pitch, 3, 1]);
            assert_eq!(external.allocation().id(), image.allocation().id());
            let part = view.slice(&s![100..400, 50..350, ..]).unwrap();
            assert_eq!(part.layout().byte_strides(), [pitch, 3, 1]);
            assert_eq!(part.layout().byte_offset(), 100 * pitch + 150);
            // Back to whoever takes a pointer and strides.
            let whole = view.layout();
            assert_eq!((whole.shape(), whole.byte_offset()), (&[576, 768, 3][..], 0));
        });
    });
}

#[test]
fn row_46_a_pitch_that_no_texture_can_have_is_refused() {
    isolated!(Config::new(), || {
        let (context, _stream) = context();
        let needed = Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT;
        let needed = usize::try_from(context.device().attribute(needed).unwrap()).unwrap();
        let image = DeviceBuffer::<u8>::allocate(&context, 64 * needed).unwrap();
        let mut resource = CUDA_RESOURCE_DESC::zeroed();
        resource.resType = CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
        let mut make = |pitch| {
            resource.res.pitch2D = CUDA_RESOURCE_DESC_v1_res_pitch2D {
                // SAFETY: the buffer outlives the object.
                devPtr: unsafe { image.as_device_ptr() },
                format: CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
                numChannels: 1,
                width: 5,
                height: 4,
                pitchInBytes: pitch,
            };
            let texture = CUDA_TEXTURE_DESC::zeroed();
            // SAFETY: the rows lie in the buffer.
            unsafe { call::tex_object_create(&context, &raw const resource, &texture, None) }
        };
        // Dense rows of 5 bytes.
        let refused = make(5).unwrap_err();
        assert_eq!(refused.call, "cuTexObjectCreate");
        assert_eq!(refused.code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
        let object = make(needed).unwrap();
        // SAFETY: it was just made, and no kernel uses it.
        unsafe { call::tex_object_destroy(&context, object) }.unwrap();
    });
}

#[test]
fn row_47_a_pitch_beyond_the_device_is_refused() {
    let config = lazy();
    let config = if is_on_device() { config } else { config.memory(8 << 30).reservation(16 << 30) };
    isolated!(config, || {
        let (context, stream) = context();
        let most = Device::get(0).unwrap().max_pitch().unwrap().unwrap();
        let (most, len) = (u64::from(most), usize::try_from(most).unwrap() + 9);
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, len).unwrap();
        let pitch = i64::try_from(most).unwrap() + 1;
        let layout = StridedLayout::from_byte_strides(&[2, 8], &[pitch, 1], 1).unwrap();
        let mut target = ViewMut::<u8>::new(&mut buffer, layout).unwrap();
        let source = PinnedBuffer::<u8>::zeroed(&context, 16).unwrap();
        let source = View::<u8>::new(&source, dense::<u8>(&[2, 8])).unwrap();
        let refused = in_calls(0, || copy(&source, &mut target, &stream)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("copy: `dst` breaks Able: needs {most}, has {pitch}")
        );
    });
}

#[test]
fn row_48_a_part_is_not_copied_onto_itself() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        // SAFETY: the address is used as long as the buffer.
        let address = unsafe { buffer.as_device_ptr() };
        // SAFETY: the buffer outlives it.
        let alias = unsafe { External::new(&context, CUdeviceptr(address.0 + 1), 63, ()) }.unwrap();
        let shifted = View::<u8>::new(&alias, dense::<u8>(&[32])).unwrap();
        let mut target = ViewMut::<u8>::new(&mut buffer, dense::<u8>(&[64])).unwrap();
        let mut low = target.reborrow().slice(&s![..32]).unwrap();
        let refused = in_calls(0, || copy(&shifted, &mut low, &stream)).unwrap_err();
        let have = Quantity::BytesOf("dst");
        assert_eq!(refused.rule(), Some(Rule::Disjoint), "{refused}, not {have}");
        // Halves are apart.
        let mut high = target.slice(&s![33..]).unwrap().slice(&s![..31]).unwrap();
        let low = View::<u8>::new(&alias, dense::<u8>(&[31])).unwrap();
        in_calls(1, || copy(&low, &mut high, &stream)).unwrap();
        // Else a thread would wait to drop the owner, and hold the context meanwhile.
        stream.synchronize().unwrap();
    });
}

#[test]
fn row_54_a_copy_says_how_it_goes() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        for width in [1024, 1023] {
            let image = DeviceBuffer::<u8>::allocate_pitched(&context, width, 100).unwrap();
            let columns = i64::try_from(width).unwrap();
            let pitched = StridedLayout::from_byte_strides(
                &[100, columns],
                &[i64::try_from(image.pitch()).unwrap() + 512, 1],
                1,
            );
            let target = dense::<u8>(&[100, columns]);
            let planned = Plan::new(&pitched.unwrap(), &target).unwrap();
            assert!(planned.to_string().starts_with(&format!("100 rows of {width} bytes")));
            let mut home = PinnedBuffer::<u8>::zeroed(&context, 100 * width).unwrap();
            let source = View::<u8>::new(&image, image.view().unwrap().layout().clone()).unwrap();
            let mut home = ViewMut::<u8>::new(&mut home, target).unwrap();
            in_calls(1, || copy(&source, &mut home, &stream)).unwrap();
        }
    });
}
