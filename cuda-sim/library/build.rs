//! Gives the library the driver's name, under which a loader knows what it has loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // A program may close the driver; the report at its end is still to be written then.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
