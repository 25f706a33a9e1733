//! Modules, their functions and variables, and the libraries that modules are made from.

pub(crate) mod function;
pub(crate) mod library;

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_sys::CUresult;

use self::function::Function;
use self::library::{Library, LibraryKernel};
use crate::config::Feature;
use crate::driver::link::Link;
use crate::engine::address_space::Purpose;
use crate::engine::binary::{Image, Target, Variable, VariableSpace};
use crate::engine::execute;
use crate::engine::handle::{Handle, Kind, Table};
use crate::engine::managed::Attachment;
use crate::engine::mapping;
use crate::engine::registry::{Allocation, BufferId, MemoryKind};
use crate::engine::state::State;
use crate::report::Side;

/// Is an image that is loaded into a context.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) context: Handle,
    variables: BTreeMap<String, Loaded>,
    pub(crate) functions: BTreeMap<String, Handle>,
    /// The library that it is of.
    pub(crate) library: Option<Handle>,
    pub(crate) made_by: Side,
}

/// Is a variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loaded {
    memory: BufferId,
    pub(crate) address: u64,
    pub(crate) size: usize,
    pub(crate) space: VariableSpace,
}

/// Holds what is made of images.
#[derive(Debug)]
pub(crate) struct Modules {
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) libraries: Table<Library>,
    pub(crate) kernels: Table<LibraryKernel>,
    pub(crate) links: Table<Link>,
}

impl Default for Modules {
    fn default() -> Self {
        Self {
            modules: Table::new(Kind::Module),
            functions: Table::new(Kind::Function),
            libraries: Table::new(Kind::Library),
            kernels: Table::new(Kind::Kernel),
            links: Table::new(Kind::Link),
        }
    }
}

impl Modules {
    /// Returns a variable of a module.
    pub(crate) fn variable(&self, module: Handle, name: &str) -> Option<Loaded> {
        self.modules.get(module)?.variables.get(name).copied()
    }
}

impl State {
    /// Returns what images have to fit: the device of every process is an H200.
    pub(crate) fn target(&self) -> Target {
        Target { capability: 90, ptx: newest_ptx(self.config.version.number()) }
    }

    /// Loads an image into the current context.
    pub(crate) fn load_module(
        &mut self,
        call: &'static str,
        image: &Image,
        library: Option<Handle>,
    ) -> Result<Handle, CUresult> {
        let context = self.context()?.handle;
        let mut variables = BTreeMap::new();
        for variable in &image.variables {
            match self.place_variable(call, variable) {
                Ok(loaded) => drop(variables.insert(variable.name.clone(), loaded)),
                Err(error) => {
                    self.release_variables(&variables);
                    return Err(error);
                }
            }
        }
        for variable in &image.variables {
            if let Some(loaded) = variables.get(&variable.name) {
                self.initialise(variable, *loaded, &variables);
            }
        }
        let made_by = Side::new(call, "");
        let module = Module { context, variables, functions: BTreeMap::new(), library, made_by };
        let out_of_memory = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let handle = self.modules.modules.insert_with(|_| module).ok_or(out_of_memory)?;
        for entry in &image.entries {
            let function = Function::new(Arc::new(entry.clone()), handle, context);
            let function = self.modules.functions.insert_with(|_| function).ok_or(out_of_memory)?;
            if let Some(module) = self.modules.modules.get_mut(handle) {
                module.functions.insert(entry.name.clone(), function);
            }
        }
        Ok(handle)
    }

    /// Finds room for a variable.
    fn place_variable(
        &mut self,
        call: &'static str,
        variable: &Variable,
    ) -> Result<Loaded, CUresult> {
        let context = self.context()?;
        let (device, context) = (context.device, context.handle);
        let bytes = variable.size.max(1);
        let base = if variable.space == VariableSpace::Managed {
            if !self.has(device, Feature::ManagedMemory) {
                return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
            }
            let base = mapping::map_host(bytes).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
            base as u64
        } else {
            let (size, limit) = (bytes as u64, self.config.memory);
            self.space.allocate(device, Purpose::Variable, size, limit)?.0
        };
        let memory = self.registry.add(Allocation {
            id: 0,
            base,
            size: bytes as u64,
            kind: MemoryKind::Variable(variable.space),
            device,
            context,
            flags: 0,
            made_by: Side::new(call, ""),
            history: Vec::new(),
        });
        if variable.space == VariableSpace::Managed {
            self.managed.add(memory, Attachment::Global);
        }
        Ok(Loaded { memory, address: base, size: variable.size, space: variable.space })
    }

