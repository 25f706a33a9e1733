//! The twins of what must not compile: they do, in one crate.

#![expect(clippy::allow_attributes, reason = "the toy serves several tests")]
#![allow(missing_docs, dead_code, unreachable_pub, reason = "annotations to compile, not to call")]

#[path = "toy/shim.rs"]
mod shim;

#[path = "ui/pass/a_body.rs"]
mod a_body;
#[path = "ui/pass/a_result.rs"]
mod a_result;
#[path = "ui/pass/address_as_value.rs"]
mod address_as_value;
#[path = "ui/pass/alignment_of_three.rs"]
mod alignment_of_three;
#[path = "ui/pass/args_but_safe.rs"]
mod args_but_safe;
#[path = "ui/pass/args_of_no_handle.rs"]
mod args_of_no_handle;
#[path = "ui/pass/args_without_order.rs"]
mod args_without_order;
#[path = "ui/pass/argument_to_value.rs"]
mod argument_to_value;
#[path = "ui/pass/attribute_without_value.rs"]
mod attribute_without_value;
#[path = "ui/pass/bare_device.rs"]
mod bare_device;
#[path = "ui/pass/callback_without_data.rs"]
mod callback_without_data;
#[path = "ui/pass/callback_without_fence.rs"]
mod callback_without_fence;
#[path = "ui/pass/changed_order.rs"]
mod changed_order;
#[path = "ui/pass/changed_type.rs"]
mod changed_type;
#[path = "ui/pass/data_of_no_callback.rs"]
mod data_of_no_callback;
#[path = "ui/pass/device_where_host.rs"]
mod device_where_host;
#[path = "ui/pass/division_in_extent.rs"]
mod division_in_extent;
#[path = "ui/pass/fence_without_stream.rs"]
mod fence_without_stream;
#[path = "ui/pass/forgotten_field.rs"]
mod forgotten_field;
#[path = "ui/pass/from_unknown_field.rs"]
mod from_unknown_field;
#[path = "ui/pass/from_unknown_operand.rs"]
mod from_unknown_operand;
#[path = "ui/pass/handles_as_values.rs"]
mod handles_as_values;
#[path = "ui/pass/home_of_no_handle.rs"]
mod home_of_no_handle;
#[path = "ui/pass/host_items_until_stream.rs"]
mod host_items_until_stream;
#[path = "ui/pass/host_where_device.rs"]
mod host_where_device;
#[path = "ui/pass/items_of_a_number.rs"]
mod items_of_a_number;
#[path = "ui/pass/items_of_nothing.rs"]
mod items_of_nothing;
#[path = "ui/pass/lengths_of_no_list.rs"]
mod lengths_of_no_list;
#[path = "ui/pass/missing_parameter.rs"]
mod missing_parameter;
#[path = "ui/pass/missing_role.rs"]
mod missing_role;
#[path = "ui/pass/needless_home.rs"]
mod needless_home;
#[path = "ui/pass/no_access.rs"]
mod no_access;
#[path = "ui/pass/no_extent.rs"]
mod no_extent;
#[path = "ui/pass/no_extent_in_pack.rs"]
mod no_extent_in_pack;
#[path = "ui/pass/no_home.rs"]
mod no_home;
#[path = "ui/pass/no_order.rs"]
mod no_order;
#[path = "ui/pass/no_safety_section.rs"]
mod no_safety_section;
#[path = "ui/pass/null_of_a_number.rs"]
mod null_of_a_number;
#[path = "ui/pass/opaque_but_safe.rs"]
mod opaque_but_safe;
#[path = "ui/pass/optional_record_through_mut.rs"]
mod optional_record_through_mut;
#[path = "ui/pass/order_of_nothing.rs"]
mod order_of_nothing;
#[path = "ui/pass/order_without_stream.rs"]
mod order_without_stream;
#[path = "ui/pass/out_items_through_const.rs"]
mod out_items_through_const;
#[path = "ui/pass/out_not_mut.rs"]
mod out_not_mut;
#[path = "ui/pass/pageable_until_stream.rs"]
mod pageable_until_stream;
#[path = "ui/pass/peer_of_shared_memory.rs"]
mod peer_of_shared_memory;
#[path = "ui/pass/peer_without_home.rs"]
mod peer_without_home;
#[path = "ui/pass/plane_without_depth.rs"]
mod plane_without_depth;
#[path = "ui/pass/pointer_as_value.rs"]
mod pointer_as_value;
#[path = "ui/pass/raw_but_safe.rs"]
mod raw_but_safe;
#[path = "ui/pass/record_read_of_const.rs"]
mod record_read_of_const;
#[path = "ui/pass/record_with_an_address.rs"]
mod record_with_an_address;
#[path = "ui/pass/record_without_pointer.rs"]
mod record_without_pointer;
#[path = "ui/pass/reserved_name.rs"]
mod reserved_name;
#[path = "ui/pass/rows_of_items.rs"]
mod rows_of_items;
#[path = "ui/pass/side_without_pitch.rs"]
mod side_without_pitch;
#[path = "ui/pass/stream_without_order.rs"]
mod stream_without_order;
#[path = "ui/pass/text_not_mut.rs"]
mod text_not_mut;
#[path = "ui/pass/two_accesses.rs"]
mod two_accesses;
#[path = "ui/pass/two_extents.rs"]
mod two_extents;
#[path = "ui/pass/two_roles.rs"]
mod two_roles;
#[path = "ui/pass/two_streams.rs"]
mod two_streams;
#[path = "ui/pass/type_parameters.rs"]
mod type_parameters;
#[path = "ui/pass/unknown_count.rs"]
mod unknown_count;
#[path = "ui/pass/unknown_field_of_items.rs"]
mod unknown_field_of_items;
#[path = "ui/pass/unknown_item.rs"]
mod unknown_item;
#[path = "ui/pass/unknown_key.rs"]
mod unknown_key;
#[path = "ui/pass/unknown_memory_word.rs"]
mod unknown_memory_word;
#[path = "ui/pass/unknown_name_in_extent.rs"]
mod unknown_name_in_extent;
#[path = "ui/pass/unknown_order.rs"]
mod unknown_order;
#[path = "ui/pass/unknown_role.rs"]
mod unknown_role;
#[path = "ui/pass/unknown_word_in_side.rs"]
mod unknown_word_in_side;
#[path = "ui/pass/unknown_word_of_record.rs"]
mod unknown_word_of_record;
#[path = "ui/pass/unknown_word_of_text.rs"]
mod unknown_word_of_text;
#[path = "ui/pass/unsafe_without_reason.rs"]
mod unsafe_without_reason;
#[path = "ui/pass/until_not_said.rs"]
mod until_not_said;
#[path = "ui/pass/until_of_device_memory.rs"]
mod until_of_device_memory;
#[path = "ui/pass/until_of_shared_memory.rs"]
mod until_of_shared_memory;
#[path = "ui/pass/until_outlives_order.rs"]
mod until_outlives_order;
#[path = "ui/pass/value_of_no_attribute.rs"]
mod value_of_no_attribute;
#[path = "ui/pass/value_of_no_parameter.rs"]
mod value_of_no_parameter;
#[path = "ui/pass/write_through_const.rs"]
mod write_through_const;
#[path = "ui/pass/write_to_shared.rs"]
mod write_to_shared;