    /// Writes what a variable begins as. The addresses of variables that aren't there stay zero:
    /// they are functions' and texts', which nothing here follows.
    fn initialise(&self, variable: &Variable, loaded: Loaded, all: &BTreeMap<String, Loaded>) {
        let mut bytes = variable.bytes.clone();
        bytes.resize(variable.size.min(MOST_ZEROED).max(bytes.len()), 0);
        for address in &variable.addresses {
            let place = bytes.get_mut(address.offset..).and_then(|rest| rest.first_chunk_mut());
            if let (Some(place), Some(of)) = (place, all.get(&address.variable)) {
                *place = of.address.wrapping_add_signed(address.addend).to_le_bytes();
            }
        }
        if let Some(at) = self.space.in_this_process(loaded.address) {
            execute::kernel_writes(at..at + bytes.len(), &bytes);
        }
    }

    fn release_variables(&mut self, variables: &BTreeMap<String, Loaded>) {
        for loaded in variables.values() {
            self.release(loaded.memory);
        }
    }

    /// Takes a module away, of which no work is queued.
    pub(crate) fn unload_module(&mut self, handle: Handle, call: &'static str) {
        let Some(module) = self.modules.modules.remove(handle) else { return };
        for function in module.functions.values() {
            self.modules.functions.remove(*function);
        }
        for loaded in module.variables.values() {
            self.registry.retire(loaded.memory, Side::new(call, ""));
            self.release(loaded.memory);
        }
    }

    /// Takes away the modules of a context, whose memory goes with it.
    pub(crate) fn end_modules(&mut self, context: Handle) {
        self.modules.modules.remove_if(|module| module.context == context);
        self.modules.functions.remove_if(|function| function.context == context);
        for library in self.modules.libraries.values_mut() {
            library.modules.remove(&context);
        }
    }

    /// Returns a module that a call names; 400 if there is none (measured).
    pub(crate) fn module(&mut self, handle: Handle) -> Result<&Module, CUresult> {
        if let Some(ended) = self.modules.modules.ended(handle) {
            self.stale("hmod", "the module was unloaded", ended);
        }
        self.modules.modules.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Returns what of all this is still loaded.
    pub(crate) fn loaded(&self) -> Vec<(&Side, String)> {
        let modules = self.modules.modules.values();
        let own = modules.filter(|module| module.library.is_none());
        let own = own.map(|module| {
            let names: Vec<_> = module.functions.keys().map(String::as_str).collect();
            (&module.made_by, format!("a module of {}", list(&names)))
        });
        let libraries = self.modules.libraries.values();
        let libraries = libraries.map(|library| (&library.made_by, "a library".to_owned()));
        let links = self.modules.links.values();
        let links = links.map(|link| (&link.made_by, "a linker's state".to_owned()));
        own.chain(libraries).chain(links).collect()
    }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => "no kernels".to_owned(),
        [only] => format!("kernel {only}"),
        [first, rest @ ..] => format!("kernel {first} and {} more", rest.len()),
    }
}

/// So many bytes of a variable are zeroed by hand: fresh memory beyond is zero already, but for
/// addresses that were freed before.
const MOST_ZEROED: usize = 1 << 30;

/// Returns the newest version of PTX that a driver of a CUDA version reads, as 78 for 7.8. The minor
/// numbers went together but for those of CUDA 12.6 and later.
fn newest_ptx(cuda: u32) -> u32 {
    let (major, minor) = (cuda / 1000, cuda % 1000 / 10);
    match (major, minor) {
        (12, 6..) => 80 + minor.min(10) - 1,
        (11.., _) => (major - 4) * 10 + minor.min(9),
        _ => 65,
    }
}

#[cfg(test)]
mod tests {
    use super::newest_ptx;

    #[test]
    fn drivers_read_the_ptx_of_their_release() {
        for (cuda, ptx) in [
            (11080, 78),
            (12000, 80),
            (12050, 85),
            (12060, 85),
            (12080, 87),
            (12090, 88),
            (13000, 90),
        ] {
            assert_eq!(newest_ptx(cuda), ptx, "{cuda}");
        }
    }
}
